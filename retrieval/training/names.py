"""Make the list of names behind `retrieval.words.names`: `python -m retrieval.training.names --data DIR --claims DIR`.

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
from pathlib import Path

from retrieval.training.command import return_exit_code
from retrieval.training.data import read_reserved_pmids, read_rows
from retrieval.training.folds import is_held_out
from retrieval.training.questions import Relevant, read_ordinary, read_scifact
from retrieval.words.lay import expand
from retrieval.words.lexical import split_terms
from retrieval.words.names import NAMES, contains_relative
from retrieval.words.synonyms import find_shared_terms

MOST_PAPERS = 0.08
"""The largest share of all papers that may contain a name."""
TITLES, NAMED = 0.25, 0.94
"""The least share of a term's papers that have it in their titles, and of its claims' papers that contain it."""
PRIOR = 4
"""Claims whose paper contains the term that are counted on top for every term: most are in few claims."""
TESTED, TESTED_TITLES, TESTED_NAMED = 20, 0.2, 0.96
"""A term of at least so many claims may stand in fewer titles if more of its claims' papers contain it."""
_HEADER = "# Words that a paper on a claim names if the claim does, stemmed; made by python -m retrieval.training.names.\n"


def measure_titles(papers: Iterable[tuple[str, str]]) -> dict[str, float]:
    """For each term, the share of the papers with it that have it in their titles, from (title, abstract) of each paper.

    Terms that are too common to be names, or occur in one paper only, are left out.
    """
    counts, in_titles, total = Counter[str](), Counter[str](), 0
    for title, abstract in papers:
        terms = set(split_terms(title))
        in_titles.update(terms)
        counts.update(terms | set(split_terms(abstract)))
        total += 1
    # Of a term of few papers, a share of a quarter may be chance.
    return {term: (in_titles[term] + 0.3) / (count + 1.5) for term, count in counts.items() if 2 <= count <= MOST_PAPERS * total}


def choose_names(shares: Mapping[str, float], pairs: Iterable[Relevant]) -> set[str]:
    """The names among the terms of `shares`, the share of titles of each; `pairs` are claims with their papers."""
    terms = {term for term, share in shares.items() if share >= TESTED_TITLES and len(term) > 1 and not term[0].isdigit()}
    used, lacking = Counter[str](), Counter[str]()
    for pair in pairs:
        found = terms.intersection(split_terms(pair.query))
        used.update(found)
        text = expand(pair.passage)
        if missing := found - find_shared_terms(pair.query, text):
            words = set(split_terms(text))
            lacking.update(term for term in missing if not contains_relative(term, words))

    def is_name(term: str) -> bool:
        if shares[term] >= TITLES and lacking[term] <= (1 - NAMED) * (used[term] + PRIOR):
            return True
        return used[term] >= TESTED and lacking[term] <= (1 - TESTED_NAMED) * used[term]

    return {term for term in terms if is_name(term)}


def read_papers(folder: Path) -> Iterator[tuple[str, str]]:
    """(title, abstract) of SciFact's corpus and of the PubMed papers that nothing is measured on."""
    reserved = read_reserved_pmids(folder)
    for record in read_rows(folder, "pubmed/abstracts.jsonl.gz"):
        if str(record["pmid"]) not in reserved and not is_held_out(str(record["pmid"])):
            yield record["title"] or "", " ".join(record["abstract"])
    for row in read_rows(folder, "scifact/corpus.jsonl.gz"):
        yield row["title"], " ".join(row["abstract"])


def read_pairs(folder: Path, claims: Path) -> Iterator[Relevant]:
    """Claims and their papers: those in people's own words, and the evidence of SciFact's training claims."""
    yield from read_ordinary(folder, claims, sys.maxsize, random.Random(0))
    yield from read_scifact_evidence(folder)


def read_scifact_evidence(folder: Path) -> Iterator[Relevant]:
    """SciFact's training claims and the papers that support or contradict them."""
    evidence = {row["claim"]: set(row["evidence"]) for row in read_rows(folder, "scifact/claims_train.jsonl.gz")}
    for pair in read_scifact(folder):
        if pair.key.removeprefix("scifact ") in evidence[pair.query]:
            yield pair


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the list; 2 where the data folder cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m retrieval.training.names", description="Make the list of names.")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--claims", type=Path, required=True, help="the folder of claims of our own (nli/training/reader/claims)")
    parser.add_argument("--out", type=Path, default=NAMES, help="where to write the list")
    options = parser.parse_args(arguments)
    shares = measure_titles(read_papers(options.data))
    names = choose_names(shares, read_pairs(options.data, options.claims))
    options.out.write_text(_HEADER + "".join(f"{term}\n" for term in sorted(names)), "utf-8")
    print(f"{len(names):,} names in {options.out}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
