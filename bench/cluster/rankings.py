"""Rankings of a cluster's index beside those of the embedded one: `python -m bench.cluster.rankings FOLDER ADDRESS CLAIMS`.

The queries are SciFact's claims (a JSON lines file) or, with --titles N, titles of the index itself. Two rankings agree where the
documents are the same in the same order; where they do not, the scores tell whether the documents tie.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from retrieval.core.values import Hit
from retrieval.index import Index

_CLOSE = 1e-5
"""Scores are 32-bit floats: a difference of at least this share of the best score is not due to rounding."""


def compare(ours: Sequence[Hit], theirs: Sequence[Hit], scale: float) -> str:
    """How two rankings of one query differ: same, ties, or other; `scale` is the constant between their scores."""
    if [hit.pmid for hit in ours] == [hit.pmid for hit in theirs]:
        return "same"
    at = [place for place, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one.pmid != other.pmid]
    tolerance = _CLOSE * (ours[0].score if ours else 1.0)
    is_tie = len(ours) == len(theirs) and all(
        abs(ours[place].score * scale - theirs[place].score) <= tolerance * scale for place in at
    )
    return "ties" if is_tie else "other"


def main() -> int:
    """Compare, print the counts and every query that differs."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster.rankings", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("address", type=Path)
    parser.add_argument("claims", type=Path, nargs="?")
    parser.add_argument("--titles", type=int, default=0)
    parser.add_argument("-k", type=int, default=20)
    options = parser.parse_args()
    folder_index, cluster = Index(options.folder), Index(options.address)
    queries = read_claims(options.claims) if options.claims else draw_titles(folder_index, options.titles)
    counts, scales, furthest = Counter[str](), list[float](), 0.0
    for query in queries:
        ours, theirs = folder_index.search(query, options.k), cluster.search(query, options.k)
        scale = theirs[0].score / ours[0].score if ours and theirs else 1.0
        how = compare(ours, theirs, scale)
        counts[how] += 1
        scales.append(scale)
        furthest = max([furthest, *(abs(two.score / scale - one.score) for one, two in zip(ours, theirs, strict=False))])
        if how != "same":
            pairs = zip(ours, theirs, strict=False)
            print(how, [(one.pmid, two.pmid, one.score, two.score) for one, two in pairs if one.pmid != two.pmid])
    print(f"{len(queries)} queries, first {options.k}: {dict(counts)}.")
    print(f"The cluster's scores are {min(scales):.6f} to {max(scales):.6f} times the embedded ones, and differ by at most")
    print(f"{furthest:.1e} beyond that.")
    return 0


def read_claims(path: Path) -> list[str]:
    """The claims of a SciFact file."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line)["claim"] for line in content.decode().splitlines()]


def draw_titles(index: Index, most: int) -> list[str]:
    """Titles of documents, spread over the index."""
    return [title for entry in index.store.sample(2 * most) if (title := entry.document.title)][:most]


if __name__ == "__main__":
    sys.exit(main())
