"""A small Python client: `Counterpoint("http://…").ground("…")`, typed by the API's own schemas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from service.answering.schemas import AnswerResponse
from service.checking.schemas import CheckedText
from service.grounding.schemas import Problem
from service.http.schemas import BatchResponse, DocumentOut, HitOut, SearchResponse
from service.reading.schemas import EvidenceResponse
from service.typed.schemas import TypedGroundResponse, TypedOut

_Response = TypeVar("_Response", bound=BaseModel)


class CounterpointProblem(Exception):
    """The one error of this client: its text is a sentence, `status` the HTTP status (0: no answer came at all).

    `retry_after` is in seconds, where trying again helps.
    """

    def __init__(self, detail: str, status: int = 0, request_id: str = "", retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status, self.request_id, self.retry_after = status, request_id, retry_after


class Counterpoint:
    """A connection to a service; use it in a `with` block, or `close` it. `http` brings an httpx client of your own."""

    def __init__(
        self, url: str = "http://127.0.0.1:8000", key: str = "", timeout: float = 330.0, http: httpx.Client | None = None
    ) -> None:
        self._http = http or httpx.Client(base_url=url, timeout=timeout)
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def __enter__(self) -> Counterpoint:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def ground(self, claim: str, question: str = "", known_pmids: Iterable[str | int] = ()) -> TypedGroundResponse:
        """Both sides of a claim; `typed` says what it was taken for."""
        body = {"claim": claim, "question": question, "known_pmids": list(known_pmids)}
        return self._call(TypedGroundResponse, "POST", "/v1/ground", json=body)

    def ground_all(self, claims: Iterable[str]) -> BatchResponse:
        """Both sides of up to 100 claims, in order; a claim at fault has its problem there."""
        return self._call(BatchResponse, "POST", "/v1/ground/batch", json={"claims": [{"claim": claim} for claim in claims]})

    def answer(self, question: str, narrative: str = "", topic: str = "", id: str = "") -> AnswerResponse:
        """A short answer that begins with its lead, every citation with what was checked of it."""
        body = {"question": question, "narrative": narrative, "topic": topic, "id": id}
        return self._call(AnswerResponse, "POST", "/v1/answer", json=body)

    def evidence(
        self,
        hypothesis: str,
        sentences: Sequence[str] | None = None,
        text: str | None = None,
        jats: str | None = None,
        k: int = 5,
        results_only: bool = False,
    ) -> EvidenceResponse:
        """The `k` sentences of one paper that together carry the most evidence; the paper is given in one of its three forms."""
        paper = {"sentences": None if sentences is None else [*sentences], "text": text, "jats": jats}
        body = {"hypothesis": hypothesis, **paper, "k": k, "results_only": results_only}
        return self._call(EvidenceResponse, "POST", "/v1/evidence", json=body)

    def text(self, text: str) -> CheckedText:
        """A text (plain or Markdown, at most 100 claims) with the verdict on each of its sentences."""
        return self._call(CheckedText, "POST", "/v1/text", json={"text": text})

    def typed(self, text: str) -> TypedOut:
        """What a text is: a claim, a question, keywords, a paper, a whole text or another language."""
        return self._call(TypedOut, "POST", "/v1/typed", json={"text": text})

    def document(self, pmid: str | int) -> DocumentOut:
        """A document with the boundaries of its sentences."""
        return self._call(DocumentOut, "GET", f"/v1/documents/{quote(str(pmid), safe='')}")

    def search(self, query: str, page: int = 50) -> Iterator[HitOut]:
        """The documents that hold these words, best first; `page` of them are fetched at a time."""
        cursor: str | None = ""
        while cursor is not None:
            found = self._call(SearchResponse, "GET", "/v1/search", params={"q": query, "limit": page, "cursor": cursor})
            yield from found.hits
            cursor = found.next_cursor

    def _call(self, model: type[_Response], method: str, path: str, **what: Any) -> _Response:
        try:
            response = self._http.request(method, path, headers=self._headers, **what)
            if response.is_success:
                return model.model_validate_json(response.content)
        except httpx.HTTPError as error:
            raise CounterpointProblem(f"The service did not answer: {error or type(error).__name__}.") from error
        except ValidationError as error:
            raise CounterpointProblem(
                "The service sent a response that this client does not understand; install the service's version of counterpoint."
            ) from error
        raise _problem(response)


def _problem(response: httpx.Response) -> CounterpointProblem:
    after = response.headers.get("retry-after", "")
    retry_after = int(after) if after.isascii() and after.isdigit() else None
    try:
        told = Problem.model_validate_json(response.content)
    except ValidationError:
        return CounterpointProblem(
            f"The service answered with status {response.status_code}.", response.status_code, "", retry_after
        )
    return CounterpointProblem(told.detail, told.status, told.request_id, retry_after)
