"""A day's update of PubMed, generated: `python -m bench.cluster.updates INDEX --records N --out FILE`.

The texts are those of an index: most are revised (their words are rotated), some are new under PMIDs of their own, some deleted.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import random
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from xml.sax.saxutils import escape

from retrieval.index import open_documents

_NEW = 900_000_000
"""PMIDs from here on belong to no paper."""


def main() -> int:
    """Write one file in PubMed's XML, and its .md5 beside it."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster.updates", description=__doc__)
    parser.add_argument("index", type=Path)
    parser.add_argument("--records", type=int, default=30_000)
    parser.add_argument("--out", type=Path, required=True, help="such as updates/pubmed26n1301.xml.gz")
    options = parser.parse_args()
    content = "".join(["<PubmedArticleSet>", *make_records(options.index, options.records), "</PubmedArticleSet>"]).encode()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_bytes(gzip.compress(content))
    digest = hashlib.md5(options.out.read_bytes(), usedforsecurity=False).hexdigest()
    options.out.with_name(f"{options.out.name}.md5").write_text(f"MD5({options.out.name})= {digest}\n", "utf-8")
    return 0


def make_records(index: Path, records: int) -> Iterator[str]:
    """Six in ten records revise a document, the others are new; a further one per hundred deletes one."""
    documents, _ = open_documents(index)
    texts = [one for one in chain.from_iterable(documents.texts(1000)) if one[0].isdigit()]
    chance = random.Random(20261122)
    for number in range(records):
        pmid, title, abstract = texts[chance.randrange(len(texts))]
        yield _write(pmid if chance.random() < 0.6 else str(_NEW + number), title, _rotate(abstract, chance.randrange(1, 9)))
    for pmid, _, _ in chance.sample(texts, min(len(texts), records // 100)):
        yield f"<DeleteCitation><PMID>{pmid}</PMID></DeleteCitation>"


def _rotate(text: str, by: int) -> str:
    words = text.split(" ")
    return " ".join(words[by:] + words[:by])


def _write(pmid: str, title: str, abstract: str) -> str:
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><ArticleTitle>{escape(title)}</ArticleTitle>'
        f"<Abstract><AbstractText>{escape(abstract)}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>"
    )


if __name__ == "__main__":
    sys.exit(main())
