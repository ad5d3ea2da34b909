"""The part of a Markdown page that a measurement writes: what is between two markers is replaced as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from retrieval.core.errors import BadInput
from retrieval.store.manifest import write_atomically


@dataclass(frozen=True, slots=True)
class Markers:
    """The lines before and after what is written."""

    begin: str
    end: str

    def split_page(self, path: Path) -> tuple[str, str]:
        """The text of a page before and after the markers; raises `BadInput` if it has none."""
        try:
            whole = path.read_text("utf-8")
        except OSError as error:
            raise BadInput(
                f"The table cannot be written to {path} ({error.strerror}); name a Markdown file that is there."
            ) from error
        head, begin, rest = whole.partition(self.begin)
        _, end, tail = rest.partition(self.end)
        if not (begin and end):
            raise BadInput(f"{path} lacks the lines {self.begin} and {self.end}, between which the table is written; add them.")
        return head, tail

    def replace(self, path: Path, text: str) -> None:
        """Replace the text between the markers of a page; raises `BadInput` if it has none."""
        head, tail = self.split_page(path)
        write_atomically(path, f"{head}{self.begin}\n\n{text}\n\n{self.end}{tail}")
