"""The track's files: JSON records, how errors describe anything else, and the faults that both tasks' runs may have."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from counterpoint.retrieval.core.characters import replace_surrogates
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.retrieval.index import Documents
from counterpoint.retrieval.store.corpus import Corpus

_MOST_DIGITS = 400
"""Python reads longer numbers slowly, and not at all beyond 4,300 digits."""


def read_json_or_lines(path: Path) -> list[Any]:
    """Read the records of a file that is one JSON list or one JSON object per line; the track uses both.

    Raises `BadInput` for a file that cannot be read as either.
    """
    try:
        # A byte order mark, which Windows writes, is no part of the text.
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); give the path of an existing file.") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text; expected a JSON file.") from None
    if not text.strip():
        raise BadInput(f"{path} is empty; expected a JSON file.")
    load = partial(json.loads, parse_int=partial(_read_whole_number, path))
    try:
        data = load(text)
        return data if isinstance(data, list) else [data]
    except json.JSONDecodeError as error:
        list_error = error
    except RecursionError:
        raise _nested_too_deeply(path) from None
    records = []
    # Not splitlines(): a text may contain a Unicode line separator.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records.append(load(line))
            except RecursionError:
                raise _nested_too_deeply(f"{path}, line {number}") from None
            except json.JSONDecodeError:
                # For a list that breaks off, report the fault of the list and not that of its first line.
                where = f"line {list_error.lineno}: {list_error.msg}" if text.lstrip()[0] == "[" else f"line {number} is not JSON"
                raise BadInput(f"{path}, {where}; expected one JSON list or one JSON object per line.") from None
    return records


def _read_whole_number(path: Path, digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise BadInput(f"{path} contains the number {digits[:9]}… of {len(digits):,} digits; expected ids, which are shorter.")
    return int(digits)


def _nested_too_deeply(place: Path | str) -> BadInput:
    return BadInput(f"{place} is nested too deeply to be read; expected a JSON file of records.")


def write_line(record: Any) -> str:
    """A record as one line of JSON; a lone surrogate, which JSON can encode and UTF-8 cannot, is escaped as it came."""
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def kind(value: Any) -> str:
    """Name the kind of a JSON value, in words."""
    if value is None:
        return "nothing"
    return {dict: "an object", list: "a list", str: "a text", bool: "true or false"}.get(type(value), f"{value!r}")


def keys(record: dict[str, Any]) -> str:
    """List the keys of an object, in words."""
    return ", ".join(record) or "no keys"


def refuse_unknown(path: Path, place: str, record: Any, names: Sequence[str]) -> None:
    """Raise `BadRecord` for what is no object or has a key that is not one of `names`: a misspelt key would count as left out."""
    if not isinstance(record, dict):
        raise BadRecord(path, place, f"expected an object, not {kind(record)}")
    for key in record:
        if key not in names:
            raise BadRecord(path, place, f"the key {key!r} is unknown; expected {', '.join(names)}; correct it or leave it out")


def is_id(value: Any) -> bool:
    """Whether a value can be an id: a text or a number."""
    return isinstance(value, int | str) and not isinstance(value, bool) and bool(str(value).strip())


def is_whole(text: str) -> bool:
    """Whether a text has no lone surrogate (retrieval.core.characters)."""
    return replace_surrogates(text) == text


def read_id(path: Path, place: str, name: str, value: Any) -> str:
    """An id, which is a text or a whole number; raises `BadRecord` for anything else."""
    if not is_id(value):
        raise BadRecord(path, place, f"{name} should be a text or number, not {kind(value)}")
    if not is_whole(str(value)):
        raise BadRecord(path, place, f"{name} {value!r} contains half of a character, which no file can hold; correct it")
    return str(value).strip()


def read_words(path: Path, place: str, name: str, value: Any) -> str:
    """A text; raises `BadRecord` for anything else."""
    if not isinstance(value, str):
        raise BadRecord(path, place, f"{name} should be a text, not {kind(value)}")
    return value


def refuse_repeats(path: Path, noun: str, name: str, ids: Iterable[str]) -> None:
    """Raise `BadRecord` for the first record, called a `noun`, whose id an earlier one has too; `name` is the id's key."""
    known_ids: set[str] = set()
    for number, id in enumerate(ids, 1):
        if id in known_ids:
            raise BadRecord(path, f"{noun} {number}", f"{name} {id!r} is repeated; every {noun} needs its own id")
        known_ids.add(id)


def is_id_list(value: Any) -> bool:
    """Whether a value is a list of PMIDs, as texts or numbers."""
    return isinstance(value, list) and all(isinstance(one, int | str) and not isinstance(one, bool) for one in value)


def track_id(pmid: str) -> int | str:
    """A PMID as a number, the way the track writes it; ids of other corpora are unchanged."""
    return int(pmid) if pmid.isascii() and pmid.isdigit() else pmid


MAX_CITATIONS = 3


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of a task's records: what a record is called, the key of its id in the metadata, the key beside the metadata, and
    the ids that the track gave each year's records."""

    noun: str
    id: str
    body: str
    years: Mapping[int, range]


def check_year(path: Path, shape: Shape, ids: Sequence[str], year: int) -> None:
    """Raise `BadInput` if the input at `path`, with these ids, is not that of the track's `year`."""
    expected = shape.years.get(year)
    if expected is None:
        raise BadInput(f"--year {year} is unknown for this task; expected {' or '.join(map(str, shape.years))}.")
    if sorted(ids) != sorted(map(str, expected)):
        raise BadInput(
            f"{path} has {format_count(len(ids), shape.noun)} with ids from {ids[0]} to {ids[-1]}; the track of {year} has the "
            f"{len(expected)} from {expected[0]} to {expected[-1]}: give that year's file, or leave out --year."
        )


def record_faults(
    records: Sequence[Any], shape: Shape, ids: Collection[str], faults_in: Callable[[str, str, dict[str, Any]], Iterator[str]]
) -> Iterator[str]:
    """The faults of a run whose input holds these `ids`; `faults_in` yields those in one record (its place, its id, itself)."""
    noun = shape.noun
    own_ids = [
        str(metadata.get(shape.id))
        for one in records
        if isinstance(one, dict) and isinstance(metadata := one.get("metadata"), dict)
    ]
    if own_ids and not set(own_ids) & set(ids):
        yield (
            f"the run: none of its {noun}s, from {own_ids[0]} to {own_ids[-1]}, is in the input; give the input that the run was "
            "made from"
        )
        return
    keys: set[str] = set()
    idents: set[tuple[Any, Any]] = set()
    for number, record in enumerate(records, 1):
        metadata = record.get("metadata") if isinstance(record, dict) else None
        if not isinstance(metadata, dict):
            yield f"record {number}: an object with metadata and {shape.body} was expected"
            continue
        key = str(metadata.get(shape.id, ""))
        place = f"{noun} {key or f'at record {number}'}"
        for name in ("team_id", "run_id"):
            if not isinstance(metadata.get(name), str) or not metadata[name].strip():
                yield f"{place}: metadata.{name} is missing"
        idents.add((str(metadata.get("team_id")), str(metadata.get("run_id"))))
        if key not in ids:
            yield f"{place}: the input has no {noun} with this {shape.id}"
        elif key in keys:
            yield f"{place}: it appears more than once"
        else:
            yield from faults_in(place, key, record)
        keys.add(key)
    for key in ids:
        if key not in keys:
            yield f"{noun} {key}: it is missing"
    if len(idents) > 1:
        yield f"the run: its {noun}s name {len(idents)} different teams or runs; expected one"


def citation_faults(place: str, name: str, pmids: Sequence[str], store: Documents | None, corpus: Corpus | None) -> Iterator[str]:
    """The faults of one list of citations, called `name`: too many, a repeated one, or one of no document in the index, or in
    the track's corpus if that is given."""
    if len(pmids) > MAX_CITATIONS:
        yield f"{place}: {name} has {len(pmids)} PMIDs; at most {MAX_CITATIONS} are allowed"
    for pmid in sorted({pmid for pmid in pmids if pmids.count(pmid) > 1}):
        yield f"{place}: {name} repeats {pmid}"
    index_pmids = store.holds([pmid for pmid in pmids if is_whole(pmid)]) if store else set(pmids)
    corpus_pmids = corpus.holds(pmids) if corpus else index_pmids
    for pmid in dict.fromkeys(pmids):
        if pmid not in index_pmids:
            yield f"{place}: {name} contains {pmid}, which is not in the index"
        elif pmid not in corpus_pmids:
            yield f"{place}: {name} contains {pmid}, which is not in the track's corpus"
