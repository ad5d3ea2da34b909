"""The page of an evaluation: it says what was measured, shows text as text, stands alone, and repeats byte for byte."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from eval.cli import eval_app
from eval.measures.losses import FATES
from eval.measures.report_data import Claims, Figure, Report, report_json
from eval.page.contents import page
from eval.page.curves import at_recall
from eval.page.render import html, markdown
from eval.page.tables import papers_name
from eval.variants.expected import PUBLISHED
from retrieval.core.errors import BadInput
from tests.helpers.reports import HOSTILE, KEYS, LISTS, POINTS, case, made, side, variant


class Parsed(HTMLParser):
    """Tags with their attributes, and the text of every table cell."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.cells: list[str] = []
        self.text = ""
        self._open = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag in ("td", "th"):
            self.cells.append("")
            self._open = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._open = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._open:
            self.cells[-1] += data

    def count(self, tag: str) -> int:
        return sum(one == tag for one, _ in self.tags)

    def values(self, attribute: str) -> list[str]:
        return [attributes[attribute] for _, attributes in self.tags if attribute in attributes]


@pytest.fixture(scope="module")
def whole() -> str:
    return html(page(made()))


@pytest.fixture(scope="module")
def parsed(whole: str) -> Parsed:
    return Parsed(whole)


def test_every_figure_of_the_tables_is_there_with_its_interval_and_its_p(parsed: Parsed) -> None:
    shown = [key for key in KEYS if key.startswith(("mrr", "pairs", "listed", "silence", "retrieval")) or key.endswith("_f1")]
    compared = [key for key in shown if not key.startswith(("mrr.whole", "mrr.at3", "retrieval"))]
    for key in shown:
        value = 0.3 + KEYS.index(key) / 1000
        p = f" +0.125, p {'0.031' if 'contradict' in key else '0.500'}" if key in compared else ""
        star = "*" if p and "contradict" in key else ""
        assert f"{value:.3f}{star} {value - 0.05:.3f} to {value + 0.05:.3f}{p}" in parsed.cells, key


def test_the_papers_figures_stand_beside_ours(parsed: Parsed) -> None:
    row = parsed.cells[parsed.cells.index("v5 paper V5, final") :][:10]
    assert row[1].startswith("0.100")
    assert row[7:] == ["0.810", "0.750", "0.790"]
    assert "paper V4, adversarial" in parsed.cells
    assert papers_name("v5-documents", PUBLISHED["appendix_a"]) == "paper V5, documents judged whole"
    assert papers_name("counterpoint", PUBLISHED["table_1"]) == ""


def test_the_page_says_that_the_papers_measure_is_blind(parsed: Parsed) -> None:
    assert "This measure ignores stance" in parsed.text
    assert "0.602 weighted, less than the best of the paper's systems (paper V5, final: 0.790)" in parsed.text
    better = html(page(made(blind={"mrr.whole.weighted": Figure(0.812, 0.7, 0.9)})))
    assert "0.812 weighted, more than the best" in better


def test_figures_of_other_claims_are_not_compared_with_the_papers() -> None:
    text = Parsed(html(page(made(claims=Claims(15, 5, 7, 3, 6, 4, 2))))).text
    assert "the two cannot be compared" in text
    assert "of the paper's systems" not in text
    assert "of all dev claims, not of these" in text
    assert "2 of the documents to find are not in the corpus" in text


def test_without_a_baseline_nothing_is_compared() -> None:
    assert "No variants are compared" in html(page(made(variant("ours", 0.2), baseline=None)))
    assert "no other variant was evaluated" in html(page(made(variant("v5", 0.2))))


def test_losses_are_counted_below_their_plot_and_told_in_words(parsed: Parsed) -> None:
    rows = [parsed.cells[i : i + 3] for i, cell in enumerate(parsed.cells) if cell in ("found", "filtered", "judged neutral")]
    assert ["found", "3 75 %", "2 50 %"] in rows
    assert ["filtered", "1 25 %", "0 0 %"] in rows
    assert ["judged neutral", "0 0 %", "2 50 %"] in rows
    [label, same] = [one for one in parsed.values("aria-label") if "4 contradicting" in one]
    assert label == same
    assert label.endswith("v5: 3 found, 1 filtered; ours: 2 found, 2 judged neutral.")


def test_precision_at_recall_is_the_best_that_keeps_it(parsed: Parsed) -> None:
    assert [at_recall(POINTS, recall) for recall in (0.1, 0.25, 0.3, 0.75, 0.8)] == [1.0, 1.0, 0.5, 0.375, None]
    row = parsed.cells[max(i for i, cell in enumerate(parsed.cells) if cell == "ours") :]
    assert row[1:] == ["1.000", "1.000", *["0.500"] * 3, *["0.375"] * 2, "–", "–", "0.375", "0.750", "8"]


def test_what_several_variants_lost_in_one_way_stands_there_once() -> None:
    lost = {
        "v5": (case("filtered", "1", 4), case("filtered", "2", None)),
        "v1": (case("filtered", "1", 4),),
        "v3": (case("filtered", "1", 9), case("not_asked", "1", 9)),
    }
    shown = html(page(made(*(variant(name, 0.1, contradict=side(found=3, cases=cases)) for name, cases in lost.items()))))
    assert shown.count('<article class="case">') == 3
    assert "Lost by v5 and v1 (retrieved at rank 4); v3 (retrieved at rank 9)." in shown
    assert "Lost by v5 (not retrieved)." in shown
    assert "sentence 4" in shown


def test_text_of_documents_and_names_is_data_in_html() -> None:
    shown = Parsed(html(page(made(variant("v5", 0.1), variant('<b>"$x_1$"</b>', 0.2)))))
    assert HOSTILE in shown.text
    assert {"script", "img", "b"}.isdisjoint(tag for tag, _ in shown.tags)
    assert '<b>"$x_1$"</b>' in shown.cells
    plotted = '<b>"$x_1$"</b>'
    assert shown.text.count(plotted) > 10, "in the plots too"


def test_text_of_documents_and_names_is_data_in_markdown() -> None:
    text = markdown(page(made(variant("v5", 0.1), variant("`a`|b\n- c", 0.2))))
    rendered = MarkdownIt("commonmark").enable("table").render(text)
    shown = Parsed(rendered)
    assert {"script", "img", "a", "b"}.isdisjoint(tag for tag, _ in shown.tags)
    assert f"Gold sentence 1. {HOSTILE}" in shown.text
    assert LISTS in shown.text
    assert "<em>a</em>" not in rendered
    assert "http\\://" in text and "www\\." in text, "no address becomes a link"
    # Every line of a table has as many cells as its head.
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_markdown_holds_the_same_figures() -> None:
    text = markdown(page(made()))
    assert "| found | 3 (75 %) | 2 (50 %) |" in text
    assert re.search(r"\| ours \| \*\*\d\.\d{3}\*\*\\\* \(\d\.\d{3} to \d\.\d{3}\); \+0\.125, p 0\.031 \|", text)
    assert "`counterpoint eval scifact --json out.json`" in text
    assert not re.search(r"\n{3,}|[ \t]+\n", text)


def test_the_page_stands_alone(whole: str, parsed: Parsed) -> None:
    assert {"script", "link", "img", "iframe", "object", "form"}.isdisjoint(tag for tag, _ in parsed.tags)
    [policy] = [attributes["content"] for _, attributes in parsed.tags if "http-equiv" in attributes]
    assert "default-src 'none'" in policy and "script-src" not in policy
    assert all(address.startswith("#") for address in [*parsed.values("href"), *parsed.values("xlink:href")])
    assert not parsed.values("src")
    assert "@import" not in whole
    assert not [name for _, attributes in parsed.tags for name in attributes if name.startswith("on")]
    assert set(re.findall(r"url\((.)", whole)) <= {"#"}


def test_every_address_within_the_page_is_there_once(parsed: Parsed, whole: str) -> None:
    ids = parsed.values("id")
    assert len(ids) == len(set(ids))
    pointed = {one[1:] for one in parsed.values("href")} | set(re.findall(r"url\(#([^)]+)\)", whole))
    named = {one for value in parsed.values("aria-labelledby") for one in value.split()}
    assert pointed | named <= set(ids)


def test_tables_and_plots_can_be_read_without_seeing_them(parsed: Parsed) -> None:
    assert parsed.count("caption") == parsed.count("table") == 12
    assert all("scope" in attributes for tag, attributes in parsed.tags if tag == "th")
    plots = [attributes for _, attributes in parsed.tags if attributes.get("role") == "img"]
    assert len(plots) == parsed.count("svg") == 8
    assert all(len(attributes["aria-label"]) > 40 for attributes in plots)
    assert "<text" in html(page(made())), "text stays text"


def test_colours_are_the_pages_own_and_defined(whole: str) -> None:
    style = whole[whole.index("<style>") : whole.index("</style>")]
    defined = set(re.findall(r"(--[\w-]+):", style))
    assert set(re.findall(r"var\((--[\w-]+)\)", whole)) <= defined
    for fate in FATES:
        assert {f"--{fate}".replace("_", "-"), f"--on-{fate}".replace("_", "-")} <= defined
        assert f".{fate} {{".replace("_", "-") in style
    for drawing in re.findall(r"<svg.*?</svg>", whole, flags=re.S):
        assert not re.findall(r"#[0-9a-f]{6}\b(?!-)", drawing)


def test_the_same_report_gives_the_same_bytes(tmp_path: Path) -> None:
    measured = tmp_path / "measured.json"
    measured.write_text(report_json(made()))
    pages = []
    for seed in ("1", "2"):
        # A user's own settings of matplotlib change nothing.
        (tmp_path / f"matplotlibrc{seed}").write_text("font.size: 30\naxes.edgecolor: red\nsvg.fonttype: path\n")
        out = tmp_path / f"{seed}.html"
        code = f"from eval.cli import eval_app; eval_app(['report', {str(measured)!r}, '--out', {str(out)!r}])"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        if seed == "2":
            environment["MATPLOTLIBRC"] = str(tmp_path / "matplotlibrc2")
        subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=Path(__file__).parents[2])
        pages.append(out.read_bytes())
    assert pages[0] == pages[1]
    assert b"<dc:date>" not in pages[0]


def test_a_stance_without_gold_and_a_variant_that_returns_nothing_have_their_place() -> None:
    empty = variant("v5", 0.1, contradict=side(points=()), support=side(points=(), found=6))
    text = html(page(made(empty, claims=Claims(10, 6, 0, 4, 6, 0, 0))))
    assert "No claim has contradicting evidence" in text
    assert "v5 returns nothing" in text
    assert ">returns nothing</text>" in text


def test_figures_that_a_report_lacks_leave_a_dash() -> None:
    bare = replace(variant("v5", 0.1), figures={"pairs.support.f1": Figure(None, None, None)})
    shown = Parsed(html(page(made(bare, blind={}, published={}))))
    assert "nothing was measured for supports" in shown.text
    assert "–" in shown.cells


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (replace(made(), variants=()), "contains no variants"),
        (replace(made(), published={"table_1": {"paper V5, final": "much"}}), "published figures"),
        (made(replace(variant("v5", 0.1), sides={"support": side()})), "v5 has no contradict side"),
        (replace(made(), fates={"found": "returned"}), "which it does not define"),
    ],
)
def test_a_report_that_cannot_be_shown_is_refused(report: Report, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        page(report)


def cli(*arguments: str | Path) -> Any:
    return CliRunner().invoke(eval_app, ["report", *map(str, arguments)])


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    path = tmp_path / "measured.json"
    path.write_text(report_json(made()))
    return path


def test_the_command_writes_both(measured: Path, tmp_path: Path, whole: str) -> None:
    out, second = tmp_path / "out.html", tmp_path / "out.md"
    done = cli(measured, "--out", out, "--markdown", second)
    assert done.exit_code == 0, done.output
    assert out.read_text() == whole
    assert second.read_text() == markdown(page(made()))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["measured.json", "out.html", "out.md"]


def test_a_page_may_leave_out_what_it_would_quote(measured: Path, tmp_path: Path) -> None:
    out, second = tmp_path / "out.html", tmp_path / "out.md"
    assert cli(measured, "--out", out, "--markdown", second, "--no-cases").exit_code == 0
    for path in (out, second):
        assert "Gold sentence" not in path.read_text()
        assert "alert" not in path.read_text()
        assert "0.602" in path.read_text()


def test_what_cannot_be_done_is_one_sentence(measured: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    for arguments, told in (
        ((tmp_path / "nowhere.json", "--out", out), "cannot be read"),
        ((broken, "--out", out), "is not a report"),
        ((measured, "--out", tmp_path / "nowhere" / "out.html"), "does not exist"),
        ((measured, "--out", tmp_path), "is a folder"),
        ((measured, "--out", measured), "must name different files"),
        ((measured, "--out", out, "--markdown", tmp_path / "." / "out.html"), "must name different files"),
    ):
        done = cli(*arguments)
        assert (done.exit_code, done.output.count("\n")) == (2, 1), done.output
        assert told in done.output
        assert not out.exists()


def test_nothing_that_draws_is_loaded_before_it_is_needed() -> None:
    code = "import sys, eval.cli; print(*(m for m in ('matplotlib', 'jinja2') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert done.stdout.split() == []
