"""PubMed's files, made by tests: articles, notices and deletions; update files with their checksums beside them."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path


def article(pmid: str, text: str, version: int = 1, notice: tuple[str, str] | None = None, types: str = "") -> str:
    """A PubMed article as XML; `notice` is a (RefType, PMID) that it carries."""
    links = ""
    if notice:
        links = f'<CommentsCorrections RefType="{notice[0]}"><PMID>{notice[1]}</PMID></CommentsCorrections>'
        links = f"<CommentsCorrectionsList>{links}</CommentsCorrectionsList>"
    kinds = f"<PublicationTypeList><PublicationType>{types}</PublicationType></PublicationTypeList>" if types else ""
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID><Article>'
        f"<ArticleTitle>Paper {pmid}</ArticleTitle><Abstract><AbstractText>{text}</AbstractText></Abstract>{kinds}"
        f"</Article>{links}</MedlineCitation></PubmedArticle>"
    )


def deletion(*pmids: str) -> str:
    """What PubMed says of records that it deleted."""
    return f"<DeleteCitation>{''.join(f'<PMID>{pmid}</PMID>' for pmid in pmids)}</DeleteCitation>"


def write_xml(path: Path, *records: str) -> Path:
    """A file of these records."""
    path.write_text(f"<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>")
    return path


def write_update(folder: Path, number: int, *records: str, whole: bool = True) -> Path:
    """The update file with this number; one that is not `whole` has another checksum."""
    path = folder / f"pubmed26n{number:04d}.xml.gz"
    path.write_bytes(gzip.compress(f"<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>".encode()))
    digest = hashlib.md5(path.read_bytes() if whole else b"else").hexdigest()
    path.with_name(f"{path.name}.md5").write_text(f"MD5({path.name})= {digest}\n")
    return path
