"""Answers as the page gets them, made from the examples of the API's description, and examples that are kept with an index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from counterpoint.nli.judge import Abstract, Reading
from counterpoint.retrieval.core.values import Verdict
from counterpoint.retrieval.index import Index
from counterpoint.service.examples.finding import SAMPLED, Example, find_examples, find_statements
from counterpoint.service.examples.schemas import ExamplesResponse, keep_examples
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.http.reference.docs import example
from counterpoint.service.schemas import Provenance
from tests.helpers.fakes import WordReader, make_reading_grounder

DESIGNS = {
    "review": {"name": "review", "text": "a systematic review", "weight": 1.0, "strong": True},
    "trial": {"name": "trial", "text": "a randomised trial", "weight": 0.8, "strong": True},
    "animal": {"name": "animal", "text": "a study in animals or cells", "weight": 0.15, "strong": False},
    "cohort": {"name": "cohort", "text": "a cohort study", "weight": 0.6, "strong": False},
}


def make_paper(pmid: str, side: str, year: int | None, design: str, journal: str = "Lancet") -> dict[str, Any]:
    """A paper as an answer has it, on the side where it belongs."""
    found = example("ground")
    template = (found["contradicting"] or found["supporting"])[0]
    stance = side if side in ("contradict", "support") else "contradict"
    shares = {"contradict": 0.1, "neutral": 0.1, "support": 0.1, stance if side == stance else "neutral": 0.8}
    verdict = {**template["verdict"], **shares, "of": "document", "label": stance if side == stance else "neutral"}
    return {
        **template, "rank": 1, "pmid": pmid, "title": f"Paper {pmid}", "year": year, "journal": journal, "types": [],
        "retracted": False,
        "design": DESIGNS[design], "subjects": "animals" if design == "animal" else "humans", "stance": stance, "side": side,
        "score": shares[stance], "verdict": verdict, "qualifiers": [], "negations": [],
    }  # fmt: skip


def make_grounding(papers: list[dict[str, Any]], says: str = "Most evidence found contradicts this claim.") -> dict[str, Any]:
    """The answer of the service with these papers, at most three of them in a list, the rest in `more`."""
    lists: dict[str, list[dict[str, Any]]] = {"contradicting": [], "supporting": [], "uncertain": [], "silent": [], "more": []}
    names = {"contradict": "contradicting", "support": "supporting", "uncertain": "uncertain", "silent": "silent"}
    tallies = {kind: dict.fromkeys(names, 0.0) for kind in ("papers", "weights", "strong")}
    for paper in papers:
        name = names[paper["side"]]
        lists["more" if len(lists[name]) == 3 and name != "silent" else name].append(paper)
        if not paper["retracted"]:
            tallies["papers"][paper["side"]] += 1
            tallies["weights"][paper["side"]] += paper["design"]["weight"]
            tallies["strong"][paper["side"]] += paper["design"]["strong"]
    against, for_it = tallies["weights"]["contradict"], tallies["weights"]["support"]
    weighed = {
        "outcome": "contradict" if against > for_it else "support", "certainty": 0.7, "word": "probable", "text": says,
        "detail": f"Of {len(papers)} papers read, some do.",
        **tallies, "retracted": sum(one["retracted"] for one in papers),
    }  # fmt: skip
    return {**example("ground"), **lists, "weighed": weighed}


class SureReader(WordReader):
    """Reads as `WordReader` does, with a probability of 0.95, or what the title ends in: "… sure 0.85".

    A paper without the claim's first word says nothing.
    """

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        for document in documents:
            (reading,) = super().read_abstracts(claim, [document])
            sure = float(document.title.partition(" sure ")[2] or 0.95)
            rest = (1 - sure) / 2
            about = claim.split()[0].lower() in f"{document.title} {' '.join(document.sentences)}".lower()
            label = reading.document.label if about else "neutral"
            shares = {"support": (sure, rest, rest), "neutral": (rest, sure, rest), "contradict": (rest, rest, sure)}
            yield Reading(Verdict(*shares[label]), reading.sentences)


def find_in(index: Index) -> tuple[Example, ...]:
    """The examples of an index, by the sure reader."""
    return find_examples(make_reading_grounder(index, SureReader()), find_statements(index.store.sample(SAMPLED)))


def keep_in(index: Index, version: int = 1) -> Grounder:
    """Keep the examples of an index with it, as of a version of it; the grounder that they were made with."""
    grounder = make_reading_grounder(index, SureReader())
    made_with = Provenance.of(grounder)
    keep_examples(index.folder, version, ExamplesResponse.of(find_in(index), made_with), made_with)
    return grounder
