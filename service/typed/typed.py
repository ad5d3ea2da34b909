"""What was typed where a claim is expected, decided by rules; the API, the command line, MCP and the page all use this module.

No input is refused because of its kind: a wrong guess costs a click, not an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from generation.question import parse_question
from nli.text.sentences import sentence_spans
from retrieval.core.errors import BadInput
from retrieval.store.documents import Documents
from service.checking.checkable import is_statement
from service.checking.citations import CitedPaper, cited_in, without_citations
from service.grounding.claims import MAX_CHARACTERS, drop_lead
from service.typed.language import find_language

Kind = Literal["claim", "question", "keywords", "paper", "text", "language"]

_NUMBER = re.compile(r"\d{4,9}")
_OWN_ID = re.compile(r"[A-Za-z][\w.:-]*\d[\w.:-]*")
_STOP = re.compile(r"[.!…][\"'”’»)\]\s]*$")
_ASKS = re.compile(r"[?？؟;]?[?？؟][\"'”’»)\]\s]*$")
_DO = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|should|will|would)"
_INVERSION = re.compile(rf"^(?:{_DO}(?:n['’]t)?|cannot)\s+\w", re.IGNORECASE)
_WH = re.compile(rf"^(?:what|which|who|whom|whose|why|how|when|where)(?:\s+[\w-]+){{0,3}}?\s+{_DO}\b", re.IGNORECASE)
_SUBORDINATE = re.compile(r"^(?:when|where|how)\b[^,]*,", re.IGNORECASE)
_OPERATOR = re.compile(r"\b(?:AND|OR)\b|\[\w[\w /]*\]")
_FEWEST_SENTENCES, _LONGER_THAN_CLAIM = 3, 300


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed, on one line, and what it is taken for.

    `claim` is the statement to ground: the input itself, or what a yes-or-no question asks about, or "". `cited` is the paper
    that it names; `language` is the English name of a language other than English; `sentences` is the number of sentences.
    """

    kind: Kind
    text: str
    claim: str = ""
    cited: CitedPaper | None = None
    language: str = ""
    sentences: int = 1


def _never(_text: str) -> bool:
    """Leave a language as it was guessed."""
    return False


def read_typed(raw: str, store: Documents | None = None, is_english: Callable[[str], bool] = _never) -> Typed:
    """What was typed; with a `store`, a single word that is a document's id is taken for that document.

    `is_english` is asked about a text that seems to be in another language, and has the last word.
    """
    text = " ".join(raw.split())
    too_long = len(text) > MAX_CHARACTERS
    if not too_long and (citation := _name_paper(text, store)):
        return Typed("paper", text, cited=citation)
    count = len(sentence_spans(raw, 0, len(raw))) if len(text) > _LONGER_THAN_CLAIM else 1
    language = find_language(text)
    if language and not is_english(text):
        return Typed("language", text, text, language=language, sentences=count)
    if too_long or count >= _FEWEST_SENTENCES:
        return Typed("text", text, sentences=count)
    if _is_question(text):
        return Typed("question", text, _state(text))
    if _is_keywords(text):
        return Typed("keywords", text)
    return Typed("claim", text, text)


def refuse_keywords(text: str) -> None:
    """Raise `BadInput` for keywords, which have no verdict."""
    if read_typed(text).kind == "keywords":
        raise BadInput(say_no_claim(text))


def say_no_claim(text: str) -> str:
    """Why keywords have no verdict, and what to do, in one sentence."""
    return (
        f"“{text[:200]}” is no claim but keywords, so there is no verdict; write one sentence that can be true or false, with a "
        "verb such as “reduces”, “does” or “is”, or search for the words."
    )


def _name_paper(text: str, store: Documents | None) -> CitedPaper | None:
    """The one paper that the text names, or None if it has any other content."""
    if _NUMBER.fullmatch(text):
        return CitedPaper("pmid", text)
    if _OWN_ID.fullmatch(text) and store is not None and store.get(text):
        return CitedPaper("pmid", text)
    citations = cited_in(text)
    if len(citations) == 1 and not re.search(r"[^\W\d_]{3,}", without_citations(text).casefold().replace("doi", "")):
        return citations[0]
    return None


def _is_question(text: str) -> bool:
    if _ASKS.search(text):
        return True
    return not _STOP.search(text) and bool(_INVERSION.match(text) or (_WH.match(text) and not _SUBORDINATE.match(text)))


def _state(question: str) -> str:
    """What a yes-or-no question asks about, as a sentence; "" where no rule is sure of its English."""
    parse = parse_question(question if _ASKS.search(question) else f"{question}?")
    if parse is None or not parse.sound:
        return ""
    return f"{parse.claim[:1].upper()}{parse.claim[1:]}."


def _is_keywords(text: str) -> bool:
    """Whether a text has no verb that states something, or has search operators."""
    return bool(_OPERATOR.search(text) and not text.isupper()) or not is_statement(drop_lead(text))
