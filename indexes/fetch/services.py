"""The services that papers are fetched from, PubMed and Europe PMC.

PubMed is reached through NCBI's E-utilities (https://www.ncbi.nlm.nih.gov/books/NBK25501): ESearch keeps a result on NCBI's
history server, EFetch delivers it in parts. PubMed gives no more than the first 9,999 papers of a result. A larger one is
requested in parts by the date on which papers entered PubMed, the latest first. Europe PMC's REST service
(https://europepmc.org/RestfulWebService) has PubMed's papers, preprints and more, in JSON.

Full texts come as JATS: from PubMed Central by EFetch, several in one answer, without a body where the publisher does not allow
more; from Europe PMC one by one, of papers that it calls open access.

Requests keep to a service's rate limit, are retried after a fault, and errors take one sentence. httpx-retries does the back-off
and the waiting that a server asks for (Retry-After), also when an answer breaks off or is not what was asked for. Keys travel in
the body of a request, never in a URL, so that no log holds them.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import httpx
from httpx_retries import Retry, RetryTransport
from lxml import etree

from counterpoint.indexes.fetch.fetching import ASK_AGAIN, EUROPE_PMC, NCBI, Expired, Search, StaysFaulty
from counterpoint.indexes.readers import SkipBad, read
from counterpoint.indexes.readers.base.markup import find_name
from counterpoint.indexes.readers.full_text.article import find_pmcid_of
from counterpoint.indexes.readers.full_text.jats import find_first, find_meta
from counterpoint.retrieval.core.addresses import clean_key, find_proxy, hide_login, split_login
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadConfig, BadInput, Unfinished
from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.runtime.pace import Pace

TRIES = 6
"""The most attempts at one request."""
TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses after which a request is repeated."""
_SHOWN = 200


class NotWhole(Exception):
    """The response is cut off, or holds an error instead of the answer. The request is worth another try."""


class NotThere(BadInput):
    """The service has nothing at an address."""


class Empty(NotWhole):
    """A response without the records that were asked for: the last tried is taken as it is, `body`."""

    def __init__(self, body: bytes) -> None:
        super().__init__("no records")
        self.body = body


class Remote:
    """The service called `name` at `address`, with at most `per_second` requests a second.

    After a fault a request is repeated, up to `TRIES` times in all, after `backoff` seconds, twice that, and so on. `secrets` are
    removed from whatever the service says before it is shown.
    """

    def __init__(self, name: str, address: str, per_second: int, backoff: float = 1.0, secrets: Sequence[str] = ()) -> None:
        if not address.startswith(("http://", "https://")):
            raise BadConfig(f"The address {hide_login(address)!r} of {name} should begin with http:// or https://.")
        self.name = name
        shown, login = split_login(address)
        self._address, self._backoff, self._secrets = shown.rstrip("/"), backoff, [*secrets, *(login or ())[1:]]
        transport = httpx.HTTPTransport(proxy=find_proxy(self._address))
        self._client = httpx.Client(transport=RetryTransport(_Paced(transport, per_second)), timeout=60.0, auth=login)

    def ask(
        self, method: Literal["GET", "POST"], path: str, fields: Mapping[str, str], check: Callable[[bytes], object]
    ) -> bytes:
        """The body of the response to a request; `check` raises `NotWhole` for one that should be requested again.

        Raises `BadInput` if the service refuses the request, `StaysFaulty` if no answer to it is whole, `Unfinished` if the
        service gives none or asks for fewer requests.
        """
        options: dict[str, Any] = {"params": fields} if method == "GET" else {"data": fields}
        try:
            answer = self._send(method, path, check, **options)
        except Empty as fault:
            return fault.body
        except (NotWhole, httpx.DecodingError) as fault:
            raise StaysFaulty(self.name, f"gave no whole answer in {TRIES} tries ({self._clean(str(fault))})") from None
        except httpx.TransportError as error:
            why = f"{type(error).__name__}: {self._clean(str(error))}"
            raise Unfinished(f"{self.name} cannot be reached at {self._address} ({why}); {ASK_AGAIN}.") from None
        if answer.status_code == 429:
            raise Unfinished(f"{self.name} answered {TRIES} times that there are too many requests (error 429); {ASK_AGAIN}.")
        if answer.status_code in TRANSIENT:
            raise StaysFaulty(self.name, f"answered {TRIES} times with the error {answer.status_code}")
        if not answer.is_success:
            with suppress(NotWhole):
                check(answer.content)  # raises its own error if the body says more than the status
            kind = NotThere if answer.status_code in (404, 410) else BadInput
            raise kind(f"{self.name} refuses the request with the error {answer.status_code} ({self._clean(answer.text)}).")
        return answer.content

    def _send(
        self, method: str, path: str, check: Callable[[bytes], object], tries: int = TRIES, **options: Any
    ) -> httpx.Response:
        """The response to a request, whatever its status; raises what the last try raised."""

        def validate(response: httpx.Response) -> None:
            body = response.read()
            if response.is_success:
                check(body)

        retry = Retry(
            total=tries - 1,
            allowed_methods=["GET", "POST"],
            status_forcelist=TRANSIENT,
            retry_on_exceptions=(*Retry.RETRYABLE_EXCEPTIONS, NotWhole, httpx.DecodingError),
            backoff_factor=self._backoff / 2,
            backoff_jitter=0.2,
            validate_response=validate,
        )
        answer = self._client.request(method, f"{self._address}/{path}", extensions={"retry": retry}, **options)
        validate(answer)
        return answer

    def refuse(self, message: str, advice: str) -> BadInput:
        """The error for a request that the service understood but refused."""
        return BadInput(f"{self.name} refuses the search ({self._clean(message)}); {advice}.")

    def _clean(self, text: str) -> str:
        """What a service said, shortened, on one line, and without keys."""
        for secret in filter(None, self._secrets):
            text = text.replace(secret, "…")
        line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
        return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"

    def close(self) -> None:
        """End the connection."""
        self._client.close()


class _Paced(httpx.BaseTransport):
    """Limits the rate of attempts, retries included, not of requests."""

    def __init__(self, transport: httpx.BaseTransport, per_second: int) -> None:
        self._transport, self._pace = transport, Pace(per_second, period=1.0)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._pace.wait()
        return self._transport.handle_request(request)

    def close(self) -> None:
        self._transport.close()


BATCH = 200
MOST_A_SEARCH = 9_999
_PER_SECOND, _PER_SECOND_WITH_KEY = 3, 10
# Before the oldest paper in PubMed.
_FIRST_DAY = date(1700, 1, 1)
_RECORDS = ("PubmedArticle", "PubmedBookArticle")
_RECORD_END = re.compile(rb"</Pubmed(?:Book)?Article\s*>")
_PASSING = ("backend failed", "rate limit", "temporarily", "timeout", "timed out")
_FORGOTTEN = ("unable to obtain query", "webenv", "history", "query_key")


class PubMed(Remote):
    """NCBI, with the key and the e-mail address that it asks heavy users for; `has_texts` says which of its papers have a full
    text there, `texts_at_once` how many come at most in one answer."""

    suffix, has_texts, texts_at_once = ".xml.gz", "are in PubMed Central", 20

    def __init__(self, address: str = NCBI, key: str = "", email: str = "", backoff: float = 1.0) -> None:
        key = clean_key(key, "of NCBI")
        rate = _PER_SECOND_WITH_KEY if key else _PER_SECOND
        super().__init__("PubMed", address, rate, backoff, [key])
        self._caller = {"tool": "counterpoint", "email": email, "api_key": key}

    def begin(self, query: str, most: int) -> Search:
        """Search; raises `BadInput` for a query that PubMed refuses or that finds nothing."""
        whole = self._search(query)
        total = int(whole["count"])
        notes = _list_notes(whole)
        if not total:
            reading = f", which PubMed read as {translation}" if (translation := whole.get("querytranslation")) else ""
            because = f" ({'; '.join(notes)})" if notes else ""
            raise BadInput(f"PubMed finds nothing for “{query}”{reading}{because}; change the query.")
        if min(total, most) <= MOST_A_SEARCH:
            slices = [_make_slice(whole, min(total, most))]
        else:
            slices = list(self._cut_by_date(query, most, _FIRST_DAY, datetime.now(UTC).date() + timedelta(days=1)))
        size = sum(part["wanted"] for part in slices)
        if size < min(total, most):
            loss = min(total, most) - size
            notes.append(
                f"{format_count(loss, 'paper')} cannot be had: they came into PubMed on days with over {MOST_A_SEARCH:,}"
            )
        return Search("pubmed", query, most, total, size, {"slices": slices, "slice": 0, "start": 0}, notes)

    def fetch_part(self, search: Search) -> bytes | None:
        """The next records as PubMed XML; raises `Expired` if NCBI no longer has the result."""
        at = search.at
        if at["slice"] == len(at["slices"]):
            return None
        part = at["slices"][at["slice"]]
        count = min(BATCH, part["wanted"] - at["start"])
        where = {"WebEnv": part["webenv"], "query_key": part["key"], "retstart": str(at["start"]), "retmax": str(count)}
        body = self._ask("efetch.fcgi", {**where, "retmode": "xml"}, _check_records)
        search.fetched += _count_records(body)
        at["start"] += count
        if at["start"] >= part["wanted"]:
            at.update(slice=at["slice"] + 1, start=0)
        return body

    def list_texts(self, part: Path) -> Iterator[str]:
        """The PMCIDs in a part."""
        records = read(part, "pubmed", SkipBad(sys.maxsize))
        return (record.pmcid for record in records if isinstance(record, Document) and record.pmcid)

    def fetch_texts(self, ids: Sequence[str]) -> dict[str, bytes | str]:
        """The full texts with these PMCIDs, those that PubMed Central answers with a body."""
        numbers = ",".join(one.removeprefix("PMC") for one in ids)
        body = self._ask("efetch.fcgi", {"db": "pmc", "id": numbers, "retmode": "xml"}, _check_texts)
        found: dict[str, bytes | str] = {}
        for element in _parse(body):
            if find_name(element) == "article":
                found[find_pmcid_of(find_meta(element))] = _take_text(element)
            elif find_name(element):
                # An <error> or <Reply> in place of an article, with its number as an attribute or in its words.
                words = " ".join(map(str, [*element.values(), *element.itertext()]))
                found |= {one: "PubMed Central does not have it" for one in ids if one[3:] in re.findall(r"\d+", words)}
        return {one: found[one] for one in ids if one in found}

    def _cut_by_date(self, query: str, most: int, first: date, last: date) -> Iterator[dict[str, Any]]:
        """Searches of at most `MOST_A_SEARCH` papers each, the latest first, until `most` are reached."""
        spans = [(first, last)]
        while spans and most > 0:
            first, last = spans.pop()
            result = self._search(query, datetype="edat", mindate=f"{first:%Y/%m/%d}", maxdate=f"{last:%Y/%m/%d}")
            count = int(result["count"])
            if min(count, most) > MOST_A_SEARCH and first < last:
                middle = first + (last - first) // 2
                spans += [(first, middle), (middle + timedelta(days=1), last)]
            elif count:
                part = _make_slice(result, min(count, most, MOST_A_SEARCH))
                most -= part["wanted"]
                yield part

    def _search(self, query: str, **limits: str) -> dict[str, Any]:
        fields = {"term": query, "usehistory": "y", "retmax": "0", "retmode": "json", **limits}
        result: dict[str, Any] = json.loads(self._ask("esearch.fcgi", fields, _check_search), strict=False)["esearchresult"]
        if message := result.get("ERROR"):
            raise self.refuse(str(message), "check the query at pubmed.ncbi.nlm.nih.gov")
        return result

    def _ask(self, path: str, fields: dict[str, str], check: Any) -> bytes:
        caller = {name: value for name, value in self._caller.items() if value}
        return self.ask("POST", path, {"db": "pubmed", **caller, **fields}, check)


def _make_slice(result: dict[str, Any], size: int) -> dict[str, Any]:
    return {"webenv": result["webenv"], "key": result["querykey"], "wanted": size}


def _check_search(body: bytes) -> None:
    try:
        answer = json.loads(body, strict=False)  # NCBI's messages may contain line breaks
        result = answer["esearchresult"]
        if "ERROR" not in result:
            int(result["count"]), str(result["webenv"]), str(result["querykey"])
    except (ValueError, KeyError, TypeError):
        raise NotWhole(_read_error(body) or "no search result") from None
    if any(words in str(result.get("ERROR", "")).lower() for words in _PASSING):
        raise NotWhole(str(result["ERROR"]))


def _read_error(body: bytes) -> str:
    """The error that NCBI returns instead of a result."""
    try:
        return str(json.loads(body, strict=False).get("error", ""))
    except (ValueError, AttributeError):
        return ""


def _count_records(body: bytes) -> int:
    """How many records an EFetch response holds; raises `NotWhole` if it breaks off."""
    try:
        root = _parse(body)
    except etree.XMLSyntaxError as error:
        # A record that is not well-formed comes again at every try: the reader of the file leaves it out and names it.
        if body.rstrip().endswith(b"</PubmedArticleSet>") and (count := len(_RECORD_END.findall(body))):
            return count
        if any(words in body[:2000].decode("utf-8", "replace").lower() for words in _FORGOTTEN):
            raise Expired from None
        raise NotWhole(f"XML that breaks off: {error.msg}") from None
    if root.tag != "PubmedArticleSet":
        message = " ".join("".join(map(str, root.itertext())).split())
        if any(words in message.lower() for words in _FORGOTTEN):
            raise Expired
        raise NotWhole(message or f"XML of another kind, <{root.tag}>")
    return sum(len(root.findall(kind)) for kind in _RECORDS)


def _check_records(body: bytes) -> None:
    if not _count_records(body):
        raise Empty(body)


def _parse(body: bytes) -> etree._Element:
    return etree.fromstring(body, etree.XMLParser(load_dtd=False, no_network=True, resolve_entities=False, huge_tree=True))


def _check_texts(body: bytes) -> None:
    """Raise `NotWhole` unless a response is JATS: articles or what PubMed Central says in place of one."""
    try:
        root = _parse(body)
    except etree.XMLSyntaxError as error:
        raise NotWhole(_read_error(body) or f"no XML, or XML that breaks off: {error.msg}") from None
    if find_name(root) not in ("pmc-articleset", "article") or not len(root):
        words = " ".join("".join(map(str, root.itertext())).split())
        raise NotWhole(words or f"XML of another kind, <{root.tag}>")


# Named, so that an entity which only its DTD defines is no fault of the XML.
_DOCTYPE = '<!DOCTYPE article SYSTEM "JATS-archivearticle1.dtd">'


def _take_text(article: etree._Element) -> bytes | str:
    """An article as a file of its own; in words why it is no full text, if it is none."""
    body = find_first(article, "body")
    if body is not None and "".join(map(str, body.itertext())).strip():
        return etree.tostring(article, encoding="utf-8", xml_declaration=True, doctype=_DOCTYPE, with_tail=False)
    forbidden = any("does not allow" in str(comment.text) for comment in article.iterchildren(etree.Comment))
    return "its publisher does not allow the full text to be given away as XML" if forbidden else "it is there without its text"


def _list_notes(result: dict[str, Any]) -> list[str]:
    """The parts of a query that PubMed could not use."""
    errors, warnings = result.get("errorlist") or {}, result.get("warninglist") or {}
    lists = {
        "not found": [*errors.get("phrasesnotfound", []), *warnings.get("quotedphrasesnotfound", [])],
        "no field of PubMed's": errors.get("fieldsnotfound", []),
        "ignored": warnings.get("phrasesignored", []),
    }
    return [f"{why}: {', '.join(map(str, words))}" for why, words in lists.items() if words]


PAGE = 500
_PER_SECOND_AT_EUROPE_PMC = 5
_TEXT_ID = re.compile(r"\b(?:PMC|PPR)\d+")


class EuropePMC(Remote):
    """Europe PMC, which needs no key."""

    suffix, has_texts, texts_at_once = ".jsonl.gz", "are open access at Europe PMC", 1

    def __init__(self, address: str = EUROPE_PMC, backoff: float = 1.0) -> None:
        super().__init__("Europe PMC", address, _PER_SECOND_AT_EUROPE_PMC, backoff)

    def begin(self, query: str, most: int) -> Search:
        """Search; raises `BadInput` for a query that finds nothing."""
        total = int(self._find(query, "*", 1)["hitCount"])
        if not total:
            raise BadInput(f"Europe PMC finds nothing for “{query}”; change the query.")
        return Search("europepmc", query, most, total, min(total, most), {"cursor": "*"})

    def fetch_part(self, search: Search) -> bytes | None:
        """The next results, one JSON object per line."""
        room, cursor = search.wanted - search.fetched, search.at["cursor"]
        if room <= 0 or not cursor:
            return None
        # One size for all pages: a cursor continues only from a page of the same size.
        answer = self._find(search.query, cursor, min(PAGE, search.wanted))
        results = answer["resultList"]["result"][:room]
        next_cursor = answer.get("nextCursorMark", "")
        search.at["cursor"] = "" if next_cursor == cursor or not results else next_cursor
        search.fetched += len(results)
        return "".join(json.dumps(result, ensure_ascii=False) + "\n" for result in results).encode() if results else None

    def list_texts(self, part: Path) -> Iterator[str]:
        """The ids of full texts (PMCIDs, and PPR… of preprints) of the open-access papers in a part."""
        with gzip.open(part, "rt", encoding="utf-8") as lines:
            for result in map(json.loads, lines):
                is_open = result.get("isOpenAccess") == "Y" and result.get("inEPMC") != "N"
                if is_open and (match := _TEXT_ID.search(str(result.get("fullTextIdList") or result.get("pmcid")))):
                    yield match[0]

    def fetch_texts(self, ids: Sequence[str]) -> dict[str, bytes | str]:
        """The full text with this id."""
        (id,) = ids
        try:
            body = self.ask("GET", f"{id}/fullTextXML", {}, _check_texts)
        except NotThere:
            return {id: "Europe PMC does not give it away as XML (error 404)"}
        article = find_first(_parse(body), "article", deep=True)
        text = "" if article is None else _take_text(article)
        return {id: body if isinstance(text, bytes) else text}

    def _find(self, query: str, cursor: str, size: int) -> dict[str, Any]:
        fields = {"query": query, "format": "json", "resultType": "core", "pageSize": str(size), "cursorMark": cursor}
        answer: dict[str, Any] = json.loads(self.ask("GET", "search", fields, _check_page), strict=False)
        if message := answer.get("errMsg"):
            raise self.refuse(str(message), "check the query at europepmc.org")
        return answer


Source = PubMed | EuropePMC


def _check_page(body: bytes) -> None:
    try:
        answer = json.loads(body, strict=False)  # a control character in a text is no reason to ask again
        if "errMsg" not in answer:
            int(answer["hitCount"]), answer["resultList"]["result"][:1]
    except (ValueError, KeyError, TypeError):
        raise NotWhole("no search result, or one that breaks off") from None
