"""A full text that somebody joins to a document: exactly that one, after a question where it is doubtful."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from counterpoint.indexes.build import build
from counterpoint.indexes.full_texts import join_to
from counterpoint.indexes.update import update
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.manifest import read_manifest
from tests.helpers.commands import call, told
from tests.helpers.full_texts import write_jats
from tests.helpers.texts import draw_pdf

TEA, MUD = "Magnesium tea and the sleep of lighthouse keepers", "Mud baths for the knees of lighthouse keepers: a trial"
RECORDS = [
    {"pmid": "77", "title": TEA, "abstract": "Tea was drunk.", "doi": "10.1000/tea"},
    {"pmid": "78", "title": MUD, "abstract": "Mud was used."},
    {"pmid": "79", "title": "", "abstract": "Nothing is known.", "doi": "10.1000/nothing"},
]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    source = tmp_path / "records.jsonl"
    source.write_text("".join(f"{json.dumps(one)}\n" for one in RECORDS))
    build([source], tmp_path / "index")
    return tmp_path / "index"


def write_paper(path: Path, title: str, text: str, line: str = "J Sleep 2019", points: int = -16) -> Path:
    lines = [(60.0, 640.0 - 12 * row, 10.0, text) for row in range(8)]
    path.write_bytes(draw_pdf([[(60, 800, 8, line), (60, 760, points, title), (60, 670, -12, "Results"), *lines]]))
    return path


def texts_of(index: Path) -> dict[str, str]:
    """The first sentence of each full text, by its document."""
    with closing(Index(index)) as opened:
        held = opened.store.full_texts(["77", "78", "79", *(f"ref-{n}" for n in range(3))])
        return {pmid: text.sentences[0].text for pmid, text in held.items()}


def join(index: Path, pmid: str, path: Path, *options: str) -> str:
    """What is told where it is refused, else "joined"."""
    result = call("index", "update", str(index), "--full-text", str(path), "--joins", pmid, "--no-examples", *options)
    assert result.exit_code in (0, 2), result.output
    return "joined" if result.exit_code == 0 else result.stderr.rpartition("Error: ")[2].strip()


def test_a_paper_joins_the_document_that_it_is_given_to(index: Path, tmp_path: Path) -> None:
    tea = write_paper(tmp_path / "tea.pdf", TEA, "Magnesium tea improved sleep in all of the keepers.")
    assert join(index, "77", tea) == "joined" and texts_of(index) == {"77": "Magnesium tea improved sleep in all of the keepers."}
    # A trial's title without its subtitle is the same title, a document's own DOI speaks for a text without a title.
    mud = write_jats(tmp_path / "mud.xml", MUD.partition(":")[0], {"Results": ["Mud did not help."]})
    nothing = write_jats(tmp_path / "nothing.nxml", "", {"Results": ["Nothing was found."]}, doi="10.1000/nothing")
    assert join(index, "78", mud) == join(index, "79", nothing) == "joined"
    assert read_manifest(index).counts.documents == 3 and read_manifest(index).texts.texts == 3  # type: ignore[union-attr]
    assert read_manifest(index).sources[-1].path.endswith("nothing.nxml")


def test_another_paper_joins_only_if_that_is_confirmed(index: Path, tmp_path: Path) -> None:
    # Its page names the DOI of the other, as a comment on it does.
    onions = write_paper(
        tmp_path / "onions.pdf", "Onions for keepers with a cold", "Onions shortened the colds of keepers.", "doi:10.1000/tea"
    )
    untitled = write_paper(tmp_path / "untitled.pdf", "A B", "Onions shortened the colds of keepers.", "", points=10)
    said = "The file seems to be another paper (“Onions for keepers with a cold”) than “"
    for pmid, title in (("77", TEA), ("78", MUD)):
        refused = join(index, pmid, onions)
        assert refused == f"{said}{title}”; add --confirmed to join it all the same."
    assert "(one without a title)" in join(index, "78", untitled)
    assert read_manifest(index).version == 1
    assert join(index, "78", onions, "--confirmed") == "joined"
    assert texts_of(index) == {"78": "Onions shortened the colds of keepers."} and read_manifest(index).counts.documents == 3


def test_an_earlier_text_is_replaced_only_if_that_is_confirmed(index: Path, tmp_path: Path) -> None:
    jats = write_jats(tmp_path / "first.xml", TEA, {"Results": ["Tea of the first text helped. It was warm."]})
    assert join(index, "77", jats) == "joined"
    # By the rules of formats JATS would stand; who chooses the file decides.
    pdf = write_paper(tmp_path / "second.pdf", TEA, "Tea of the second text helped all of the keepers.")
    assert join(index, "77", pdf) == (
        "The paper has a full text already (from first.xml), which this one replaces; add --confirmed to join it all the same."
    )
    assert join(index, "77", pdf, "--confirmed") == "joined"
    assert texts_of(index) == {"77": "Tea of the second text helped all of the keepers."}
    other = write_paper(tmp_path / "other.pdf", "Onions for keepers with a cold", "Onions shortened the colds of keepers.")
    assert ", and the paper has a full text already (from second.pdf)" in join(index, "77", other)


def test_what_is_no_paper_joins_nothing(index: Path, tmp_path: Path) -> None:
    (tmp_path / "scan.pdf").write_bytes(draw_pdf([[]]))
    (tmp_path / "page.pdf").write_bytes(b"<html>Sign in</html>")
    (tmp_path / "empty.xml").write_bytes(b"")
    one = write_jats(tmp_path / "a.xml", TEA, {"Results": ["Tea."]}).read_text().partition("?>")[2]
    (tmp_path / "two.xml").write_text(f"<pmc-articleset>{one}{one}</pmc-articleset>")
    for name, said in (
        ("scan.pdf", "scan.pdf cannot be joined: has no text layer"), ("page.pdf", "expected a PDF, got another kind"),
        ("empty.xml", "got an empty file"), ("two.xml", "two.xml is not one paper"), ("records.jsonl", "cannot be joined"),
    ):  # fmt: skip
        assert said in join(index, "77", tmp_path / name, "--confirmed"), name
    tea = write_paper(tmp_path / "tea.pdf", TEA, "Magnesium tea improved sleep in all of the keepers.")
    assert "no document 80" in join(index, "80", tea, "--confirmed")
    assert "one file with --full-text" in join(index, "77", tmp_path, "--confirmed")
    assert "one file with --full-text" in told("index", "update", str(index), str(tea), "--full-text", str(tea), "--joins", "77")
    assert read_manifest(index).version == 1
    with join_to(tea, "80") as folder, pytest.raises(BadInput, match="no document 80"):
        update(index, [], full_texts=[folder])


def test_a_text_that_replaces_one_that_made_its_own_record_keeps_the_record(index: Path, tmp_path: Path) -> None:
    own = write_jats(tmp_path / "own.xml", "Salt for the ropes of lighthouse keepers", {"Results": ["Salt kept."]}, pmcid="500")
    update(index, [], full_texts=[own])
    better = write_jats(tmp_path / "better.xml", "Rope and salt", {"Results": ["Salt kept the ropes."]})
    assert join(index, "PMC500", better, "--confirmed") == "joined"
    with closing(Index(index)) as opened:
        entry = opened.store.get("PMC500")
        assert entry and entry.document.title == "Salt for the ropes of lighthouse keepers"
        assert opened.store.full_texts(["PMC500"])["PMC500"].sentences[0].text == "Salt kept the ropes."
        assert opened.store.list_own_records() == {"PMC500"}
