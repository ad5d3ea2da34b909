"""Reading the CSV files of labelled claims and questions."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from counterpoint.retrieval.core.errors import BadInput, BadRecord


def read_columns(path: Path, required: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row of a UTF-8 CSV whose header names these columns, with the line that it begins on; blank lines are skipped.

    Raises `BadInput` for a file that cannot be used and `BadRecord` for an invalid row.
    """
    wanted = ", ".join(required)
    try:
        raw = path.read_bytes()
        reader = csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True)
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); name a CSV with the columns {wanted}.") from None
    except UnicodeDecodeError as error:
        line, byte = raw.count(b"\n", 0, error.start) + 1, raw[error.start]
        raise BadRecord(path, f"line {line}", f"expected UTF-8, got the byte 0x{byte:02x}; save the file as UTF-8.") from None
    names: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            break
        except csv.Error as error:
            raise BadRecord(path, f"line {line}", f"expected a row of a CSV, got one that cannot be read ({error}).") from None
        if not any(cells):
            continue
        if names and len(cells) != len(names):
            hint = f"expected {len(names)} columns as in the header, got {len(cells)}; quote fields that contain a comma."
            raise BadRecord(path, f"line {line}", hint)
        if names:
            yield line, dict(zip(names, cells, strict=True))
            continue
        names = cells
        for name in required:
            if names.count(name) != 1:
                hint = f"expected a header with the column {name}, once, got {', '.join(names)}."
                raise BadRecord(path, f"line {line}", hint)
    if not names:
        raise BadInput(f"{path} is empty; expected a CSV whose header names {wanted}.")
