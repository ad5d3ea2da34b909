"""The two measurements: claims of a file, and the titles of an index."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.claims.baseline import ClaimOnly
from eval.claims.outcomes import ClaimOutcome, Outcome, ground_claims
from eval.claims.reading import PaperClaim
from eval.claims.report import ClaimsProvenance, ClaimsReport, Grouping, count_others, failures
from eval.claims.titles import TURNINGS, statement, turn_round
from retrieval.core.errors import BadInput, BadRecord
from retrieval.core.values import LABELS, Label
from retrieval.store.documents import Documents
from service.grounding.ground import Grounder

OWN, TURNED = "own title", "turned round"
_WORDS: Mapping[Label, Mapping[Outcome, str]] = {
    "support": {"right": "supported", "wrong": "contradicted", "unsure": "unsure", "absent": "absent"},
    "contradict": {"right": "contradicted", "wrong": "supported", "unsure": "unsure", "absent": "absent"},
}
_BATCH = 1000


def check_held(claims: Sequence[PaperClaim], store: Documents, path: Path, index: Path) -> None:
    """Raise `BadInput` where a claim of `path` is about a paper that the index lacks."""
    pmids = store.holds(list(dict.fromkeys(one.pmid for one in claims)))
    lacking = [one for one in claims if one.pmid not in pmids]
    if lacking:
        others = len({one.pmid for one in lacking}) - 1
        more = f" (and {others} more PMIDs that are not in it)" if others else ""
        hint = f"expected the PMID of a paper in the index at {index}, got {lacking[0].pmid}{more}."
        raise BadRecord(path, f"line {lacking[0].line}", hint)


def measure_claims(
    claims: Sequence[PaperClaim], path: Path, grounder: Grounder, work: Path, command: str, baseline: ClaimOnly | None = None
) -> ClaimsReport:
    """Measure the claims of the file at `path` by stance and by kind, with the baseline beside them where one was trained."""
    outcomes = ground_claims(claims, grounder, work)
    grouping = Grouping(outcomes, baseline.support if baseline else None)
    stances = [one for one in LABELS if one != "neutral" or any(claim.stance == one for claim in claims)]
    groups = [grouping.group("all claims"), *(grouping.group(stance, stance=stance) for stance in stances)]
    groups += [grouping.group(kind, kind=kind) for kind in dict.fromkeys(one.kind for one in claims if one.kind)]
    notes = [count_others(outcomes)]
    if baseline:
        groups.append(grouping.group("baseline fails", papers=grouping.misled()))
        exclusion = f", {baseline.left_out} about papers measured here left out" if baseline.left_out else ""
        notes.append(f"Claim alone: a bag of words trained on {baseline.trained_on} claims of {baseline.file}{exclusion}.")
    title = f"{path.name}: {len(claims)} claims about {groups[0].papers} papers"
    return ClaimsReport(title, tuple(notes), tuple(groups), failures(outcomes), ClaimsProvenance.by(grounder, command))


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
    for number, (pmid, sentence) in enumerate(titles):
        claims.append(PaperClaim(pmid, sentence, "support", OWN))
        other = turn_round(sentence, first=TURNINGS[number % 2])
        if other:
            claims.append(PaperClaim(pmid, other.text, "contradict", other.how))
    return claims


def measure_titles(grounder: Grounder, most: int, seed: int, work: Path, command: str) -> ClaimsReport:
    """Measure which stance papers of the index are given on their own titles and on the reversed titles."""
    titles = draw_titles(grounder.index.store, most, seed)
    if not titles:
        raise BadInput(
            f"The index at {grounder.index.folder} contains no paper with an abstract and a title that states a finding, such as "
            "“Aspirin reduces fever in adults with influenza.”; name another index."
        )
    claims = titles_as_claims(titles)
    outcomes = ground_claims(claims, grounder, work)
    grouping = Grouping(outcomes)

    def words(one: ClaimOutcome) -> str:
        return f"{OWN if one.claim.stance == 'support' else TURNED}, {_WORDS[one.claim.stance][one.outcome]}"

    groups = [
        grouping.group(OWN, stance="support", words=_WORDS["support"]),
        grouping.group(TURNED, stance="contradict", words=_WORDS["contradict"]),
        *(grouping.group(f"by {turning}", kind=turning, words=_WORDS["contradict"]) for turning in TURNINGS),
        grouping.group("both"),
    ]
    fewer = f" ({most} were asked for)" if len(titles) < most else ""
    title = f"Own titles of {len(titles)} papers{fewer}, drawn with seed {seed}"
    rest = len(titles) - groups[1].claims
    notes = (
        f"{groups[1].claims} of them reversed; {rest} left out because no safe rule can reverse them.",
        count_others(outcomes),
    )
    return ClaimsReport(title, notes, tuple(groups), failures(outcomes, words), ClaimsProvenance.by(grounder, command))
