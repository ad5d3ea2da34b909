"""Whole papers: `read_full_texts` gives those of a file or folder, each with its record and its blocks.

`jats` walks the XML, `tables` reads the rows of tables, and `article` the record and the blocks.
"""

from counterpoint.indexes.readers.full_text.reading import read_full_texts

__all__ = ["read_full_texts"]
