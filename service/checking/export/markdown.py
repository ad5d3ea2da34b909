"""A checked text as Markdown: the summary, then each claim with its papers, then what was not checked and why."""

from __future__ import annotations

from collections.abc import Sequence

from service.checking.export.rows import SIGNS, cited_line, paper, reworded, why, words_of
from service.checking.schemas import CheckedText, TextSentenceOut
from service.grounding.schemas import EvidenceOut
from service.output.export import escaped


def markdown(report: CheckedText) -> str:
    """The whole as CommonMark; what comes from the text or from papers is escaped."""
    claims = [one for one in report.sentences if one.result]
    blocks = ["# Checked text", escaped(report.summary)]
    for number, one in enumerate(claims, 1):
        blocks += _claim(report, number, one)
    others = [one for one in report.sentences if not one.result and one.reason != "heading"]
    if others:
        lines = [f"- {escaped(words_of(report, one))} *({escaped(why(one).rstrip('.'))})*" for one in others]
        blocks += ["## Not checked", "\n".join(lines)]
    source = report.provenance
    blocks.append(escaped(f"Configuration {source.config}, profile {source.profile}, index {source.index}."))
    return "\n\n".join(blocks) + "\n"


def _claim(report: CheckedText, number: int, one: TextSentenceOut) -> list[str]:
    assert one.result is not None
    words = words_of(report, one)
    blocks = [f"## {number}. {SIGNS[one.verdict]} {one.verdict.capitalize()}", f"> {escaped(words)}"]
    if reworded(report, one):
        blocks.append(f"Checked as: {escaped(one.claim)}")
    blocks.append(escaped(one.result.why))
    sides = (("Against", one.result.against), ("For", one.result.in_favour), ("Uncertain", one.result.uncertain))
    blocks += [f"{side}:\n\n{_list_papers(papers)}" for side, papers in sides if papers]
    citations = [escaped(cited_line(each)) for each in one.result.cited]
    citations += [f"\\[{each}\\] names no PMID or DOI" for each in one.unresolved]
    return [*blocks, "Cited:\n\n" + "\n".join(f"- {each}" for each in citations)] if citations else blocks


def _list_papers(papers: Sequence[EvidenceOut]) -> str:
    lines = []
    for one in map(paper, papers):
        name = f"[{escaped(one.name)}]({one.link})" if one.link else escaped(one.name)
        facts = ". ".join(escaped(part) for part in (one.title.rstrip("."), one.facts) if part)
        notes = f" ({escaped(one.notes)})" if one.notes else ""
        lines.append(f"- “{escaped(one.sentence)}” {facts}. {name}{notes}" if one.sentence else f"- {facts}. {name}{notes}")
    return "\n".join(lines)
