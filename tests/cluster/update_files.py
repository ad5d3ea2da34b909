"""PubMed's update files, made by tests: articles, notices and deletions, each file with its checksum beside it."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

_ARTICLE = (
    "<PubmedArticle><MedlineCitation><PMID Version='1'>{pmid}</PMID><Article><ArticleTitle>{title}</ArticleTitle>"
    "<Abstract><AbstractText>{text}</AbstractText></Abstract></Article>{notices}</MedlineCitation></PubmedArticle>"
)
_NOTICE = (
    "<CommentsCorrectionsList><CommentsCorrections RefType='RetractionOf'><PMID>{of}</PMID></CommentsCorrections>"
    "</CommentsCorrectionsList>"
)


def write_update(folder: Path, number: int, *articles: str, deleted: str = "", whole: bool = True, year: int = 26) -> Path:
    """A file with this number; one that is not `whole` has another checksum."""
    path = folder / f"pubmed{year}n{number:04d}.xml.gz"
    gone = f"<DeleteCitation><PMID Version='1'>{deleted}</PMID></DeleteCitation>" if deleted else ""
    path.write_bytes(gzip.compress(f"<PubmedArticleSet>{''.join(articles)}{gone}</PubmedArticleSet>".encode()))
    digest = hashlib.md5(path.read_bytes() if whole else b"else").hexdigest()
    path.with_name(f"{path.name}.md5").write_text(f"MD5({path.name})= {digest}\n")
    return path


def article(pmid: int, text: str, retracts: str = "") -> str:
    """A record, which may say of another PMID that it is retracted."""
    return _ARTICLE.format(pmid=pmid, title=f"Paper {pmid}", text=text, notices=_NOTICE.format(of=retracts) if retracts else "")
