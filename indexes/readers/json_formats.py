"""Documents in JSON: Counterpoint's own lines, Pyserini's and SciFact's, and exports: CSL-JSON, as Zotero writes it
(https://docs.citationstyles.org), Crossref's and Europe PMC's.
"""

from __future__ import annotations

from collections.abc import Set
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from counterpoint.indexes.readers.base.fields import (
    RETRACTING,
    Record,
    RecordError,
    check_required,
    clean_text,
    describe_value,
    find_doi,
    join_parts,
    read_id,
    read_text,
)
from counterpoint.indexes.readers.exports.entry import Fields, clean_prose, make_document, parse_author
from counterpoint.retrieval.core.values import Author, Document, Notice, Section, Span

KEYS = ("pmid", "title", "abstract", "year", "journal", "types", "retracted", "authors", "doi", "pmcid", "mesh")


def make_counterpoint(record: dict[str, Any]) -> Document:
    """The document of a line."""
    check_required(record, "pmid", "title", "abstract")
    for key in record:
        # Keys that are not ours are ignored, but not one that looks like a misspelling: its value would be lost.
        if key not in KEYS and (likely_key := _find_known_key(key)):
            raise RecordError(f'expected the key "{likely_key}", got "{clean_text(key[:40])}", which would be ignored')
    abstract, sections = _read_abstract(record["abstract"])
    retracted = record.get("retracted")
    if not isinstance(retracted, bool | None):
        raise RecordError(f'expected true or false in "retracted", got {describe_value(retracted)}')
    return Document(
        pmid=read_id(record["pmid"], "pmid"),
        title=read_text(record, "title"),
        abstract=abstract,
        year=_read_year(record.get("year")),
        journal=read_text(record, "journal"),
        types=_read_texts(record, "types"),
        sections=sections,
        retracted=bool(retracted),
        # "Family, Given, Suffix"; a name without a comma is a group's.
        authors=tuple(Author(*map(str.strip, name.split(",", 2))) for name in _read_texts(record, "authors") if name),
        doi=_read_doi(record),
        pmcid=read_text(record, "pmcid").upper(),
        mesh=_read_texts(record, "mesh"),
    )


@lru_cache(maxsize=1024)
def _find_known_key(key: str) -> str:
    """The key of ours that `key` seems to mean; "" if it means none."""
    return next(iter(get_close_matches(key.lower(), KEYS, n=1, cutoff=0.8)), "")


def _read_abstract(value: object) -> tuple[str, tuple[Section, ...]]:
    if value is None or isinstance(value, str):
        return clean_text(value or ""), ()
    if isinstance(value, list):
        return join_parts([_read_part(item) for item in value])
    raise RecordError(f'expected text or a list of texts or sections in "abstract", got {describe_value(value)}')


def _read_part(item: object) -> tuple[str, str]:
    if isinstance(item, str):
        return "", clean_text(item)
    if isinstance(item, dict):
        check_required(item, "text")
        return read_text(item, "label"), read_text(item, "text")
    raise RecordError(f'expected texts or {{"label": …, "text": …}} in the list "abstract", got {describe_value(item)}')


def _read_year(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10_000):
        return value
    raise RecordError(f'expected a year such as 2019, or null, in "year", got {describe_value(value)}')


def _read_texts(record: dict[str, Any], key: str) -> tuple[str, ...]:
    value = record.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise RecordError(f'expected a list of texts in "{key}", got {describe_value(value)}')
    for item in value:
        if not isinstance(item, str):
            raise RecordError(f'expected texts in the list "{key}", got {describe_value(item)}')
    return tuple(clean_text(item) for item in value)


def _read_doi(record: dict[str, Any]) -> str:
    text = read_text(record, "doi")
    doi = find_doi(text)
    if text and not doi:
        raise RecordError(f'expected a DOI such as 10.1000/xyz123 in "doi", got {describe_value(text)}')
    return doi


def make_pyserini(record: dict[str, Any]) -> Document:
    """The document: the first line is the title; if there is only one line, it is all abstract, as no title can be told apart."""
    check_required(record, "id", "contents")
    contents = record["contents"]
    if not isinstance(contents, str):
        raise RecordError(f'expected text in "contents", got {describe_value(contents)}')
    title, newline, abstract = contents.strip().partition("\n")
    if not newline:
        title, abstract = "", title
    return Document(pmid=read_id(record["id"], "id"), title=clean_text(title), abstract=clean_text(abstract))


def make_scifact(record: dict[str, Any]) -> Document:
    """The document of a line."""
    check_required(record, "doc_id", "title", "abstract")
    sentences = record["abstract"]
    if not isinstance(sentences, list):
        raise RecordError(f'expected a list of sentences in "abstract", got {describe_value(sentences)}')
    for sentence in sentences:
        if not isinstance(sentence, str):
            raise RecordError(f'expected texts in the list "abstract", got {describe_value(sentence)}')
    abstract, spans = _join([clean_text(sentence) for sentence in sentences])
    return Document(pmid=read_id(record["doc_id"], "doc_id"), title=read_text(record, "title"), abstract=abstract, spans=spans)


def _join(sentences: list[str]) -> tuple[str, tuple[Span, ...]]:
    """The abstract and the span of every sentence in it.

    A sentence without text keeps its index, as an empty span: rationales are indices into the list.
    """
    spans: list[Span] = []
    end = 0
    for sentence in sentences:
        # No space goes before the first text, nor before a sentence without text.
        start = end + 1 if sentence and end else end
        end = start + len(sentence)
        spans.append((start, end))
    return " ".join(filter(None, sentences)), tuple(spans)


_CSL_KEYS = frozenset({"type", "container-title", "issued", "author", "DOI", "PMID"})
_RETRACTING = frozenset({"retraction", "withdrawal", "removal"})


def is_item(keys: Set[str]) -> bool:
    """Whether an object with these keys is an item of CSL."""
    return not _CSL_KEYS.isdisjoint(keys)


def make_csl(item: dict[str, Any]) -> Record:
    """The document of an item."""
    # Programs write some keys in other cases, or take them from other formats.
    item = {key.lower(): value for key, value in item.items()}
    fields = Fields(
        title=_read_csl_text(item, "title"),
        abstract=_read_csl_text(item, "abstract"),
        journal=_read_csl_text(item, "container-title") or _read_csl_text(item, "journal"),
        date=_read_date(item.get("issued")) or _read_csl_text(item, "year"),
        authors=_read_authors(item.get("author") or item.get("authors")),
        types=[_read_type(item)],
        pmid=_read_csl_text(item, "pmid"),
        doi=_read_csl_text(item, "doi"),
        pmcid=_read_csl_text(item, "pmcid"),
        ids=[_read_csl_text(item, "note"), _read_csl_text(item, "url"), _read_csl_text(item, "id")],
        retracted=item.get("retracted") is True or _is_retracted(item.get("updated-by")),
    )
    return make_document(fields)


def _is_retracted(updates: object) -> bool:
    """Whether Crossref knows of a retraction."""
    kinds = [update.get("type") for update in updates if isinstance(update, dict)] if isinstance(updates, list) else []
    return any(kind in _RETRACTING for kind in kinds if isinstance(kind, str))


def _read_csl_text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, (str, int, float)):
        return str(value)
    # Crossref's JSON, which some programs pass on, has lists where CSL has strings.
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return value[0] if value else ""
    raise RecordError(f'expected text in "{key}", got {describe_value(value)}')


def _read_type(item: dict[str, Any]) -> str:
    """The item's type; Zotero exports preprints as "article", which elsewhere means a journal article."""
    kind = _read_csl_text(item, "type")
    return "preprint" if kind == "article" and not item.get("container-title") else kind


def _read_date(date: object) -> str:
    """A date as text: CSL has it in parts, raw, or as free text."""
    if not isinstance(date, dict):
        return date if isinstance(date, str) else ""
    parts = date.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0]:
        return str(parts[0][0])
    return str(date.get("raw") or date.get("literal") or "")


def _read_authors(authors: object) -> list[Author]:
    if isinstance(authors, str):
        authors = authors.split(";")
    elif isinstance(authors, dict):
        authors = [authors]
    elif not isinstance(authors, list | None):
        raise RecordError(f'expected a list of names in "author", got {describe_value(authors)}')
    return [_read_csl_author(author) for author in authors or []]


def _read_csl_author(name: object) -> Author:
    if isinstance(name, str):
        return parse_author(name)
    if not isinstance(name, dict):
        raise RecordError(f'expected names as objects or texts in the list "author", got {describe_value(name)}')

    def part(*keys: str) -> str:
        return clean_prose(" ".join(_read_csl_text(name, key) for key in keys))

    if not part("family"):
        return Author(part("literal") or part("name") or part("given"))
    return Author(part("dropping-particle", "non-dropping-particle", "family"), part("given"), part("suffix"))


def make_europepmc(result: dict[str, Any]) -> Record:
    """The document of a result."""
    check_required(result, "id", "source")
    notices = [_make_notice(link) for link in _list(result, "commentCorrectionList", "commentCorrection")]
    return make_document(
        Fields(
            title=_text(result, "title"),
            abstract=_text(result, "abstractText"),
            journal=_text(result, "journalInfo", "journal", "title") or _text(result, "bookOrReportDetails", "publisher"),
            date=_text(result, "pubYear") or _text(result, "firstPublicationDate"),
            authors=[_make_author(author) for author in _list(result, "authorList", "author")],
            types=[kind for kind in _list(result, "pubTypeList", "pubType") if isinstance(kind, str)],
            mesh=[_text(heading, "descriptorName") for heading in _list(result, "meshHeadingList", "meshHeading")],
            notices=[notice for notice in notices if notice.pmid],
            retracted=any(notice.kind in RETRACTING for notice in notices),
            pmid=_text(result, "pmid"),
            doi=_text(result, "doi"),
            pmcid=_text(result, "pmcid"),
            ids=[] if _text(result, "doi") else [f"{_text(result, 'source')}:{_text(result, 'id')}"],
        )
    )


def make_openalex(work: dict[str, Any]) -> Record:
    """The document of a work of OpenAlex, whose abstract is a list of the places of each word."""
    index = work.get("abstract_inverted_index") or {}
    if not isinstance(index, dict) or not all(isinstance(places, list) for places in index.values()):
        raise RecordError(f'expected lists of places in "abstract_inverted_index", got {describe_value(index)}')
    words = sorted((int(place), word) for word, places in index.items() for place in places)
    return make_document(
        Fields(
            title=_text(work, "title"),
            abstract=" ".join(word for _, word in words),
            journal=_text(work, "primary_location", "source", "display_name"),
            date=_text(work, "publication_year"),
            authors=[_name_author(_text(author, "author", "display_name")) for author in _list(work, "authorships")],
            types=[_text(work, "type")],
            pmid=_text(work, "ids", "pmid"),
            doi=_text(work, "doi"),
            pmcid=_text(work, "ids", "pmcid"),
            retracted=work.get("is_retracted") is True,
        )
    )


def make_semantic_scholar(paper: dict[str, Any]) -> Record:
    """The document of a paper of Semantic Scholar."""
    return make_document(
        Fields(
            title=_text(paper, "title"),
            abstract=_text(paper, "abstract"),
            journal=_text(paper, "journal", "name") or _text(paper, "venue"),
            date=_text(paper, "year") or _text(paper, "publicationDate"),
            authors=[_name_author(_text(author, "name")) for author in _list(paper, "authors")],
            types=[kind for kind in _list(paper, "publicationTypes") if isinstance(kind, str)],
            pmid=_text(paper, "externalIds", "PubMed"),
            doi=_text(paper, "externalIds", "DOI"),
        )
    )


def make_lens(work: dict[str, Any]) -> Record:
    """The document of a scholarly work of Lens."""
    ids = {_text(id, "type"): _text(id, "value") for id in _list(work, "external_ids")}
    return make_document(
        Fields(
            title=_text(work, "title"),
            abstract=_text(work, "abstract"),
            journal=_text(work, "source", "title"),
            date=_text(work, "year_published") or _text(work, "date_published"),
            authors=[Author(_text(one, "last_name"), _text(one, "first_name")) for one in _list(work, "authors")],
            types=[_text(work, "publication_type")],
            pmid=ids.get("pmid", ""),
            doi=ids.get("doi", ""),
            pmcid=ids.get("pmcid", ""),
        )
    )


def _name_author(name: str) -> Author:
    """An author named as "Mary A. O'Neil"."""
    given, _, family = name.strip().rpartition(" ")
    return Author(family, given)


def _make_notice(link: object) -> Notice:
    """A link to another paper; its kind as PubMed names it: "Retraction in" is "RetractionIn"."""
    words = _text(link, "type").split()
    kind = "".join(word if word == "and" else word.capitalize() for word in words)
    return Notice(kind, _text(link, "id") if _text(link, "source") == "MED" else "")


def _make_author(author: object) -> Author:
    if isinstance(author, str):
        return parse_author(author)
    if not isinstance(author, dict):
        raise RecordError(f'expected objects in the list "author", got {describe_value(author)}')
    family = _text(author, "lastName") or _text(author, "collectiveName") or _text(author, "fullName")
    return Author(family, _text(author, "firstName") or (_text(author, "initials") if author.get("lastName") else ""))


def _find(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: object, *keys: str) -> str:
    item = _find(value, keys)
    if item is None or isinstance(item, (str, int)):
        return "" if item is None else str(item)
    raise RecordError(f'expected text in "{keys[-1]}", got {describe_value(item)}')


def _list(value: object, *keys: str) -> list[Any]:
    item = _find(value, keys)
    return item if isinstance(item, list) else []
