"""NCBI's E-utilities and Europe PMC on loopback: they speak as the real ones do, and fail when a test asks for it."""

from __future__ import annotations

import gzip
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Answer:
    """A status, a body and headers; `declared` is the length that the server claims, the real one if None."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    declared: int | None = None


@dataclass(frozen=True)
class Asked:
    """A request: the last part of its path, its fields, the line that a log would hold, and the login."""

    path: str
    fields: dict[str, str]
    line: str
    login: str = ""
    at: float = field(default_factory=time.monotonic)


Fault = Callable[[Asked], Answer | None]
"""What a server answers in place of the real answer; None for the real one."""


class PapersServer:
    """A library of `count` papers about zinc that came in on five days; `nothing` finds none of them, and `bad` is refused.

    Each third has a full text, also each tenth, a preprint; those of `forbidden` have only their abstract in PubMed Central and
    none at Europe PMC, and those of `gone` are in neither.
    """

    def __init__(self, count: int = 450) -> None:
        self.count, self.asked, self.faults = count, list[Asked](), list[Fault]()
        self.forbidden, self.gone = set[int](), set[int]()
        self.forgotten: set[str] = set()
        self._sets: dict[str, list[int]] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                self._answer(parts.path, parts.query)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self._answer(urlsplit(self.path).path, body)

            def _answer(self, path: str, encoded: str) -> None:
                fields = {name: values[0] for name, values in parse_qs(encoded).items()}
                asked = Asked(path.rsplit("/", 1)[-1], fields, self.requestline, self.headers["Authorization"] or "")
                outer.asked.append(asked)
                answer = outer.answer(asked)
                self.send_response(answer.status)
                length = len(answer.body) if answer.declared is None else answer.declared
                for name, value in {"Content-Length": str(length), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *arguments: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/utils"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, asked: Asked) -> Answer:
        """What the first fault that applies makes of a request, else the real answer."""
        for fault in list(self.faults):
            if (answer := fault(asked)) is not None:
                return answer
        routes = {
            "esearch.fcgi": self.search, "efetch.fcgi": self.fetch, "search": self.search_europe, "fullTextXML": self.give_text
        }  # fmt: skip
        return routes[asked.path](asked)

    def fail_once(self, path: str, answer: Answer, times: int = 1) -> None:
        """Answer the next requests for `path` so."""

        def fault(asked: Asked) -> Answer | None:
            if asked.path != path:
                return None
            left[0] -= 1
            if left[0] == 0:
                self.faults.remove(fault)
            return answer

        left = [times]
        self.faults.append(fault)

    def search(self, asked: Asked) -> Answer:
        """ESearch: the result is kept under a name."""
        fields = asked.fields
        if fields["term"] == "bad":
            return _json({"header": {}, "esearchresult": {"ERROR": "Unable to parse the query"}})
        numbers = [] if fields["term"] == "nothing" else list(range(self.count, 0, -1))
        if "mindate" in fields:
            first, last = (date(*map(int, fields[name].split("/"))) for name in ("mindate", "maxdate"))
            numbers = [one for one in numbers if first <= _day(one) <= last]
        name = f"MCID_{len(self._sets)}"
        self._sets[name] = numbers
        result: dict[str, Any] = {
            "count": str(len(numbers)), "retmax": "0", "retstart": "0", "querykey": "1", "webenv": name, "idlist": [],
            "translationset": [], "querytranslation": f'"{fields["term"]}"[All Fields]',
        }  # fmt: skip
        if "zync" in fields["term"]:
            result["errorlist"] = {"phrasesnotfound": ["zync"], "fieldsnotfound": []}
        return _json({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": result})

    def fetch(self, asked: Asked) -> Answer:
        """EFetch: records of a kept result, or full texts by their numbers."""
        if asked.fields["db"] == "pmc":
            return self.fetch_texts([int(one) for one in asked.fields["id"].split(",")])
        name = asked.fields["WebEnv"]
        if name in self.forgotten or name not in self._sets:
            said = "<eFetchResult><ERROR>Unable to obtain query #1</ERROR></eFetchResult>"
            return Answer(f'<?xml version="1.0"?>{said}'.encode(), 400 if asked.fields.get("strict") else 200)
        start, most = int(asked.fields["retstart"]), int(asked.fields["retmax"])
        if start > 9998:
            return Answer(
                b'<?xml version="1.0"?><eFetchResult><ERROR>retstart cannot be larger than 9998</ERROR></eFetchResult>', 400
            )
        records = "".join(map(_article, self._sets[name][start : start + most]))
        doctype = '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://dtd.nlm.nih.gov/x.dtd">'
        return Answer(f'<?xml version="1.0"?>{doctype}<PubmedArticleSet>{records}</PubmedArticleSet>'.encode())

    def fetch_texts(self, numbers: list[int]) -> Answer:
        """EFetch from PubMed Central: a set of articles in an order of its own, with notes in place of those that it lacks."""
        parts = []
        for number in sorted(numbers, reverse=True):
            if number in self.gone:
                new = f'<error id="{number}">The following PMCID is not available</error>'
                parts.append(
                    new if number % 2 else f'<Reply Id="{number}" error="The following PMCID is not available: {number}"/>'
                )
            else:
                parts.append(write_text(number, number not in self.forbidden))
        doctype = '<!DOCTYPE pmc-articleset PUBLIC "-//NLM//DTD ARTICLE SET 2.0//EN" "https://dtd.nlm.nih.gov/x.dtd">'
        return _pack(f'<?xml version="1.0"?>\n{doctype}<pmc-articleset>{"".join(parts)}</pmc-articleset>')

    def give_text(self, asked: Asked) -> Answer:
        """Europe PMC's full text of a paper."""
        [(kind, digits)] = re.findall(r"(PMC|PPR)(\d+)/", asked.line)
        number = int(digits)
        if number in self.forbidden | self.gone:
            return Answer(b"", 404)
        return _pack(
            f'<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE article SYSTEM "a.dtd">{write_text(number, preprint=kind == "PPR")}'
        )

    def search_europe(self, asked: Asked) -> Answer:
        """Europe PMC's search, page by page."""
        if asked.fields["query"] == "bad":
            return _json({"errCode": 400, "errMsg": "Invalid query"})
        count = 0 if asked.fields["query"] == "nothing" else self.count
        cursor, size = asked.fields["cursorMark"], int(asked.fields["pageSize"])
        start = 0 if cursor == "*" else int(cursor)
        page = [_result(one) for one in range(start + 1, min(start + size, count) + 1)]
        # The first of a page repeats the last one before: Europe PMC's index changes while it is read.
        if start and page:
            page.insert(0, _result(start))
        following = str(start + size) if start + size < count else cursor
        return _json({"version": "6.9", "hitCount": count, "nextCursorMark": following, "resultList": {"result": page}})

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()


def serving(count: int = 450) -> Iterator[PapersServer]:
    """For a fixture."""
    server = PapersServer(count)
    yield server
    server.close()


def write_text(number: int, whole: bool = True, preprint: bool = False) -> str:
    """The JATS of a paper, as PubMed Central delivers it; with its abstract only if its publisher allows no more."""
    comment = "The publisher of this article does not allow downloading of the full text in XML form."
    ids = f'<article-id pub-id-type="pmcid">PMC{number}</article-id><article-id pub-id-type="pmcaid">{number}</article-id>'
    if preprint:
        ids = f'<article-id pub-id-type="doi">10.1000/{number}</article-id>'
    named = "&hellip;" if number == 21 else ""
    body = f"<body><sec><title>Results</title><p>Copper helped &lt;{number} mice{named}.</p></sec></body>"
    return (
        f'<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="research-article">'
        f"{'' if whole else f'<!--{comment}-->'}<front><article-meta>{ids}<title-group><article-title>Zinc {number}"
        "</article-title></title-group><permissions><license xlink:href='http://creativecommons.org/licenses/by/4.0/'/>"
        f"</permissions><abstract><p>Zinc did not help.</p></abstract></article-meta></front>{body if whole else ''}</article>"
    )


def _pack(text: str) -> Answer:
    return Answer(gzip.compress(text.encode()), headers={"Content-Encoding": "gzip", "Content-Type": "text/xml"})


def _json(value: Any) -> Answer:
    return Answer(json.dumps(value).encode(), headers={"Content-Type": "application/json"})


def _day(number: int) -> date:
    return date.fromordinal(date(2019, 12, 31).toordinal() - number % 5)


def _article(number: int) -> str:
    ids = f'<ArticleId IdType="pmc">PMC{number}</ArticleId>' if number % 3 == 0 else ""
    return f"""<PubmedArticle><MedlineCitation><PMID Version="1">{number}</PMID><Article><Journal><JournalIssue><PubDate>
      <Year>2019
      </Year></PubDate></JournalIssue><Title>Lancet</Title></Journal><ArticleTitle>Zinc {number}</ArticleTitle>
      <Abstract><AbstractText>Zinc did not help {number} people.</AbstractText></Abstract><AuthorList><Author>
      <LastName>Smith</LastName><ForeName>Jo</ForeName></Author></AuthorList></Article></MedlineCitation><PubmedData>
      <ArticleIdList>{ids}</ArticleIdList><ReferenceList><Reference><ArticleIdList><ArticleId IdType="pmc">PMC99</ArticleId>
      </ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>"""


def _result(number: int) -> dict[str, Any]:
    preprint, id = number % 10 == 0, f"PPR{number}" if number % 10 == 0 else f"PMC{number}"
    is_open = number % 3 == 0 or preprint
    return {
        "isOpenAccess": "Y" if is_open else "N",
        "inEPMC": "Y" if is_open or number % 3 == 1 else "N",
        **({"pmcid": id} if number % 3 == 0 and not preprint else {}),
        **({"fullTextIdList": {"fullTextId": [id]}} if is_open else {}),
        "id": f"PPR{number}" if preprint else str(number),
        "source": "PPR" if preprint else "MED",
        **({} if preprint else {"pmid": str(number)}),
        "doi": f"10.1000/{number}",
        "title": f"Zinc {number}.",
        "authorString": "Smith J, Zinc Group.",
        "authorList": {
            "author": [{"fullName": "Smith J", "firstName": "Jo", "lastName": "Smith"}, {"collectiveName": "Zinc Group"}]
        },
        "journalInfo": {"yearOfPublication": 2019, "journal": {"title": "Lancet"}},
        "pubYear": "2019",
        "abstractText": ""
        if number == 7
        else f"<h4>Background</h4>Zinc was tried.<h4>Results</h4>It did not help {number} people.",
        "pubTypeList": {"pubType": ["Preprint" if preprint else "Journal Article"]},
        "meshHeadingList": {"meshHeading": [{"majorTopic_YN": "N", "descriptorName": "Zinc"}]},
    }
