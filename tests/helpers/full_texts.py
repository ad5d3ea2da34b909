"""Full texts to index: JATS files of invented articles, and the values that a reader makes of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Literal

from counterpoint.retrieval.core.values import Block, Document, FullText, Location, SectionKind


def write_jats(
    path: Path,
    title: str,
    sections: Mapping[str, Sequence[str]],
    pmid: str = "",
    pmcid: str = "",
    doi: str = "",
    abstract: str = "",
    table: Sequence[Sequence[str]] = (),
    licence: str = "",
) -> Path:
    """Write an article of these sections (heading to paragraphs) and, behind them, a table whose first row are its heads."""
    ids = "".join(
        f'<article-id pub-id-type="{kind}">{one}</article-id>'
        for kind, one in (("pmid", pmid), ("pmc", pmcid), ("doi", doi))
        if one
    )
    body = "".join(
        f"<sec><title>{escape(heading)}</title>{''.join(f'<p>{escape(one)}</p>' for one in paragraphs)}</sec>"
        for heading, paragraphs in sections.items()
    )
    if table:
        heads, *rows = table
        head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
        lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        body += (
            f"<sec><title>Outcomes</title><table-wrap><label>Table 1</label><caption><p>Outcomes at one year.</p></caption>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></table-wrap></sec>"
        )
    said = f"<permissions><license><license-p>{escape(licence)}</license-p></license></permissions>" if licence else ""
    path.write_text(
        '<?xml version="1.0"?><article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>'
        f"{ids}<title-group><article-title>{escape(title)}</article-title></title-group>"
        '<contrib-group><contrib contrib-type="author"><name><surname>Vermeer</surname><given-names>Ana</given-names></name>'
        "</contrib></contrib-group><pub-date><year>2019</year></pub-date>"
        f"{said}{f'<abstract><p>{escape(abstract)}</p></abstract>' if abstract else ''}"
        f"</article-meta></front><body>{body}</body></article>",
        "utf-8",
    )
    return path


def make_block(text: str, section: str = "Results", number: int = 1, kind: SectionKind = "results", context: str = "") -> Block:
    """A block whose sentences end with a full stop and a blank; a row is one sentence."""
    spans, start = list[tuple[int, int]](), 0
    for part in [text] if kind == "table" else text.replace(". ", ".\n").split("\n"):
        start = text.index(part, start)
        spans.append((start, start + len(part)))
        start += len(part)
    return Block(Location(kind, section, number), text, tuple(spans), context)


def make_text(
    blocks: Sequence[Block], title: str = "", format: Literal["jats", "pdf"] = "jats", source: str = "a.xml", **ids: str
) -> FullText:
    """A full text of these blocks; `ids` are its PMID, PMCID and DOI."""
    record = Document(ids.get("pmid", ""), title, "", doi=ids.get("doi", ""), pmcid=ids.get("pmcid", ""))
    return FullText(record, tuple(blocks), format, source)
