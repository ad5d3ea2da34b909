"""Full texts in an index: joined to their records, parted into passages, found, kept through updates, and resumed."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from counterpoint.indexes import sources
from counterpoint.indexes.build import build
from counterpoint.indexes.readers.base.fields import OnBad, SkipBad
from counterpoint.indexes.update import merge, update
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Claim, FullText, Hit
from counterpoint.retrieval.index import Index, lead_to_papers, reciprocal_rank_fusion
from counterpoint.retrieval.store.manifest import FORMAT, PASSAGES, STORE, WITH_TEXTS, read_manifest
from counterpoint.retrieval.store.texts import MOST_WORDS, StoredText, cut_passages, write_passage
from counterpoint.service.calls.schemas import DocumentOut
from counterpoint.service.cli.commands import app
from counterpoint.service.configuration.config import Retrieve
from counterpoint.service.grounding.find import retrieve
from counterpoint.service.memory.saved import IndexState
from counterpoint.service.memory.watching import find_changes
from tests.helpers.full_texts import make_block, make_text, write_jats
from tests.helpers.pubmed_files import article, deletion, write_xml
from tests.helpers.texts import draw_pdf

LONG = "Nightly zinc lozenges and the length of colds in lighthouse keepers"
RESULTS = {"Results": ["Zinc shortened colds by two days. No keeper had nausea."], "Discussion": ["Lozenges are cheap."]}


def write_records(path: Path, *records: Mapping[str, object]) -> Path:
    rows = [{"pmid": "1", "title": "A title", "abstract": "Ninety people slept. None slept better.", **one} for one in records]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def make_index(folder: Path, records: Sequence[Mapping[str, object]], texts: Path) -> Index:
    source = write_records(folder / "records.jsonl", *records)
    build([source], folder / "index", full_texts=[texts])
    return Index(folder / "index")


def locate(index: Index, query: str) -> list[tuple[str, str]]:
    """The paper and the place of each passage that a search finds."""
    return [(hit.pmid, str(index.passages(hit.pmid)[hit.number].location)) for hit in index.search_passages(query, 50)]


@pytest.mark.parametrize(
    ("record", "ids", "title", "found"),
    [
        ({"pmid": "77"}, {"pmid": "77"}, "Anything", "77"),
        ({"pmid": "77", "pmcid": "PMC500"}, {"pmcid": "500"}, "Anything", "77"),
        ({"pmid": "77", "doi": "10.1000/zinc.5"}, {"doi": "10.1000/zinc.5"}, "A title", "77"),
        ({"pmid": "77", "title": f"{LONG}."}, {}, LONG.upper(), "77"),
        # Another PMID or DOI speaks against the title, and a short title is no sign at all.
        ({"pmid": "77", "title": LONG}, {"pmid": "78"}, LONG, "78"),
        ({"pmid": "77", "title": LONG, "doi": "10.1000/a1"}, {"doi": "10.1000/b2"}, LONG, "10.1000/b2"),
        ({"pmid": "77", "title": "Zinc and colds"}, {"pmcid": "501"}, "Zinc and colds", "PMC501"),
    ],
)
def test_a_text_joins_the_record_of_its_paper_or_makes_one(
    tmp_path: Path, record: dict[str, object], ids: dict[str, str], title: str, found: str
) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jats(texts / "a.nxml", title, RESULTS, abstract="Colds last a week.", licence="CC BY 4.0", **ids)
    index = make_index(tmp_path, [record, {"pmid": "9"}], texts)
    assert locate(index, "nausea") == [(found, "Results, paragraph 1")]
    part = index.manifest.texts
    assert part and (part.texts, part.own_records) == (1, int(found != "77"))
    assert index.manifest.counts.documents == 2 + part.own_records
    entry = index.store.get(found)
    assert entry
    if found != "77":
        assert (entry.document.title, entry.document.abstract, entry.document.year) == (title, "Colds last a week.", 2019)
        assert [author.family for author in entry.document.authors] == ["Vermeer"]


def test_a_title_that_two_records_have_joins_neither(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jats(texts / "a.nxml", LONG, RESULTS)
    index = make_index(tmp_path, [{"pmid": "77", "title": LONG}, {"pmid": "78", "title": LONG}], texts)
    ((pmid, _),) = locate(index, "nausea")
    assert pmid.startswith("ref-")


def give(monkeypatch: pytest.MonkeyPatch, *texts: FullText | Exception) -> None:
    """Let the reader of full texts give these."""

    def read(_path: Path, _on_bad: OnBad) -> Iterator[FullText]:
        for one in texts:
            if isinstance(one, Exception):
                raise one
            yield one

    monkeypatch.setattr(sources, "read_full_texts", read)


def test_of_two_texts_for_one_record_jats_stands_and_the_other_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jats = make_text([make_block("Zinc helped. It was cheap.")], source="a.nxml", pmid="77")
    pdf = make_text([make_block("Zinc helped. It was cheap. So we say.")], format="pdf", source="a.pdf", pmid="77")
    source = write_records(tmp_path / "records.jsonl", {"pmid": "77"})
    for name, order in (("one", (jats, pdf)), ("two", (pdf, jats))):
        give(monkeypatch, *order)
        report = build([source], tmp_path / name, full_texts=[source])
        assert report.manifest.texts and report.manifest.texts.formats == {"jats": 1}
        assert report.read.texts
        ((named, says),) = report.read.texts.placed.notes
        assert named == order[1].source and "77" in says
    assert read_manifest(tmp_path / "one").texts == read_manifest(tmp_path / "two").texts
    give(monkeypatch, pdf)
    update(tmp_path / "one", [], full_texts=[source])
    assert read_manifest(tmp_path / "one").texts == read_manifest(tmp_path / "two").texts


def test_a_pdf_whose_first_doi_is_another_papers_makes_a_record_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = make_text([make_block("Zinc helped.")], "Zinc for keepers of lighthouses", "pdf", doi="10.1000/a1")
    right = make_text([make_block("A trial of magnesium tea. Tea helped.")], "Journal of Tea", "pdf", doi="10.1000/a1")
    source = write_records(tmp_path / "records.jsonl", {"pmid": "77", "doi": "10.1000/a1", "title": "A trial of magnesium tea"})
    give(monkeypatch, wrong, right)
    build([source], tmp_path / "index", full_texts=[source])
    index = Index(tmp_path / "index")
    assert [pmid for pmid, _ in locate(index, "zinc")] != ["77"]
    assert [pmid for pmid, _ in locate(index, "tea")] == ["77"]


def write_paper(path: Path, title: str, line: str, text: str) -> None:
    """A PDF of a page: a line above the title, and a section of results."""
    lines = [(60.0, 640.0 - 12 * row, 10.0, text) for row in range(8)]
    path.write_bytes(draw_pdf([[(60, 800, 8, line), (60, 760, -16, title), (60, 670, -12, "Results"), *lines]]))


def test_pdfs_join_their_records_by_id_or_title_and_quotations_name_their_page(tmp_path: Path) -> None:
    tea, mud = "Magnesium tea and the sleep of lighthouse keepers", "Mud baths for the knees of lighthouse keepers: a trial"
    texts = tmp_path / "papers"
    texts.mkdir()
    write_paper(texts / "tea.pdf", tea, "J Sleep 2019. doi:10.1000/tea", "Magnesium tea improved sleep in all of the keepers.")
    write_paper(texts / "mud.pdf", mud, "J Knees 2020", "Mud did not help the knees of any of the keepers.")
    write_paper(
        texts / "onions.pdf",
        "Onions for lighthouse keepers with a cold",
        "PMID: 78",
        "Onions shortened the colds of the keepers.",
    )
    (texts / "scan.pdf").write_bytes(draw_pdf([[]]))
    records = [{"pmid": "77", "title": tea, "doi": "10.1000/tea"}, {"pmid": "78", "title": mud}]
    source = write_records(tmp_path / "records.jsonl", *records)
    report = build([source], tmp_path / "index", full_texts=[texts])
    placed = report.read.texts
    assert placed and dict(placed.placed.joined) == {"DOI": 1, "title": 1} and placed.placed.own == 1
    assert ["scan.pdf" in str(one) and "no text layer" in str(one) for one in placed.bad] == [True]
    index = Index(tmp_path / "index")
    assert locate(index, "mud knees") == [("78", "Results, paragraph 1, p. 1")]
    assert locate(index, "onions")[0][0] not in ("77", "78")
    shown = CliRunner().invoke(app, ["show", "77", "--index", str(tmp_path / "index")]).output
    assert "Full text from tea.pdf (PDF)" in shown and "Results  p. 1" in shown


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * (count - 1) + [f"{word}."])


def test_passages_have_at_most_200_words_and_never_cross_a_section() -> None:
    blocks = [
        make_block(f"{words(90)} {words(90)} {words(90)}", "Methods", 1, "methods"),
        make_block(words(60), "Methods", 2, "methods"),
        make_block(words(60), "Methods", 3, "methods"),
        make_block(words(20), "Results", 1),
        make_block("Outcomes.", "Table 1", 0, "caption"),
        *(make_block(f"{words(30)} | 5", "Table 1", row, "table", context=words(80)) for row in range(1, 9)),
        make_block(words(250), "Discussion", 1, "discussion"),
    ]
    text = make_text(blocks)
    passages = cut_passages(text)
    assert [end for _, end in passages[:-1]] == [start for start, _ in passages[1:]]
    sentences = [(block, start, end) for block in blocks for start, end in block.spans]
    assert passages[-1][1] == len(sentences)
    for first, end in passages:
        held = sentences[first:end]
        assert len({(block.location.section, block.location.kind) for block, _, _ in held}) == 1
        size = len(held[0][0].context.split()) + sum(len(block.text[a:b].split()) for block, a, b in held)
        assert size <= MOST_WORDS or len(held) == 1
    # A table of eight rows with a long caption takes three passages, each with the caption.
    assert sum(sentences[first][0].location.kind == "table" for first, _ in passages) == 3


def test_a_row_is_written_behind_its_caption_and_a_later_one_with_what_differs() -> None:
    rows = [
        make_block("Pain | 3 | 5", "Table 1", 1, "table", "Outcomes at a year Outcome Zinc Tea Adults"),
        make_block("Sleep | 4 | 4", "Table 1", 2, "table", "Outcomes at a year Outcome Zinc Tea Adults"),
        make_block("Pain | 9 | 9", "Table 1", 3, "table", "Outcomes at a year Outcome Zinc Tea Children"),
    ]
    text = make_text(rows, pmid="5")
    from counterpoint.indexes.full_texts import TextTables

    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE documents (pmid TEXT)")
        tables = TextTables(db, 1, has_layers=False)
        ((name, title, contents, *_),) = tables.put("5", False, text, {}, "Zinc")
        stored = tables.read("5", {})
    assert (name, title) == ("5 0", "Zinc")
    said = "Outcomes at a year Outcome Zinc Tea Adults Pain | 3 | 5 Sleep | 4 | 4 Children Pain | 9 | 9"
    assert (contents, write_passage(stored.passages[0])) == (f"Table 1. {said}", said)
    assert stored.blocks == text.blocks
    assert [str(sentence.location) for sentence in stored.sentences] == [f"Table 1, row {row}" for row in (1, 2, 3)]


def test_an_index_without_texts_says_and_keeps_nothing_of_them(tmp_path: Path) -> None:
    manifest = build([write_records(tmp_path / "records.jsonl", {})], tmp_path / "index").manifest
    data = tmp_path / "index" / manifest.data
    assert (manifest.format, manifest.id[12:]) == (FORMAT, f"-f{FORMAT}")
    assert "texts" not in json.loads((tmp_path / "index" / "manifest.json").read_text())
    assert not (data / PASSAGES).exists()
    with closing(sqlite3.connect(data / STORE)) as db:
        assert not db.execute("SELECT name FROM sqlite_master WHERE name IN ('texts', 'blocks')").fetchall()
    index = Index(tmp_path / "index")
    assert (index.has_texts, index.search_passages("slept", 5), index.passages("1")) == (False, [], ())
    assert (index.find_passages("slept", ["1"], 3), index.store.hash_texts(["1"])) == ([[]], {})


def test_sentences_keep_their_offsets_cues_and_places(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jats(texts / "a.nxml", LONG, RESULTS, pmid="77", table=[["Outcome", "Zinc", "Tea"], ["Death", "0 of 9", "1 of 9"]])
    index = make_index(tmp_path, [{"pmid": "77"}], texts)
    stored = index.store.full_texts(["77"])["77"]
    places = {block.location: block for block in stored.blocks}
    assert stored.sentences
    for number, sentence in enumerate(stored.sentences):
        assert sentence.index == number and sentence.location
        block = places[sentence.location]
        assert (block.text[sentence.start : sentence.end], block.context) == (sentence.text, sentence.context)
        for cue in sentence.cues:
            assert sentence.start <= cue.start < cue.end <= sentence.end
    (negated,) = [one for one in stored.sentences if one.text == "No keeper had nausea."]
    assert [cue.name for cue in negated.cues] == ["no"]
    row = next(one for one in stored.sentences if one.text.startswith("Death"))
    assert (str(row.location), "Outcomes at one year" in row.context) == ("Table 1, row 1", True)
    assert [sentence for passage in stored.passages for sentence in passage.sentences] == list(stored.sentences)
    assert locate(index, "death tea")[0] == ("77", "Table 1, row 1")
    found = index.find_passages("nausea", ["77", "1"], 2)
    assert [[str(index.passages(hit.pmid)[hit.number].location) for hit in one] for one in found] == [
        ["Results, paragraph 1"],
        [],
    ]


def dump(index: Index) -> dict[str, object]:
    """All that an index holds of full texts, by paper, with what it finds."""
    pmids = [pmid for rows in index.store.texts(100) for pmid, _, _ in rows]
    stored = index.store.full_texts(pmids)
    hits: dict[str, object] = {
        query: {(hit.pmid, hit.number) for hit in index.search_passages(query, 99)} for query in ("zinc", "tea", "no")
    }
    texts = {pmid: (text.blocks, text.sentences, text.passages, text.own_record) for pmid, text in stored.items()}
    return {**texts, **hits}


def test_updates_leave_the_texts_that_a_new_build_would(tmp_path: Path) -> None:
    chance = random.Random(7)

    def texts_of(folder: Path, numbers: Sequence[int], word: str) -> Path:
        folder.mkdir(parents=True)
        for number in numbers:
            body = {"Results": [f"{word} number {number} helped. {word} did no harm."], "Discussion": ["No more is known."]}
            write_jats(folder / f"{number}.nxml", f"{LONG} {number}", body, pmid=str(number), abstract=f"On {word}.")
        return folder

    first = write_xml(tmp_path / "a.xml", *(article(str(number), "We slept.") for number in range(20)))
    old = texts_of(tmp_path / "old", range(5, 25), "Zinc")
    build([first], tmp_path / "index", full_texts=[old])
    new = texts_of(tmp_path / "new", [7, 8, 19, 22, 30], "Tea")
    again = write_xml(
        tmp_path / "b.xml", *(article(str(number), "We woke.", 2) for number in (5, 6, 7, 23)), deletion("9", "10", "24")
    )
    update(tmp_path / "index", [again], full_texts=[new])
    for round in range(4):
        one = write_xml(tmp_path / f"{round}.xml", article(str(chance.randrange(20)), "We ate.", round + 3))
        update(tmp_path / "index", [one])
    index = Index(tmp_path / "index")
    left = {pmid: text for pmid, text in dump(index).items() if pmid.isdigit()}
    assert set(left) == {str(number) for number in range(5, 31)} - {"9", "10", "24", *map(str, range(25, 30))}
    part = index.manifest.texts
    assert part and part.texts == len(left)
    assert {pmid for pmid, text in index.store.full_texts(list(left)).items() if text.own_record} == {"20", "21", "22", "30"}
    assert {hit.pmid for hit in lead_to_papers(index.search_passages("tea", 99))} == {"7", "8", "19", "22", "30"}
    assert not {"9", "10", "24"} & {hit.pmid for hit in index.search_passages("zinc helped", 99)}
    before = dump(index)
    for analyzer in (None, "anserini", "biomedical"):
        merge(tmp_path / "index", analyzer)
        merged = Index(tmp_path / "index")
        assert dump(merged) == before and merged.manifest.texts == part
        assert merged.manifest.format == WITH_TEXTS


def test_a_record_that_comes_later_takes_over_the_text_and_its_own_record_goes(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jats(texts / "a.nxml", LONG, RESULTS, pmcid="500", doi="10.1000/zinc.5", abstract="Colds last.")
    index = make_index(tmp_path, [{"pmid": "9"}], texts)
    assert locate(index, "nausea") == [("PMC500", "Results, paragraph 1")]
    seen = index.manifest
    for number, record in enumerate(({"pmid": "77", "pmcid": "PMC500"}, {"pmid": "77", "title": "Zinc again"})):
        update(tmp_path / "index", [write_records(tmp_path / f"{number}.jsonl", record)])
        after = Index(tmp_path / "index")
        assert locate(after, "nausea") == [("77", "Results, paragraph 1")]
        assert after.store.get("PMC500") is None and not after.search("colds last", 5)
        assert after.manifest.texts and after.manifest.texts.own_records == 0
    assert locate(after, "again") and after.manifest.id != seen.id
    # What a new build of the same records and texts finds.
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    same = make_index(fresh, [{"pmid": "9"}, {"pmid": "77", "title": "Zinc again", "pmcid": "PMC500"}], texts)
    assert dump(same) == dump(after)


def test_a_text_that_arrives_is_a_change_for_watching(tmp_path: Path) -> None:
    source = write_records(tmp_path / "records.jsonl", {"pmid": "77"}, {"pmid": "78"})
    build([source], tmp_path / "index")
    state = IndexState.of(read_manifest(tmp_path / "index"))
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jats(texts / "a.nxml", LONG, RESULTS, pmid="77")
    update(tmp_path / "index", [], full_texts=[texts])
    index = Index(tmp_path / "index")
    changes = find_changes(index, state)
    assert changes and list(changes(["77", "78"])) == ["77"]
    # The same text again changes nothing, and a build anew over it nothing either.
    state = IndexState.of(index.manifest)
    update(tmp_path / "index", [], full_texts=[texts])
    assert Index(tmp_path / "index").manifest.id == state.index
    build([source], tmp_path / "index", overwrite=True)
    changes = find_changes(Index(tmp_path / "index"), IndexState.of(read_manifest(tmp_path / "index")))
    assert changes and not changes(["77"])


def test_a_retraction_holds_for_the_whole_paper(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jats(texts / "a.nxml", LONG, RESULTS, pmid="77")
    index = make_index(tmp_path, [{"pmid": "77", "retracted": True}], texts)
    (hit,) = lead_to_papers(index.search_passages("nausea", 5))
    assert next(iter(index.entries([hit.pmid]))).document.retracted


def test_a_text_that_says_that_it_was_retracted_marks_its_record(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jats(texts / "a.nxml", f"RETRACTED: {LONG}", RESULTS, pmid="77")
    build([write_records(tmp_path / "records.jsonl", {"pmid": "77"}, {"pmid": "78"})], tmp_path / "index")
    update(tmp_path / "index", [], full_texts=[texts])
    index = Index(tmp_path / "index")
    assert [entry.document.retracted for entry in index.entries(["77", "78"])] == [True, False]
    assert (index.manifest.counts.documents, index.manifest.counts.retracted) == (2, 1)


def test_a_build_that_stops_among_its_texts_resumes_to_the_same_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_TEXTS_AT_ONCE", 1)
    source = write_records(tmp_path / "records.jsonl", *({"pmid": str(number)} for number in range(5)))
    texts = [make_text([make_block(f"Zinc {number} helped.")], pmid=str(number)) for number in range(7)]
    give(monkeypatch, *texts)
    build([source], tmp_path / "whole", full_texts=[source])
    give(monkeypatch, *texts[:4], BadInput("The disk is gone."))
    with pytest.raises(BadInput):
        build([source], tmp_path / "index", full_texts=[source])
    assert not (tmp_path / "index").exists()
    give(monkeypatch, *texts)
    report = build([source], tmp_path / "index", full_texts=[source])
    assert report.read.texts and sum(report.read.texts.placed.joined.values()) + report.read.texts.placed.own < len(texts)
    assert dump(Index(tmp_path / "index")) == dump(Index(tmp_path / "whole"))
    # An update that stops leaves the index as it was.
    before = read_manifest(tmp_path / "index")
    give(monkeypatch, make_text([make_block("Tea helped.")], pmid="1"), BadInput("The disk is gone."))
    with pytest.raises(BadInput):
        update(tmp_path / "index", [], full_texts=[source])
    assert read_manifest(tmp_path / "index") == before and not locate(Index(tmp_path / "index"), "tea")


def test_what_cannot_be_read_is_listed_and_the_build_goes_on(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jats(texts / "a.nxml", LONG, RESULTS, pmid="77")
    (texts / "b.nxml").write_text("<article><front>", "utf-8")
    source = write_records(tmp_path / "records.jsonl", {"pmid": "77"})
    arguments = ["index", "build", str(source), "--out", str(tmp_path / "index"), "--full-text", str(texts), "--no-examples"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "1 joined to their record (1 by PMID)" in result.output and "1 not readable" in result.output
    assert "b.nxml" in result.output
    refused = CliRunner().invoke(app, [*arguments[:-2], str(tmp_path / "missing"), "--overwrite"])
    assert refused.exit_code == 2 and "missing" in refused.output and "Traceback" not in refused.output
    nothing = CliRunner().invoke(app, ["index", "update", str(tmp_path / "index")])
    assert nothing.exit_code == 2 and "--full-text" in nothing.output


def test_of_a_papers_two_ranks_by_words_the_better_counts_once(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    # Its text says what only the abstract of the other says.
    write_jats(texts / "a.nxml", "Sleep", {"Results": ["Zinc shortened colds."]}, pmid="1")
    records = [
        {"pmid": "1", "abstract": "Colds are common."},
        {"pmid": "2", "title": "Zinc", "abstract": "Zinc shortened colds."},
    ]
    index = make_index(tmp_path, records, texts)
    step = Retrieve(k=5, passages="if-present")
    by_text = [hit.pmid for hit in lead_to_papers(index.search_passages("zinc shortened", 5))]
    by_abstract = [hit.pmid for hit in index.search("zinc shortened", 5)]
    assert (by_text, by_abstract) == (["1"], ["2"])
    both = retrieve(step, ["zinc shortened"], index, {})
    assert {hit.pmid: hit.score for hit in both} == {"1": 1 / 61, "2": 1 / 61}
    # Found by both, a paper has one vote, of the better rank.
    assert {hit.pmid: hit.score for hit in retrieve(step, ["zinc shortened colds"], index, {})} == {"1": 1 / 61, "2": 1 / 61}
    assert retrieve(Retrieve(k=5), ["zinc shortened"], index, {}) == index.search("zinc shortened", 5)
    one, two = [Hit("a", 3.0), Hit("b", 2.0)], [Hit("b", 9.0)]
    assert reciprocal_rank_fusion([one, two], votes=[0, 0]) == [Hit("a", 1 / 61), Hit("b", 1 / 61)]
    assert reciprocal_rank_fusion([one, two])[0] == Hit("b", 1 / 61 + 1 / 62)


def test_a_run_uses_neither_texts_nor_their_records_unless_asked_to(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jats(texts / "a.nxml", LONG, RESULTS, pmid="77")
    write_jats(texts / "b.nxml", f"{LONG} again", RESULTS, pmcid="500", abstract="Zinc shortened colds.")
    index = make_index(tmp_path, [{"pmid": "77", "abstract": "Zinc was given."}], texts)
    assert {hit.pmid for hit in index.search("zinc", 5)} == {"77", "PMC500"}
    index.leave_out_own_records()
    assert {hit.pmid for hit in index.search("zinc", 5)} == {"77"}
    assert {hit.pmid for hit in index.search_passages("nausea", 5)} == {"77"}
    index.leave_out_texts()
    assert (index.search_passages("nausea", 5), index.passages("77"), index.has_texts) == ([], (), False)
    assert index.manifest.id.endswith(f"-f{FORMAT}")


def test_only_papers_with_a_text_are_read_if_asked_for(tmp_path: Path) -> None:
    source = write_records(tmp_path / "records.jsonl", {"pmid": "77"})
    build([source], tmp_path / "index")
    arguments = ["ground", "Zinc shortens colds.", "--index", str(tmp_path / "index"), "--full-text", "--config", "bm25"]
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code == 2 and "no full texts" in refused.output
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jats(texts / "a.nxml", LONG, RESULTS, pmid="78")
    records = [{"pmid": str(pmid), "abstract": "Zinc did not shorten colds. We gave it daily."} for pmid in (77, 78, 79)]
    update(tmp_path / "index", [write_records(tmp_path / "more.jsonl", *records)], full_texts=[texts])
    found = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert {one["pmid"] for one in found["contradicting"]} == {"78"}


def test_threads_that_search_at_once_find_what_one_alone_finds(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    for number in range(5):
        write_jats(texts / f"{number}.nxml", f"{LONG} {number}", RESULTS, pmid=str(number))
    index = make_index(tmp_path, [{"pmid": str(number), "abstract": f"Zinc-{number} is cheap."} for number in range(5)], texts)
    queries = [f"zinc-{number} nausea" for number in range(5)]

    def ask(query: str) -> object:
        found = index.search(query, 5), index.search_passages(query, 5), index.find_passages(query, ["1", "2"], 2)
        return found, index.vocabulary.stem(query.split())

    alone = [ask(query) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, queries * 40)) == alone * 40


def test_search_and_show_give_the_passage_and_the_text(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jats(texts / "a.nxml", LONG, RESULTS, pmid="77", licence="CC BY 4.0")
    index = make_index(tmp_path, [{"pmid": "77"}, {"pmid": "78", "abstract": "Nausea is common. We say no more."}], texts)
    place = str(tmp_path / "index")
    found = CliRunner().invoke(app, ["search", "nausea", "--index", place, "--json"])
    hits = json.loads(found.stdout)["hits"]
    assert [(hit["pmid"], hit.get("passage", {}).get("location", {}).get("text")) for hit in hits] == [
        ("78", None),
        ("77", "Results, paragraph 1"),
    ]
    shown = json.loads(CliRunner().invoke(app, ["show", "77", "--index", place, "--json"]).stdout)
    text = shown["full_text"]
    assert (text["format"], text["source"], text["own_record"]) == ("jats", "a.nxml", False)
    assert [block["location"]["text"] for block in text["blocks"]][:2] == ["Results, paragraph 1", "Discussion, paragraph 1"]
    assert [one["text"] for one in text["blocks"][0]["sentences"]] == RESULTS["Results"][0].replace(". ", ".\n").split("\n")
    assert "full_text" not in json.loads(CliRunner().invoke(app, ["show", "78", "--index", place, "--json"]).stdout)
    plain = CliRunner().invoke(app, ["show", "77", "--index", place]).stdout
    assert "No keeper had nausea." in plain and "Discussion" in plain
    assert "full texts" in CliRunner().invoke(app, ["index", "info", place]).stdout
    entry = index.store.get("78")
    assert entry and DocumentOut.read(index.store, entry).full_text is None


def test_a_damaged_text_is_said_in_one_sentence() -> None:
    row = ("77", 0, "jats", "a.xml", "", 0, 1, 1, "00", 1)
    with pytest.raises(Exception, match="full text of 77 is damaged"):
        StoredText(row, ("77", b"no zlib", b"", b"", b""), {}).blocks  # noqa: B018


def test_find_takes_only_papers_with_a_text_if_asked(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jats(texts / "a.nxml", LONG, RESULTS, pmid="77")
    index = make_index(tmp_path, [{"pmid": "77", "abstract": "Zinc works."}, {"pmid": "78", "abstract": "Zinc works."}], texts)
    from counterpoint.service.configuration.models import Models
    from counterpoint.service.grounding.find import find

    step = Retrieve(k=5, passages="if-present")
    models = Models.__new__(Models)
    object.__setattr__(models, "encoders", {})
    found = find(index, models, step, Claim("Zinc works."), only=index.store.hash_texts)
    assert [entry.pmid for entry in found] == ["77"]


def test_a_build_of_nothing_but_faults_says_the_first(tmp_path: Path) -> None:
    (tmp_path / "scan.pdf").write_bytes(b"%PDF-1.4 and nothing that could be read")
    with pytest.raises(BadInput, match=r"no document that can be read in .*scan\.pdf; the first fault: .*damaged"):
        build([], tmp_path / "index", full_texts=[tmp_path / "scan.pdf"])


def test_full_texts_given_as_records_are_told_and_many_files_are_counted(tmp_path: Path) -> None:
    for number in range(5):
        write_jats(tmp_path / f"{number}.xml", LONG, RESULTS, pmid=str(number))
    with pytest.raises(BadInput, match=r"in .*0\.xml and 4 other files; .*0\.xml is a full text \(JATS\).* as --full-text"):
        build([tmp_path], tmp_path / "index", skip_bad=SkipBad.ALL)
