"""Whole papers: `read_full_texts` gives those of a file or folder, each with its record and its blocks.

`jats` walks the XML, `front` reads the record, `tables` the rows of tables, and `article` puts them together.
"""

from counterpoint.indexes.readers.full_text.reading import read_full_texts

__all__ = ["read_full_texts"]
