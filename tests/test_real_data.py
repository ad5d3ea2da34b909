"""The real data sets, where they lie beside the project: run by `make test-all`, skipped where they are not there."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from counterpoint.indexes.build import build
from counterpoint.retrieval.index import Index
from counterpoint.service.assembly import assemble
from counterpoint.service.grounding.claims import check_claim
from counterpoint.service.trec.task_a import check, read_items, run
from tests.helpers.real_data import DATA, need_data

pytestmark = need_data(3600)


def plain(text: str) -> str:
    """As the readers give it: control characters and runs of blanks are one space."""
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).split())


@pytest.fixture(scope="module")
def pubmed(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("pubmed") / "index"
    build([DATA / "pubmed"], folder)
    return Index(folder)


def test_scifact_keeps_its_own_sentences(tmp_path: Path) -> None:
    build([DATA / "scifact" / "corpus.jsonl.gz"], tmp_path / "index")
    index = Index(tmp_path / "index")
    with gzip.open(DATA / "scifact" / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    assert index.manifest.counts.documents == len(records) == 5183
    entries = index.entries([str(record["doc_id"]) for record in records])
    for record, entry in zip(records, entries, strict=True):
        assert [plain(s.text) for s in entry.sentences()] == [plain(s) for s in record["abstract"]]
    index.close()


def test_every_stored_sentence_of_pubmed_is_verbatim(pubmed: Index) -> None:
    assert pubmed.manifest.counts.documents == 24_806
    hits = pubmed.search("no effect on mortality", 1000)
    for entry in pubmed.entries([hit.pmid for hit in hits]):
        for sentence in entry.sentences():
            assert entry.document.abstract[sentence.start : sentence.end] == sentence.text
            for cue in sentence.cues:
                assert sentence.start <= cue.start < cue.end <= sentence.end


def test_task_a_over_pubmed_is_accepted_by_its_check(pubmed: Index, tmp_path: Path) -> None:
    source = DATA / "biogen" / "task_a_input.json"
    items = read_items(source)
    # V5 would take an hour on two cores (docs/research/scifact.md); what is checked here does not depend on the models.
    grounder = assemble(pubmed.folder, "bm25", "embedded")
    run(items, source, grounder, tmp_path / "run.jsonl", "team", "bm25")
    assert check(tmp_path / "run.jsonl", items, pubmed.store) == []


def test_evidence_for_a_real_claim_is_in_the_index(pubmed: Index) -> None:
    grounder = assemble(pubmed.folder, "v5", "embedded")
    grounding = grounder.ground(check_claim("Vitamin D supplementation reduces the risk of fractures."))
    assert grounding.supporting
    for one in (*grounding.contradicting, *grounding.supporting):
        entry = pubmed.store.get(one.document.pmid)
        assert entry is not None
        assert one.sentence is not None
        assert entry.document.abstract[one.sentence.start : one.sentence.end] == one.sentence.text
