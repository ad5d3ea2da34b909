"""What the large reader thinks of papers that a search finds, for the small one to learn: `python -m nli.training.reader.teach`.

Claims of our own are paired with the papers that BM25 finds for them among the abstracts that may be trained on; the teacher
reads each whole. One JSON line a pair: claim, pmid, and the calibrated probabilities of support, neither and contradiction. A
stopped run resumes.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from nli.judges.judge import Abstract, drop_question
from nli.reader.judge import READER_MODEL, DocumentReader
from nli.training.reader.cases import state
from nli.training.reader.examples import CLAIMS, read_papers
from nli.training.reader.lesson import Lesson
from retrieval.training.bm25 import TextIndex
from retrieval.training.command import return_exit_code
from retrieval.training.data import read_reserved_pmids, read_rows
from retrieval.training.folds import is_held_out

FOUND = 12
"""How deep is searched for a claim; three of these papers are read: a search returns what a gate has to choose from."""
READ = 3


def read_claims(folder: Path) -> list[str]:
    """The true and false claims of `claims/*.jsonl`, each once."""
    lines = (json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines())
    return sorted({state(line[name]) for line in lines for name in ("true", "false")})


def draw_pairs(data: Path, claims: Sequence[str], most: int, seed: int) -> Iterator[tuple[str, str, Abstract]]:
    """At most `most` pairs (claim, pmid, paper), in random order of claims; reserved and held-out papers are left out."""
    rng, reserved = random.Random(seed), read_reserved_pmids(data)
    able = [pmid for row in read_rows(data, "pubmed/abstracts.jsonl.gz") if (pmid := str(row["pmid"])) not in reserved]
    papers = [one for one in read_papers(data, {pmid for pmid in able if not is_held_out(pmid)}) if one[2]]
    index = TextIndex([f"{title} {' '.join(sentences)}" for _, title, sentences in papers])
    for claim in rng.sample(claims, min(-(-most // READ), len(claims))):
        hits = index.top(claim, FOUND)
        for row in rng.sample(hits, min(READ, len(hits))):
            pmid, title, sentences = papers[row]
            yield claim, pmid, Abstract(drop_question(title), tuple(sentences))


def read_taught(path: Path, data: Path) -> list[Lesson]:
    """The pairs of a file as lessons; their sentences are not labelled."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    papers = {name: (title, tuple(sentences)) for name, title, sentences in read_papers(data, {row["pmid"] for row in rows})}
    lessons = []
    for row in rows:
        title, sentences = papers[row["pmid"]]
        shares = tuple(row["shares"])
        label = int(np.argmax(shares))
        lessons.append(Lesson(row["claim"], title, sentences, label, None, "taught", f"taught {row['claim']}", shares=shares))
    return lessons


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pairs."""
    parser = argparse.ArgumentParser(prog="python -m nli.training.reader.teach", description="What the large reader thinks.")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--model", type=Path, default=READER_MODEL, help="the teacher's folder (default: the shipped reader)")
    parser.add_argument("--out", type=Path, required=True, help="the file to write or to continue")
    parser.add_argument("--most", type=int, default=40_000, help="at most how many pairs (default: 40,000)")
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args(arguments)
    teacher = DocumentReader(options.model)
    done = len(options.out.read_text("utf-8").splitlines()) if options.out.exists() else 0
    pairs = list(draw_pairs(options.data, read_claims(CLAIMS), options.most, options.seed))
    with options.out.open("a", encoding="utf-8") as file:
        for claim, pmid, paper in tqdm(pairs[done:], initial=done, total=len(pairs), desc="pairs"):
            (reading,) = teacher.read_abstracts(claim, [paper])
            shares = [round(one, 4) for one in (reading.document.support, reading.document.neutral, reading.document.contradict)]
            file.write(json.dumps({"claim": claim, "pmid": pmid, "shares": shares}, ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    sys.exit(main())
