"""What was typed where a claim is expected; the API, the command line, MCP and the page all use this module.

Only what is surely keywords is refused (nli.text.forms): a wrong guess costs a click, not an answer. py3langid finds other
languages; its model comes with its package. Of 11,133 English claims, questions and titles, none is taken for another; of
72 claims in 25 other languages, 70 are recognised (docs/measurements.md; tests/service/queries).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from counterpoint.generation.question import Choice, YesNoQuestion, parse_choice, parse_question
from counterpoint.nli.text.forms import load_form_model
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.index import Documents
from counterpoint.retrieval.words.forms import capitalise
from counterpoint.service.checking.checkable import KEYWORDS
from counterpoint.service.checking.citations import CitedPaper, list_ids
from counterpoint.service.grounding.claims import MAX_CHARACTERS, drop_lead

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier


LANGUAGES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch",
    "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian",
    "sr": "Serbian", "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
"""The languages considered: few enough that Latin names do not make English look like a language that nobody writes here."""
_ENGLISH = 0.02
"""From this probability on, a text may be English: one wrong letter makes "betacarotine" look Romanian, but not surely so."""
_FEWEST_WORDS = 3
_MOST_READ = 2000
_WORD = re.compile(r"[^\W\d_]{2,}")
_OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u024f\u0370-\u03ff\u1e00-\u1eff]")
"""Letters that are neither Latin nor Greek; Greek letters occur in English claims."""


def find_language(text: str) -> str:
    """The English name of the other language that a text is in; "" for English and for what is too short to tell."""
    if len(_WORD.findall(text)) < _FEWEST_WORDS and not _OTHER_SCRIPT.search(text):
        return ""
    shares = {code: float(share) for code, share in _load().rank(text[:_MOST_READ])}
    return "" if shares["en"] >= _ENGLISH else LANGUAGES[max(shares, key=shares.__getitem__)]


@cache
def _load() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(LANGUAGES))
    return identifier


Kind = Literal["claim", "question", "keywords", "paper", "text", "language"]

_STOP = re.compile(r"[.!…][\"'”’»)\]\s]*$")
_ASKS = re.compile(r"[?？؟;]?[?？؟][\"'”’»)\]\s]*$")
_FEWEST_SENTENCES, _LONGER_THAN_CLAIM = 3, 300


@dataclass(frozen=True, slots=True)
class Query:
    """What was typed, on one line, and what it is taken for.

    `claim` is the statement to ground: the input itself, or what a yes-or-no question asks about, or "". `cited` is the paper
    that it names; `language` is the English name of a language other than English; `sentences` is the number of sentences;
    `unsure` says that a claim looks more like keywords. Of a `choice`, the claim is that of its first side.
    """

    kind: Kind
    text: str
    claim: str = ""
    cited: CitedPaper | None = None
    language: str = ""
    sentences: int = 1
    choice: Choice | None = None
    unsure: bool = False


def classify_query(raw: str, store: Documents | None = None) -> Query:
    """What was typed; with a `store`, a single word that is a document's id is taken for that document."""
    text = " ".join(raw.split())
    too_long = len(text) > MAX_CHARACTERS
    ids, alone = ((), False) if too_long else list_ids(text, store)
    if alone and len(ids) == 1:
        return Query("paper", text, cited=ids[0])
    count = len(sentence_spans(raw, 0, len(raw))) if len(text) > _LONGER_THAN_CLAIM else 1
    if language := find_language(text):
        return Query("language", text, text, language=language, sentences=count)
    if too_long or count >= _FEWEST_SENTENCES:
        return Query("text", text, sentences=count)
    form = load_form_model().score(drop_lead(text))
    if _ASKS.search(text) or (not _STOP.search(text) and form["question"] > max(form["statement"], form["phrase"])):
        choice = parse_choice(text)
        return Query("question", text, _state(choice.claims[0] if choice else _parse(text)), choice=choice)
    if form["phrase"] >= KEYWORDS:
        return Query("keywords", text)
    return Query("claim", text, text, unsure=form["phrase"] > form["statement"])


def refuse_keywords(text: str) -> None:
    """Raise `BadInput` for keywords, which have no verdict."""
    if classify_query(text).kind == "keywords":
        raise BadInput(say_no_claim(text))


def say_no_claim(text: str) -> str:
    """Why keywords have no verdict, and what to do, in one sentence."""
    return (
        f"“{text[:200]}” is no claim but keywords, so there is no verdict; write one sentence that can be true or false, with a "
        "verb such as “reduces”, “does” or “is”, or search for the words."
    )


def _parse(question: str) -> YesNoQuestion | None:
    return parse_question(question if _ASKS.search(question) else f"{question}?")


def _state(asked: YesNoQuestion | None) -> str:
    """What is asked, as a sentence; "" where no rule is sure of its English."""
    return f"{capitalise(asked.claim)}." if asked and asked.sound else ""
