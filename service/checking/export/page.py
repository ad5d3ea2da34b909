"""A checked text as one HTML file that loads and runs nothing; the template escapes all its input."""

from __future__ import annotations

from dataclasses import dataclass

from service.checking.export.rows import SIGNS, cited_line, paper, reworded, why, words_of
from service.checking.schemas import BlockOut, CheckedText, TextSentenceOut
from service.output.templates import load_templates


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a block: a sentence (`number` is its claim's, 0 if it makes none), or the text between two sentences."""

    text: str
    sentence: TextSentenceOut | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """A block of the text, cut into pieces that together make up the whole block."""

    kind: str
    pieces: tuple[Piece, ...]


def blocks(report: CheckedText) -> list[ShownBlock]:
    """The text, block by block."""
    numbers = {one.index: number for number, one in enumerate((one for one in report.sentences if one.result), 1)}
    by_block: dict[int, list[TextSentenceOut]] = {}
    for one in report.sentences:
        by_block.setdefault(one.block, []).append(one)
    return [_cut(report.text, block, by_block.get(place, []), numbers) for place, block in enumerate(report.blocks)]


def html(report: CheckedText, title: str = "Checked text") -> str:
    """The page; `title` names the text."""
    claims = [one for one in report.sentences if one.result]
    others = [one for one in report.sentences if not one.result and one.reason != "heading"]
    context = {
        "title": title, "checked": report, "blocks": blocks(report), "claims": claims, "others": others, "signs": SIGNS,
        "paper": paper, "words": words_of, "why": why, "reworded": reworded, "cited_line": cited_line,
    }  # fmt: skip
    return load_templates("service.checking.export").get_template("checked.html").render(**context)


def _cut(text: str, block: BlockOut, sentences: list[TextSentenceOut], numbers: dict[int, int]) -> ShownBlock:
    pieces: list[Piece] = []
    at = block.start
    for one in sentences:
        if at < one.start:
            pieces.append(Piece(text[at : one.start]))
        pieces.append(Piece(text[one.start : one.end], one, numbers.get(one.index, 0)))
        at = one.end
    if at < block.end:
        pieces.append(Piece(text[at : block.end]))
    return ShownBlock(block.kind, tuple(pieces))
