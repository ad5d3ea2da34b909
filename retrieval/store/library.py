"""What makes an index a library: `library.json` beside its manifest or, for an index on a cluster, alone in its folder.

Its id keys all that is kept about the library, so that renaming, moving, updating and building again change nothing.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from counterpoint.retrieval.core.errors import BadInput, IndexUnusable, translate_write_errors
from counterpoint.retrieval.store.manifest import write_atomically

NAME = "library.json"
MOST_NAME, MOST_DESCRIPTION = 100, 1000
"""Characters."""


@dataclass(frozen=True, slots=True)
class LibraryFile:
    """The content of the file: `name` is empty if the library is called as its folder, `address` is that of an index on a
    cluster, `keys` names the holders of the API keys that may see the library; if it is empty, all may."""

    id: str
    name: str = ""
    description: str = ""
    address: str = ""
    keys: tuple[str, ...] = ()

    def write(self, folder: Path) -> None:
        """Write the whole file, or leave the old one in place."""
        with translate_write_errors("the library's name", folder):
            write_atomically(folder / NAME, f"{json.dumps(asdict(self), indent=2, ensure_ascii=False)}\n")


def make_id() -> str:
    """Make a new id."""
    return secrets.token_hex(6)


def is_id(text: str) -> bool:
    """Whether this looks like one."""
    return bool(re.fullmatch("[0-9a-f]{12}", text))


def read_library_file(folder: Path) -> LibraryFile | None:
    """Read the file in `folder`; None if there is none. Raises `IndexUnusable` for one that cannot be used."""
    path = folder / NAME
    try:
        return parse_library(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise IndexUnusable(f"{path} cannot be read ({error.strerror}); check its permissions.") from error
    except (ValueError, KeyError, TypeError, RecursionError):
        raise IndexUnusable(f"{path} cannot be read; restore it, or delete it to make the folder a new library.") from None


def parse_library(text: str) -> LibraryFile:
    """The content of the file; raises one of the builtin errors where that is not what `write` wrote."""
    data = json.loads(text)
    values = {field.name: data[field.name] for field in fields(LibraryFile) if field.name in data}
    keys = values.pop("keys", [])
    if not values["id"] or not all(isinstance(one, str) for one in (*values.values(), *keys)) or isinstance(keys, str):
        raise ValueError
    return LibraryFile(**values, keys=tuple(keys))


def write_new_file(folder: Path) -> None:
    """Give a new index an id of its own; one that has a library's file keeps it."""
    if not (folder / NAME).exists():
        LibraryFile(make_id()).write(folder)


def check_name(name: str) -> str:
    """Return a library's name without white space at its ends; raises `BadInput` for what is not a name."""
    name = name.strip()
    if not 0 < len(name) <= MOST_NAME or not name.isprintable() or {*"/\\"} & {*name}:
        raise BadInput(
            f"A library's name has 1 to {MOST_NAME} characters and no slash, backslash or control character; choose another."
        )
    return name
