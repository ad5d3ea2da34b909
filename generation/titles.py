"""From the title of a paper to what it asks, in words that can be asked again.

"Zetapril for the prevention of stroke: a trial" asks "Does zetapril prevent stroke?", by patterns (generation/titles.txt). A
title that is a question itself is taken as it is.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from counterpoint.generation.choice import agree
from counterpoint.generation.grammar import AUXILIARIES
from counterpoint.generation.question import parse_question
from counterpoint.retrieval.core.word_list import read_sections
from counterpoint.retrieval.words.forms import capitalise

_TITLES = Path(__file__).with_name("titles.txt")
_STUDY = re.compile(
    r"^(?:(?:an?|the|results of|findings from) )*(?:(?:[\w-]+(?:ed|al|ive|blind|center|centre|group|arm|over|term|label|pilot"
    r"|phase|[ivx\d]+),?|and) )*(?:trial|study|evaluation|assessment) of (?:the )?",
    re.IGNORECASE,
)
"""What leads to the subject of a study: "A randomised, placebo-controlled trial of"."""
_SUBTITLE = re.compile(r"\s*(?::|\.\s|;|\s[-–—]\s|,? an? (?:[\w-]+ )*(?:trial|study|review|meta-analysis)\b).*$", re.IGNORECASE)
_UNSAID = re.compile(
    r"[\[\]();/]|\b(?:or|stud(?:y|ies)|trials?|reviews?|meta-analys[ie]s|guidelines?|recommendations?|protocols?|cases?|reports?"
    r"|update|current|new|newer|novel|future|role|this|these|that|its?|their|his|our|we|you|versus|vs|perspectives?|implications?"
    r"|evaluation|experience|approach(?:es)?|strateg(?:y|ies)|research|evidence|results?|analys[ie]s|models?|effects?|efficacy"
    r"|effectiveness|safety|tolerability|usefulness"
    r"|\d[\d,]* (?:[\w-]+ )*(?:patients|subjects|people|adults|women|men|children))\b"
    r"|^(?!.*better than).*\bcompar",
    re.IGNORECASE,
)
"""Words by which a title is about papers or their patients, or cannot be understood alone."""
_WORD = re.compile(r"[^\W\d_][^\W_]*(?:['’][^\W_]+)*")
_WITHIN = re.compile(rf"(?<=[a-z,] ){_WORD.pattern}|(?<=-){_WORD.pattern}")
"""The words of a text that begin no sentence."""
_HEAD = re.compile(r" (?:of|with|in|for|from|to|on|at|by|plus|during|after|before|as)\b")
"""What follows the noun that a verb agrees with."""
_FEWEST, _MOST = 4, 20
"""Words of a question."""


def ask_title(title: str, abstract: str) -> str:
    """The yes-or-no question of a title; "" where no rule is sure. The abstract shows which words have their capital always."""
    text = " ".join(title.split()).strip(" .[]")
    text = _restore_case(text, abstract)
    asked = _ask_as_written(text) if "?" in text else _ask_by_pattern(text)
    parsed = parse_question(asked) if asked else None
    fits = parsed and parsed.sound and _FEWEST <= len(asked.split()) <= _MOST and not _UNSAID.search(asked)
    return asked if fits else ""


def _ask_as_written(text: str) -> str:
    asked = f"{text[: text.index('?')]}?"
    return capitalise(asked) if asked.split()[0].lower() in AUXILIARIES and ":" not in asked else ""


def _ask_by_pattern(text: str) -> str:
    head = _STUDY.sub("", _SUBTITLE.sub("", text))
    for pattern, question in _load_titles():
        if match := pattern.fullmatch(head):
            subject = _HEAD.split(match["x"], maxsplit=1)[0].split()
            if not AUXILIARIES.isdisjoint(match["x"].lower().split()):
                return ""
            if "better than" in question and len(subject) < len(match["x"].split()):
                return ""  # "toxicity of zetapril versus etapril" compares drugs, not toxicity
            said = question.format(**match.groupdict(), **{"is": agree("is", subject), "does": agree("does", subject)})
            return capitalise(said)
    return ""


def _restore_case(title: str, abstract: str) -> str:
    """A title without the capitals that only titles give: of a word that the abstract, within its sentences, writes without."""
    within, long = {*_WITHIN.findall(abstract)}, [word for word in _WORD.findall(title) if len(word) > 3]
    # Where most words have a capital, it says nothing.
    capitals = sum(word[:1].isupper() for word in long) > len(long) / 2

    def restore(match: re.Match[str]) -> str:
        word, low = match[0], match[0].lower()
        only_first = word[:1].isupper() and word[1:] == low[1:]
        said = word in within and low not in within
        return low if only_first and not said and (capitals or low in within or not match.start()) else word

    return _WORD.sub(restore, title)


@cache
def _load_titles() -> tuple[tuple[re.Pattern[str], str], ...]:
    lines = (line.rsplit(" | ", 1) for line in read_sections(_TITLES)["titles"])
    return tuple((re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE), question) for pattern, question in lines)
