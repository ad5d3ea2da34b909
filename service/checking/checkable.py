"""Whether a sentence makes a claim that papers can support or contradict: by not_claims.yaml and models of forms and roles.

"Zinc shortens colds" states something, "lung cancer causes" and "exercise induced asthma" only name it. Neither capitals nor a
full stop matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from counterpoint.nli.text.forms import load_form_model
from counterpoint.nli.text.roles import ROLES, is_report, load_role_model
from counterpoint.service.checking.citations import without_citations
from counterpoint.service.grounding.claims import MAX_CHARACTERS, drop_lead

KEYWORDS = 0.95
"""From this probability on, a text is certainly keywords; whatever is less certain might be a claim, and is taken for one."""
_NAMED = 0.65
"""From this probability on, a sentence of a text is a title, a heading or an entry of a list, and states nothing."""


def rate_keywords(text: str) -> float:
    """The probability that a text only names things, as keywords do, however it is introduced."""
    return load_form_model().score(drop_lead(text))["phrase"]


Reason = Literal[
    "heading", "question", "short", "long", "citation", "references", "text", "aim", "method", "research", "advice", "opinion",
    "pronoun", "fragment",
]  # fmt: skip
REASONS: tuple[Reason, ...] = get_args(Reason)

_PATTERNS = Path(__file__).parent / "not_claims.yaml"
_FEWEST = 3
"""The fewest words of a claim: "Aspirin reduces fever"."""
_METHOD, _METHOD_UNDER_METHODS = 0.8, 0.3
"""From this probability, a sentence counts as saying how something was done; the second applies in a methods section."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_QUESTION = re.compile(r"[?？؟][\"'”’»)\]\s]*$")
_STOP = re.compile(r"[.!…:;][\"'”’»)\]\s]*$")
_ASKS = re.compile(r"(?:how|why|what|when|where|who|which)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Patterns:
    reasons: tuple[tuple[Reason, re.Pattern[str]], ...]
    pronouns: re.Pattern[str]


def claim_in(sentence: str, section: str = "other", given: bool = False) -> tuple[str, Reason | None]:
    """The claim of a sentence and None, or "" and the reason why it makes none.

    `section` is the role of its section in a paper. A sentence `given` as a claim is refused only if it cannot be searched
    for, or is certainly only keywords.
    """
    patterns = _patterns()
    bare = without_citations(sentence)
    words = _WORD.findall(bare)
    if not words:
        return "", "citation" if re.search(r"\w", sentence) and bare != " ".join(sentence.split()) else "short"
    if len(bare) > MAX_CHARACTERS:
        return "", "long"
    if given:
        return (bare, None) if _QUESTION.search(bare) or rate_keywords(bare) < KEYWORDS else ("", "fragment")
    if _QUESTION.search(bare):
        return "", "question"
    if len(words) < _FEWEST:
        return "", "short"
    if _ASKS.match(bare) and not _STOP.search(bare):
        return "", "heading"
    claim = drop_lead(bare)
    for reason, pattern in patterns.reasons:
        if pattern.search(claim) or pattern.search(bare):
            return "", reason
    if _is_method(claim, section):
        return "", "method"
    if patterns.pronouns.search(claim):
        return "", "pronoun"
    if rate_keywords(claim) >= _NAMED or len(_WORD.findall(claim)) < _FEWEST or bare.endswith(":"):
        return "", "fragment"
    return claim, None


def _is_method(claim: str, section: str) -> bool:
    if is_report(claim) and section != "methods":
        return False
    share = float(load_role_model().score_text(claim)[ROLES.index("methods")])
    return share >= (_METHOD_UNDER_METHODS if section == "methods" else _METHOD)


@cache
def _patterns() -> _Patterns:
    data: dict[str, Any] = yaml.safe_load(_PATTERNS.read_text("utf-8"))

    def compile_any(several: list[str]) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{one})" for one in several), re.IGNORECASE)

    return _Patterns(
        tuple((reason, compile_any(data["reasons"][reason])) for reason in REASONS if reason in data["reasons"]),
        # A pattern that is written on several lines.
        re.compile(data["pronouns"].replace("\n", ""), re.IGNORECASE),
    )
