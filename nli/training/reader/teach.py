"""What the large reader thinks of papers that a search finds, for the small one to learn: `python -m nli.training.reader.teach`.

Claims of our own are paired with the papers that BM25 finds for them among the abstracts that may be trained on; the teacher
reads each whole. The
calibrated probabilities of support, neither and contradiction are kept in a journal, from which a stopped run resumes.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from tqdm import tqdm

from nli.judge import Abstract, drop_question
from nli.reader.judge import LARGE, DocumentReader
from nli.training.reader.cases import state
from nli.training.reader.examples import CLAIMS, read_literature, read_papers
from nli.training.reader.lesson import Lesson
from retrieval.store.journal import Journal
from retrieval.training.bm25 import TextIndex
from retrieval.training.command import return_exit_code
from retrieval.training.data import read_lines

FOUND = 12
"""How deep is searched for a claim; three of these papers are read: a search returns what a gate has to choose from."""
READ = 3


def read_claims(folder: Path) -> list[str]:
    """The true and false claims of `claims/*.jsonl`, each once."""
    return sorted({state(line[name]) for line in read_lines(folder) for name in ("true", "false")})


def draw_pairs(data: Path, claims: Sequence[str], most: int, seed: int) -> Iterator[tuple[str, str, Abstract]]:
    """At most `most` pairs (claim, name, paper) with papers that may be trained on, in random order of claims."""
    rng, papers = random.Random(seed), [one for one in read_literature(data) if one[2]]
    index = TextIndex([f"{title} {' '.join(sentences)}" for _, title, sentences in papers])
    for claim in rng.sample(claims, min(-(-most // READ), len(claims))):
        hits = index.top(claim, FOUND)
        for row in rng.sample(hits, min(READ, len(hits))):
            name, title, sentences = papers[row]
            yield claim, name, Abstract(drop_question(title), tuple(sentences))


def make_key(name: str, claim: str) -> str:
    """The key of a pair in the journal: no paper's name has a tab."""
    return f"{name}\t{claim}"


def read_shares(teacher: DocumentReader, claim: str, paper: Abstract) -> list[float]:
    """[support, neither, contradiction]: what the teacher thinks of a paper as a whole."""
    (reading,) = teacher.read_abstracts(claim, [paper])
    return [round(one, 4) for one in (reading.document.support, reading.document.neutral, reading.document.contradict)]


def read_taught(path: Path, data: Path) -> list[Lesson]:
    """The pairs of a journal as lessons; their sentences are not labelled."""
    _facts, *entries = read_lines(path)
    pairs = [(*key.split("\t", 1), shares) for key, shares in entries]
    papers = {name: (title, tuple(sentences)) for name, title, sentences in read_papers(data, {name for name, _, _ in pairs})}
    return [
        Lesson(claim, *papers[name], int(np.argmax(shares)), None, "taught", f"taught {claim}", shares=tuple(shares))
        for name, claim, shares in pairs
    ]


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pairs."""
    parser = argparse.ArgumentParser(prog="python -m nli.training.reader.teach", description="What the large reader thinks.")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--model", type=Path, default=LARGE, help="the teacher's folder (default: the shipped reader)")
    parser.add_argument("--out", type=Path, required=True, help="the file to write or to continue")
    parser.add_argument("--most", type=int, default=40_000, help="at most how many pairs (default: 40,000)")
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args(arguments)
    teacher = DocumentReader(options.model)
    journal = Journal(options.out, {"teacher": teacher.name})
    pairs = list(draw_pairs(options.data, read_claims(CLAIMS), options.most, options.seed))
    for claim, name, paper in tqdm(pairs, desc="pairs"):
        journal.fill(make_key(name, claim), partial(read_shares, teacher, claim, paper))


if __name__ == "__main__":
    sys.exit(main())
