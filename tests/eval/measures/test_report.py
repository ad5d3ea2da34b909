"""Reports: the same figures in text, Markdown and JSON, and text of documents is only text."""

from __future__ import annotations

import json
import re

from markdown_it import MarkdownIt

from counterpoint.eval.measures.figures import Figure
from counterpoint.eval.measures.report import Measure, Report, Table, show

HOSTILE = '<script>alert("1")</script> & *a* _b_ [c](d) `e` | ![h](i) <!-- j'


def made(text: str = "A note.") -> Report:
    table = Table("Shares", ["variant", "right"], [["v5", show(Figure(0.5, 0.25, 0.75))], ["ours, longer", text]])
    measure = Measure("right", "right", "Right claims / claims.")
    return Report("Measured", [table, text], {"right": Figure(0.5, 0.25, 0.75)}, [measure], {"seed": 7, "models": {"a": "b"}})


def test_text_is_aligned_and_json_is_the_data() -> None:
    assert made("1").text().splitlines() == [
        "Measured",
        "",
        "Shares",
        "variant                        right",
        "v5            0.500 (0.250 to 0.750)",
        "ours, longer                       1",
        "",
        "1",
    ]
    assert json.loads(made().json()) == {
        "right": {"value": 0.5, "low": 0.25, "high": 0.75}, "made_with": {"seed": 7, "models": {"a": "b"}},
    }  # fmt: skip


def test_markdown_defines_the_measures_and_says_what_the_report_was_made_with() -> None:
    text = made().markdown()
    assert text.startswith("# Measured\n\n## Shares\n\n| variant | right |\n| --- | ---: |\n| v5 | 0.500 (0.250 to 0.750) |\n")
    assert text.endswith("## Measures\n\n* **right**: Right claims / claims.\n\n## Made with\n\n* seed: 7\n* models: a b\n")


def test_text_of_documents_is_text_in_markdown() -> None:
    text = made(HOSTILE).markdown()
    shown = MarkdownIt("commonmark").enable("table").render(text)
    assert not re.search(r"<(script|img|a|em|code)\b", shown)
    rows = re.findall(r"^\|.*$", text, flags=re.M)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}
