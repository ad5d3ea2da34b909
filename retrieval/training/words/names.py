"""Make the list of names behind `retrieval.words.names`: `python -m retrieval.training.words.names --data DIR --claims DIR`.

A term is a name if it often stands in the titles of the papers that contain it, and if the papers of the claims that contain it
hardly ever lack it. Titles tell names from technical words ("pathway", "preoperative"), claims in people's own words tell them
from everyday ones ("painkiller", "slip").
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrieval.core.characters import fold_accents
from retrieval.store.manifest import write_atomically
from retrieval.training.command import return_exit_code
from retrieval.training.data import read_reserved_pmids, read_rows
from retrieval.training.folds import is_held_out
from retrieval.training.questions import Relevant, read_ordinary, read_scifact
from retrieval.words.names import NAMES_FILE, find_missing
from retrieval.words.terms import split_terms

MOST_PAPERS, FEWEST_PAPERS = 0.08, 6
"""The largest share of all papers that may contain a name, and the fewest papers of one that no claim contains."""
TITLES, NAMED = 0.25, 0.94
"""The least share of a term's papers that have it in their titles, and of its claims' papers that contain it."""
PRIOR = 4
"""Claims whose paper contains the term that are counted on top: one miss in a dozen claims may be chance."""
TESTED, TESTED_TITLES, TESTED_NAMED = 20, 0.2, 0.96
"""A term of at least so many claims may stand in fewer titles if more of its claims' papers contain it."""
_HEADER = "# Words that a paper on a claim names if the claim does, stemmed; made by python -m retrieval.training.words.names.\n"


@dataclass(frozen=True, slots=True)
class TitleTerm:
    """How many papers contain a term, and the share of these that have it in their titles."""

    papers: int
    share: float


def measure_titles(papers: Iterable[tuple[str, str]]) -> dict[str, TitleTerm]:
    """The terms of papers, each given as (title, abstract), but for those too common to be names or found in one paper only."""
    counts, in_titles, total = Counter[str](), Counter[str](), 0
    for title, abstract in papers:
        terms = set(split_terms(fold_accents(title)))
        in_titles.update(terms)
        counts.update(terms | set(split_terms(fold_accents(abstract))))
        total += 1
    # Smoothed: of a term of few papers, a high share may be chance.
    return {
        term: TitleTerm(count, (in_titles[term] + 0.3) / (count + 1.5))
        for term, count in counts.items()
        if 2 <= count <= MOST_PAPERS * total
    }


def choose_names(found: Mapping[str, TitleTerm], pairs: Iterable[Relevant]) -> set[str]:
    """The names among the terms found in papers; `pairs` are claims with their papers.

    A term that no claim contains is a name if it stands in the titles of enough papers.
    """
    terms = {term for term, one in found.items() if one.share >= TESTED_TITLES and len(term) > 2 and not term[0].isdigit()}
    used, lacking = Counter[str](), Counter[str]()
    for pair in pairs:
        claim = fold_accents(pair.query)
        of_claim = terms.intersection(split_terms(claim))
        used.update(of_claim)
        lacking.update(find_missing(of_claim, claim, pair.passage))

    def is_name(term: str) -> bool:
        if not used[term]:
            return found[term].share >= TITLES and found[term].papers >= FEWEST_PAPERS
        if found[term].share >= TITLES and lacking[term] <= (1 - NAMED) * (used[term] + PRIOR):
            return True
        return used[term] >= TESTED and lacking[term] <= (1 - TESTED_NAMED) * used[term]

    return {term for term in terms if is_name(term)}


def read_papers(folder: Path) -> Iterator[tuple[str, str]]:
    """(title, abstract) of SciFact's corpus and of PubMed's papers without the reserved and the held-out ones."""
    reserved = read_reserved_pmids(folder)
    for record in read_rows(folder, "pubmed/abstracts.jsonl.gz"):
        if str(record["pmid"]) not in reserved and not is_held_out(str(record["pmid"])):
            yield record["title"] or "", " ".join(record["abstract"])
    for row in read_rows(folder, "scifact/corpus.jsonl.gz"):
        yield row["title"], " ".join(row["abstract"])


def read_pairs(folder: Path, claims: Path) -> Iterator[Relevant]:
    """Claims and their papers: those in people's own words, and SciFact's training claims, without the held-out fold, with their
    evidence."""
    yield from read_ordinary(folder, claims, sys.maxsize, random.Random(0))
    evidence = {(row["claim"], doc) for row in read_rows(folder, "scifact/claims_train.jsonl.gz") for doc in row["evidence"]}
    for pair in read_scifact(folder):
        if (pair.query, pair.key.removeprefix("scifact ")) in evidence:
            yield pair


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the list; 2 where the data folder cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m retrieval.training.words.names", description="Make the list of names.")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--claims", type=Path, required=True, help="claims of our own: nli/training/reader/claims.jsonl")
    parser.add_argument("--out", type=Path, default=NAMES_FILE, help="where to write the list")
    options = parser.parse_args(arguments)
    names = choose_names(measure_titles(read_papers(options.data)), read_pairs(options.data, options.claims))
    write_atomically(options.out, _HEADER + "".join(f"{term}\n" for term in sorted(names)))
    print(f"{len(names):,} names in {options.out}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
