"""Titles that state a finding, the same titles reversed, and what an index's papers say of both.

A declarative title is a claim that its own paper makes, so it needs no label; reversed, it is a claim that its own paper
denies. Titles are reversed by negation, by the rules that make training data (`nli.training.turning`), and only where one
verb carries one finding: of "A lowers B and raises C" no single negation is the contrary.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections.abc import Sequence
from pathlib import Path

from counterpoint.eval.claims.reading import PaperClaim
from counterpoint.eval.claims.report import measure_claims
from counterpoint.eval.measures.report import Report
from counterpoint.generation.grammar import inflect
from counterpoint.nli.training.turning import has_finite_verb, negate
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.index import Documents
from counterpoint.service.grounding.ground import Grounder

FEWEST_WORDS, MOST_WORDS = 6, 25
_BATCH = 1000
_SUBTITLE = re.compile(r":\s|\s[-–—]{1,2}\s|--|—|(?<=[a-z)]{3})\.\s+(?=[A-Z])|;\s")
_NO_CLAIM = re.compile(r"\b(?:effects? of|evaluation|comparison|study|trial)\b", re.IGNORECASE)
_NOT_ONE = re.compile(r"\b(?:and|or|but|nor|that|which|who|whose|if|than|both|only|without|partly)\b", re.IGNORECASE)
"""Words by which a title may have two verbs, or say more than its verb."""
_DENIED = re.compile(r"\b(does|do|did) not (\w+)")


def statement(title: str) -> str | None:
    """The title as a sentence without brackets, subtitle and full stop, if it states a finding; else None."""
    text = " ".join(title.split()).rstrip(".")
    if text.startswith("["):
        text = text.removeprefix("[").removesuffix("]")
    text = _SUBTITLE.split(text, maxsplit=1)[0].strip().rstrip(" .")
    is_statement = FEWEST_WORDS <= len(text.split()) <= MOST_WORDS and not _NO_CLAIM.search(text) and not title.endswith("?")
    return f"{text}." if is_statement and has_finite_verb(text) else None


def turn_round(sentence: str) -> str | None:
    """A statement negated, or affirmed where it is negated; None where it may have more than one verb."""
    if _NOT_ONE.search(sentence):
        return None
    if denied := _DENIED.search(sentence):
        return f"{sentence[: denied.start()]}{inflect(denied[2], denied[1])}{sentence[denied.end() :]}"
    return negate(sentence)


def draw_titles(store: Documents, most: int, seed: int) -> list[tuple[str, str]]:
    """Up to `most` papers with an abstract and a declarative title: PMID and title as a sentence, in an order that depends only
    on seed and PMID."""
    # The heap's first item is the largest one kept, so most papers are rejected before their title is read.
    heap: list[tuple[int, str, str]] = []
    for batch in store.texts(_BATCH):
        for pmid, title, abstract in batch:
            place = -int.from_bytes(hashlib.sha256(f"{seed} {pmid}".encode()).digest())
            if not abstract or (len(heap) == most and place <= heap[0][0]):
                continue
            sentence = statement(title)
            if sentence:
                (heapq.heappush if len(heap) < most else heapq.heappushpop)(heap, (place, pmid, sentence))
    return [(pmid, sentence) for _, pmid, sentence in sorted(heap, reverse=True)]


def titles_as_claims(titles: Sequence[tuple[str, str]]) -> list[PaperClaim]:
    """Each title as a claim that its paper supports and, where a safe rule can reverse it, as one that its paper contradicts."""
    claims: list[PaperClaim] = []
    for pmid, sentence in titles:
        claims.append(PaperClaim(pmid, sentence, "support"))
        if other := turn_round(sentence):
            claims.append(PaperClaim(pmid, other, "contradict"))
    return claims


def measure_titles(grounder: Grounder, most: int, seed: int, work: Path) -> Report:
    """Measure which stance papers of the index are given on their own titles and on the reversed titles."""
    titles = draw_titles(grounder.index.store, most, seed)
    if not titles:
        raise BadInput(
            f"The index at {grounder.index.folder} contains no paper with an abstract and a title that states a finding, such as "
            "“Aspirin reduces fever in adults with influenza.”; name another index."
        )
    claims = titles_as_claims(titles)
    fewer = f" ({most} were asked for)" if len(titles) < most else ""
    title = f"Own titles of {format_count(len(titles), 'paper')}{fewer}, drawn with seed {seed}"
    turned = len(claims) - len(titles)
    note = (
        f"{turned} of them reversed, which their papers contradict; {len(titles) - turned} left out because no safe rule can "
        "reverse them."
    )
    return measure_claims(claims, title, [note], grounder, work)
