"""A small Python client: `Counterpoint("http://…").ground("…")`, typed by the API's own schemas."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from counterpoint.retrieval.core.addresses import clean_key, find_proxy
from counterpoint.retrieval.core.errors import CounterpointError
from counterpoint.service.answering.schemas import AnswerResponse
from counterpoint.service.calls.calls import Call, R
from counterpoint.service.calls.methods import Asking
from counterpoint.service.calls.schemas import HitOut, SearchResponse
from counterpoint.service.checking.schemas import CheckedText
from counterpoint.service.grounding.schemas import GroundResponse
from counterpoint.service.http.schemas import BatchResponse, LibraryList, LibraryOut
from counterpoint.service.memory.schemas import (
    AlertList,
    AlertOut,
    FeedbackOut,
    HistoryOut,
    HistoryPage,
    MemoryOut,
    Right,
    SavedList,
    SavedOut,
    SharedList,
    SharedOut,
    SharedResult,
)
from counterpoint.service.schemas import Problem


class CounterpointProblem(Exception):
    """The only error that this client raises: its text is a sentence, `status` the HTTP status (0 if no response came at all).

    `retry_after` is in seconds and is set when trying again may help.
    """

    def __init__(self, detail: str, status: int = 0, request_id: str = "", retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status, self.request_id, self.retry_after = status, request_id, retry_after


class Counterpoint(Asking):
    """A connection to a service; use it in a `with` block, or `close` it. Pass `http` to use your own httpx client.

    `library` is the id or the name of the one that is asked from now on; "" is the first, and all for what is remembered.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        key: str = "",
        timeout: float = 330.0,
        http: httpx.Client | None = None,
        library: str = "",
    ) -> None:
        # A transport of its own, since httpx would ask this machine's service through a proxy.
        transport = None if http else httpx.HTTPTransport(proxy=find_proxy(url))
        self._http = http or httpx.Client(base_url=url, timeout=timeout, transport=transport)
        self.library = library
        key = clean_key(key, "of the service")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def __enter__(self) -> Counterpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def libraries(self) -> list[LibraryOut]:
        """The libraries that you may ask."""
        return self._call(LibraryList, "GET", "/v1/libraries").libraries

    def ground_all(self, claims: Iterable[str]) -> BatchResponse:
        """Both sides of up to 100 claims, in order; an invalid claim gets a problem in place of a result."""
        return self._call(BatchResponse, "POST", "/v1/ground/batch", json={"claims": [{"claim": claim} for claim in claims]})

    def file(self, path: str | Path) -> CheckedText:
        """Check a file: DOCX, PDF with a text layer, CSV or TSV with a column `claim`, plain text, Markdown or HTML."""
        source = Path(path)
        try:
            content = source.read_bytes()
        except OSError as error:
            raise CounterpointProblem(f"{path} cannot be read ({error.strerror}); name a file that can.") from None
        return self.text(file=base64.b64encode(content).decode(), name=source.name)

    def search(self, query: str, page: int = 50) -> Iterator[HitOut]:
        """The papers that a query names, then those that contain its words, best first; `page` of them are fetched at a time."""
        cursor: str | None = ""
        while cursor is not None:
            response = self._call(SearchResponse, "GET", "/v1/search", params={"q": query, "limit": page, "cursor": cursor})
            yield from response.hits
            cursor = response.next_cursor

    def memory(self) -> MemoryOut:
        """How much the service remembers for you, and the address of your feed."""
        return self._call(MemoryOut, "GET", "/v1/memory")

    def forget(self) -> None:
        """Delete all that the service remembers for you."""
        self._send("DELETE", "/v1/memory")

    def history(self, page: int = 50) -> Iterator[HistoryOut]:
        """What you asked, newest first; `page` entries are fetched at a time."""
        cursor: str | None = ""
        while cursor is not None:
            response = self._call(HistoryPage, "GET", "/v1/history", params={"limit": page, "before": cursor})
            yield from response.entries
            cursor = response.next_before

    def history_entry(self, id: str) -> HistoryOut:
        """One entry, with what has changed since."""
        return self._call(HistoryOut, "GET", f"/v1/history/{quote(id, safe='')}")

    def delete_history(self, id: str = "") -> None:
        """Delete an entry, or without an id the whole history."""
        self._send("DELETE", f"/v1/history/{quote(id, safe='')}" if id else "/v1/history")

    def save(self, claim: str, question: str = "", known_pmids: Iterable[str | int] = (), note: str = "") -> SavedOut:
        """Ground a claim and save it with the result; it is watched from now on."""
        body = {"claim": claim, "question": question, "known_pmids": list(known_pmids), "note": note}
        return self._call(SavedOut, "POST", "/v1/saved", json=body)

    def saved(self) -> list[SavedOut]:
        """Your saved claims, newest first."""
        return self._call(SavedList, "GET", "/v1/saved").saved

    def delete_saved(self, id: str) -> None:
        """Delete a saved claim and its alerts."""
        self._send("DELETE", f"/v1/saved/{quote(id, safe='')}")

    def feedback(self, result: GroundResponse, pmid: str, right: Right, comment: str = "") -> FeedbackOut:
        """Say what a paper shown for a claim really says about it: support, contradict or neutral."""
        cards = [*result.contradicting, *result.supporting, *result.uncertain]
        card = next((one for one in cards if one.pmid == pmid), None)
        if card is None:
            raise CounterpointProblem(f"The result shows no document {pmid!r}; give the pmid of one that it shows.", 422)
        side = "uncertain" if card in result.uncertain else card.stance
        sentence = card.sentence.text if card.sentence else ""
        body = {"claim": result.claim.text, "question": result.claim.question, "pmid": pmid, "sentence": sentence}
        body |= {"shown": side, "right": right, "comment": comment}
        payload = {**body, "provenance": result.provenance.model_dump()}
        return self._call(FeedbackOut, "POST", "/v1/feedback", json=payload)

    def alerts(self, since: str = "") -> list[AlertOut]:
        """What changed for your saved claims, newest first; `since` is a date or time (UTC)."""
        return self._call(AlertList, "GET", "/v1/alerts", params={"since": since}).alerts

    def delete_alert(self, id: str) -> None:
        """Delete an alert."""
        self._send("DELETE", f"/v1/alerts/{quote(id, safe='')}")

    def share(self, result: GroundResponse | AnswerResponse | CheckedText, name: str = "") -> SharedOut:
        """Keep a result of this service as it is, for all who may see its library and are given its link; `name` is a text's."""
        return self._call(SharedOut, "POST", "/v1/shared", json={"result": result.model_dump(mode="json"), "name": name})

    def shared(self) -> list[SharedOut]:
        """What you share, newest first."""
        return self._call(SharedList, "GET", "/v1/shared").shared

    def shared_result(self, id: str) -> SharedResult:
        """A result that somebody shared, as it was."""
        return self._call(SharedResult, "GET", f"/v1/shared/{quote(id, safe='')}")

    def withdraw(self, id: str) -> None:
        """Take back a result that you shared."""
        self._send("DELETE", f"/v1/shared/{quote(id, safe='')}")

    def _ask(self, call: Call[..., Any, R], fields: dict[str, Any]) -> R:
        try:
            sent = call.model.of(**fields).model_dump(mode="json", exclude_unset=True)
        except CounterpointError as error:
            raise CounterpointProblem(str(error), 422) from None
        if call.method == "POST":
            return self._call(call.response, "POST", call.path, json=sent)
        return self._call(
            call.response, "GET", call.path.format(**{name: quote(str(one), safe="") for name, one in sent.items()})
        )

    def _call(self, model: type[R], method: str, path: str, **what: Any) -> R:
        try:
            return model.model_validate_json(self._send(method, path, **what).content)
        except ValidationError as error:
            raise CounterpointProblem(
                "The service sent a response that this client does not understand; install the service's version of counterpoint."
            ) from error

    def _send(self, method: str, path: str, **what: Any) -> httpx.Response:
        try:
            params = {**what.pop("params", {}), **({"library": self.library} if self.library else {})}
            response = self._http.request(method, path, headers=self._headers, params=params, **what)
        except httpx.HTTPError as error:
            raise CounterpointProblem(f"The service did not answer: {error or type(error).__name__}.") from error
        if response.is_success:
            return response
        raise _problem(response)


def _problem(response: httpx.Response) -> CounterpointProblem:
    delay = response.headers.get("retry-after", "")
    retry_after = int(delay) if delay.isascii() and delay.isdigit() else None
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        return CounterpointProblem(
            f"The service answered with status {response.status_code}.", response.status_code, "", retry_after
        )
    return CounterpointProblem(problem.detail, problem.status, problem.request_id, retry_after)
