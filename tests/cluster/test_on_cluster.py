"""An index on a real cluster beside the embedded one: the same documents, the same rankings, the same after every update."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench.cluster import LocalCluster
from counterpoint.indexes.build import build
from counterpoint.indexes.cluster.building import update_on_cluster
from counterpoint.indexes.cluster.places import build_at, copy_to_cluster, copy_to_folder, follow, merge_at, update_at
from counterpoint.indexes.cluster.vectors import add_vectors_on_cluster
from counterpoint.indexes.plan import Inputs
from counterpoint.indexes.update import update
from counterpoint.indexes.vectors import add_vectors
from counterpoint.retrieval.cluster.client import ClusterBusy, connect, is_address, read_address
from counterpoint.retrieval.cluster.mapping import read_state
from counterpoint.retrieval.core.errors import BadInput, CounterpointError, IndexUnusable, OutOfSpace
from counterpoint.retrieval.dense.embedded_encoder import EmbeddedEncoder
from counterpoint.retrieval.index import Index, read_index_manifest
from counterpoint.service.local import open_local
from counterpoint.service.queries.papers import search_words
from tests.conftest import DEMO
from tests.helpers.full_texts import write_jats
from tests.helpers.pubmed_files import article, deletion, write_update

pytestmark = pytest.mark.cluster
COUNTERPOINT = (sys.executable, "-m", "counterpoint.service.cli")
QUERIES = ("intensive glucose control raises mortality", "no effect on survival", "beta-carotene and lung cancer", "the")


def assert_same(one: Path, other: Path) -> None:
    """An embedded index and one on a cluster, once merged, hold and find the same."""
    if is_address(other):
        _merge_until_clean(other)
    first, second = Index(one), Index(other)
    assert first.manifest.corpus_sha256 == second.manifest.corpus_sha256
    assert first.manifest.counts == second.manifest.counts
    for query in QUERIES:
        ours, theirs = first.search(query, 20), second.search(query, 20)
        assert [hit.pmid for hit in ours] == [hit.pmid for hit in theirs]
    pmids = [pmid for batch in first.store.texts(1000) for pmid, _, _ in batch]
    assert [pmid for batch in second.store.texts(500) for pmid, _, _ in batch] == pmids
    for mine, yours in zip(first.entries(pmids), second.entries(pmids), strict=True):
        assert (mine.document, mine.sentences()) == (yours.document, yours.sentences())
    assert first.store.read_versions(pmids) == second.store.read_versions(pmids)


def test_it_holds_and_finds_what_the_embedded_one_does(place: Path, demo_folder: Path) -> None:
    build_at([DEMO], place)
    assert_same(demo_folder, place)
    index, embedded = Index(place), Index(demo_folder)
    words = ["Trials", "glucose", "the-two", "’", "no"]
    assert index.vocabulary.stem(words) == embedded.vocabulary.stem(words)
    terms = ["glucos", "trial", "zzz", ""]
    assert index.vocabulary.count_documents(terms) == embedded.vocabulary.count_documents(terms)
    assert index.vocabulary.find_similar("glucoze", 2)[0] == embedded.vocabulary.find_similar("glucoze", 2)[0]
    with pytest.raises(BadInput, match="already exists"):
        build_at([DEMO], place)


def test_papers_are_found_by_what_names_them_as_in_the_embedded_one(place: Path, tmp_path: Path) -> None:
    families, records = ("Rossi", "van der Meer", "Sørensen", "O’Hara"), tmp_path / "records.jsonl"
    rows = [
        {"pmid": str(2000 + n), "title": f"Zeta and {'sleep gait pain mood'.split()[n % 4]} in group {n}", "year": 2002 + n // 4,
         "abstract": "It helped.", "journal": "BMJ" if n % 2 else "The Lancet", "pmcid": f"PMC{70000 + n}",
         "authors": [f"{families[n % 4]}, A.", f"{families[(n + 1) % 4]}, B."]}
        for n in range(16)
    ]  # fmt: skip
    records.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    build([records], tmp_path / "embedded")
    build_at([records], place)
    update_at(place, [write_update(tmp_path, 1, article("20", "Of no author."))])
    first, second = Index(tmp_path / "embedded"), Index(place)
    for typed, pmid in {
        "Rossi 2004": "2008", "van der Meer BMJ 2002": "2001", "Sorensen A, O'Hara B. Lancet 2003": "2006",
        "ohara mood 2005": "2015",
        "Sörenson 2004": "2010", "PMC 70003": "2003", "Rossi A. Zeta and sleep in group 0. Lancet 2002;1:2-3": "2000",
    }.items():  # fmt: skip
        found = [[(one.document, one.why) for one in search_words(index, typed, 5) if one.why] for index in (first, second)]
        assert found[0] == found[1] and found[0][0][0].pmid == pmid, typed


def test_an_update_does_what_it_does_to_the_embedded_one(place: Path, tmp_path: Path, demo_folder: Path) -> None:
    folder = tmp_path / "embedded"
    shutil.copytree(demo_folder, folder)
    build_at([DEMO], place)
    first = write_update(tmp_path, 1, article("1", "New and sound."), article("2", "New, and not."), article("3", "Gone soon."))
    second = write_update(
        tmp_path, 2, article("4", "We retract it.", notice=("RetractionOf", "2")), article("1", "Revised."), deletion("3")
    )
    third = write_update(tmp_path, 3, article("4", "It says nothing of it any more."))
    for path in (first, second, third):
        ours, theirs = update(folder, [path]), update_at(place, [path])
        assert (ours.read.changes, ours.manifest.version) == (theirs.read.changes, theirs.manifest.version)
        assert_same(folder, place)


def test_its_vectors_find_what_the_embedded_ones_do(place: Path, tmp_path: Path, demo_folder: Path) -> None:
    folder, encoder, address = tmp_path / "embedded", EmbeddedEncoder(), read_address(place)
    shutil.copytree(demo_folder, folder)
    add_vectors(folder, encoder, overwrite=True, view="short")
    build_at([DEMO], place)
    assert not Index(place).has_vectors(encoder.name)
    with pytest.raises(IndexUnusable, match="has no vectors, which this search needs"):
        Index(place).dense(encoder.name)
    assert add_vectors_on_cluster(address, encoder, view="short").encoded == 66
    assert add_vectors_on_cluster(address, encoder).encoded == 0
    assert_same(demo_folder, place)
    queries = encoder.queries(QUERIES[:3])
    both = (Index(one).search_vectors(encoder.name, queries, 20) for one in (folder, place))
    for ours, theirs in zip(*both, strict=True):
        assert len({hit.pmid for hit in ours} & {hit.pmid for hit in theirs}) >= 19
        assert ours[0].pmid == theirs[0].pmid
    update_at(place, [write_update(tmp_path, 1, article("1", "Beta-carotene and lung cancer."))])
    assert not Index(place).has_vectors(encoder.name), "not before the new document has one"
    assert add_vectors_on_cluster(address, encoder).encoded == 1
    assert "1" in {hit.pmid for hit in Index(place).search_vectors(encoder.name, encoder.queries(["Beta-carotene"]), 5)[0]}
    texts = write_texts(tmp_path / "texts", {"1": "Beta-carotene and lung cancer."}, pmid="{}")
    update_at(place, [], full_texts=[texts])
    assert Index(place).has_vectors(encoder.name), "no document was written"
    update_at(place, [], full_texts=[write_texts(tmp_path / "own", {"5": "It raised mortality."}, pmcid="PMC{}")])
    assert not Index(place).has_vectors(encoder.name), "the text made a document of itself"
    with pytest.raises(BadInput, match="add --overwrite to replace them with full ones"):
        add_vectors_on_cluster(address, encoder, view="full")


def test_it_is_copied_there_and_back(place: Path, tmp_path: Path, demo_folder: Path) -> None:
    copy_to_cluster(demo_folder, read_address(place))
    assert_same(demo_folder, place)
    copy_to_folder(read_address(place), tmp_path / "back")
    assert_same(tmp_path / "back", demo_folder)


def assert_same_texts(one: Path, other: Path, ranked: bool = True) -> None:
    """Two indexes have the same records and full texts and, once merged, find the same passages."""
    first, second = Index(one), Index(other)
    assert first.manifest.texts == second.manifest.texts and first.manifest.id == second.manifest.id
    everyone = [pmid for batch in first.store.texts(100) for pmid, _, _ in batch]
    ours, theirs = first.store.full_texts(everyone), second.store.full_texts(everyone)
    assert {pmid: (text.blocks, text.sentences, text.passages) for pmid, text in ours.items()} == {
        pmid: (text.blocks, text.sentences, text.passages) for pmid, text in theirs.items()
    }
    assert first.store.hash_texts(everyone) == second.store.hash_texts(everyone)
    assert first.store.list_own_records() == second.store.list_own_records()
    assert [entry.document for entry in first.entries(everyone)] == [entry.document for entry in second.entries(everyone)]
    with_texts = sorted(ours)
    for query in QUERIES if ranked else ():
        found = [[(hit.pmid, hit.number) for hit in one.search_passages(query, 5)] for one in (first, second)]
        assert found[0] == found[1]
        within = [one.find_passages(query, everyone[:3] + with_texts, 2) for one in (first, second)]
        assert [[hit.number for hit in ranking] for ranking in within[0]] == [
            [hit.number for hit in ranking] for ranking in within[1]
        ]


def write_texts(folder: Path, results: dict[str, str], **ids: str) -> Path:
    """A text about glucose for each name, with these results; `ids` are its PMID, PMCID or DOI, "{}" for the name."""
    folder.mkdir()
    for name, result in results.items():
        body = {"Results": [result, "No one fell."], "Discussion": ["Survival was the same."]}
        own = {kind: value.format(name) for kind, value in ids.items()}
        write_jats(folder / f"{name}.nxml", f"Glucose control and the survival of adults {name}", body, licence="CC BY", **own)
    return folder


def test_full_texts_and_their_passages_are_built_and_copied_there_and_back(place: Path, tmp_path: Path) -> None:
    rows = [{"pmid": pmid, "title": f"Glucose {pmid}", "abstract": "Glucose was kept low. No one fell."} for pmid in "1234"]
    records, folder = tmp_path / "records.jsonl", tmp_path / "embedded"
    records.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    joined = write_texts(tmp_path / "joined", dict.fromkeys("1234", "Glucose control did not lower mortality."), pmid="{}")
    alone = write_texts(tmp_path / "alone", {"5": "Beta-carotene raised mortality."}, pmcid="PMC{}")
    (alone / "6.nxml").write_text("<article><front/></article>", "utf-8")
    ours = build([DEMO, records], folder, full_texts=[joined, alone])
    theirs = build_at([DEMO, records], place, full_texts=[joined, alone])
    assert ours.read.texts and theirs.read.texts
    assert (ours.read.texts.placed, len(ours.read.texts.bad)) == (theirs.read.texts.placed, len(theirs.read.texts.bad))
    assert ours.read.changes == theirs.read.changes
    assert_same(folder, place)
    assert_same_texts(folder, place)
    assert Index(place).store.list_own_records() == {"PMC5"}
    copy_to_folder(read_address(place), tmp_path / "back")
    assert_same_texts(folder, tmp_path / "back")
    copy_to_cluster(folder, read_address(place), overwrite=True)
    assert_same(folder, place)
    assert_same_texts(folder, place)


@pytest.mark.parametrize("begins", ["without texts", "with texts", "copied"])
def test_full_texts_follow_their_records_in_updates_as_in_the_embedded_index(place: Path, tmp_path: Path, begins: str) -> None:
    """Better texts, records that come later, new titles, retractions and deletions."""
    folder, glucose = tmp_path / "embedded", "Glucose control lowered mortality in {}."
    first = write_update(tmp_path, 1, *(article(str(pmid), "No one fell.") for pmid in range(1, 9)))
    texts = [write_texts(tmp_path / "first", {name: glucose.format(name) for name in "1234"}, pmid="{}")]
    texts += [write_texts(tmp_path / "own", {"77": "Beta-carotene helped.", "78": "It did no harm."}, pmcid="PMC{}")]
    texts = [] if begins == "without texts" else texts
    build([first], folder, full_texts=texts)
    if begins == "copied":
        copy_to_cluster(folder, read_address(place))
    else:
        build_at([first], place, full_texts=texts)
    longer = f"{glucose.format('1')} It was 30 % lower after a year. Nobody was lost."
    second = write_texts(
        tmp_path / "second", {"1": longer, "2": glucose.format("2"), "5": "Nothing changed.", "9": "New."}, pmid="{}"
    )
    twice = write_texts(tmp_path / "twice", {"10": "Short. It was."}, doi="10.1000/{}")
    again = write_texts(tmp_path / "again", {"10": "Longer. It was so. It is so. It will be so."}, doi="10.1000/{}")
    later = tmp_path / "later.jsonl"
    title = "Glucose control and the survival of adults 10"
    rows = [
        {"pmid": "10", "title": title, "abstract": "We slept.", "doi": "10.1000/10"},
        {"pmid": "4", "title": "No effect on survival", "abstract": "It has another title."},
    ]
    later.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    jobs: list[tuple[list[Path], list[Path]]] = [
        ([], [second, twice, again]),
        ([write_update(tmp_path, 2, article("2", "Revised.", 3), article("9", "The record at last."), deletion("3"))], []),
        ([later], []),
        ([write_update(tmp_path, 3, article("11", "We retract it.", notice=("RetractionOf", "1")))], [second]),
    ]
    for sources, full_texts in jobs:
        ours, theirs = update(folder, sources, full_texts=full_texts), update_at(place, sources, full_texts=full_texts)
        if full_texts:
            assert ours.read.texts and theirs.read.texts and ours.read.texts.placed == theirs.read.texts.placed
        assert_same_texts(folder, place, ranked=False)
    assert_same(folder, place)
    assert_same_texts(folder, place)


CLAIMS = {
    "Zetapril": "stroke", "Omegastat": "hip fracture", "Kappacillin": "pneumonia", "Betavir": "influenza",
    "Lambdazole": "migraine", "Thetamab": "asthma attacks", "Gammadex": "postoperative nausea", "Deltazine": "delirium",
    "Epsilone": "preterm birth", "Sigmafen": "back pain",
}  # fmt: skip


def test_ten_claims_get_the_papers_verdicts_and_locations_of_the_embedded_index(place: Path, tmp_path: Path) -> None:
    """With the shipped models; the abstracts are silent, and the results or a table tell."""
    rows, texts = list[dict[str, Any]](), tmp_path / "texts"
    texts.mkdir()
    for number, (drug, outcome) in enumerate(CLAIMS.items(), 1):
        title = f"{drug} and {outcome} in adults: a randomised trial"
        way = "reduced" if number % 2 else "did not reduce"
        said = f"{drug} {way} the risk of {outcome} compared with placebo."
        heads = ("Outcome", drug, "Placebo", "P"), (outcome.capitalize(), "12", "24" if number % 2 else "12", "0.01")
        body = {
            "Methods": ["Adults were randomised."],
            "Results": ["We enrolled 400 adults.", said],
            "Discussion": ["More is needed."],
        }
        write_jats(texts / f"{number}.nxml", title, body, pmid=str(number), table=heads)
        rows.append({"pmid": str(number), "title": title, "abstract": f"{drug} was given to 200 adults in a trial of {outcome}."})
    records, folder = tmp_path / "records.jsonl", tmp_path / "embedded"
    records.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    build([DEMO, records], folder, full_texts=[texts])
    build_at([DEMO, records], place, full_texts=[texts])
    told = 0
    with open_local(folder) as ours, open_local(place) as theirs:
        for drug, outcome in CLAIMS.items():
            found = [service.ground(f"{drug} reduces the risk of {outcome}.") for service in (ours, theirs)]
            seen = [
                (one.weighed.outcome, [
                    (side, paper.pmid, paper.sentence)
                    for side in ("supporting", "contradicting", "uncertain") for paper in getattr(one, side)
                ])
                for one in found
            ]  # fmt: skip
            assert seen[0] == seen[1]
            told += any(paper.sentence and paper.sentence.location for paper in (*found[1].supporting, *found[1].contradicting))
    assert told >= 8, "most are read in the full text"


def test_a_build_with_texts_that_is_killed_goes_on(place: Path, tmp_path: Path) -> None:
    source = write_update(tmp_path, 1, *(article(str(pmid), f"Text {pmid}.") for pmid in range(1, 300)))
    texts = write_texts(tmp_path / "texts", {str(pmid): f"Glucose helped {pmid}. " * 40 for pmid in range(200, 900)}, pmid="{}")
    build([source], tmp_path / "embedded", full_texts=[texts])
    address = read_address(place)
    command = [*COUNTERPOINT, "index", "build", str(source), "--full-text", str(texts), "--out", str(address)]
    for kill_at in (1, 300, 600):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 200
        while time.monotonic() < until and process.poll() is None:
            found = connect(address).get(index=f"{address.name}-v0001", id="__progress__", ignore=[404, 503])
            if found.get("found") and found["_source"]["progress"]["done"].get("1", 0) >= kill_at:
                break
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with pytest.raises(IndexUnusable, match="There is no index"):
            Index(place)
    build_at([source], place, full_texts=[texts])
    assert_same(tmp_path / "embedded", place)
    assert_same_texts(tmp_path / "embedded", place)


def test_a_follower_killed_again_and_again_makes_the_same_index(place: Path, tmp_path: Path, demo_folder: Path) -> None:
    folder, source = tmp_path / "embedded", tmp_path / "updatefiles"
    source.mkdir()
    shutil.copytree(demo_folder, folder)
    for number in range(1, 5):
        articles = [article(str(pmid), f"Version {number} of it.") for pmid in range(number * 700, number * 700 + 2500)]
        write_update(source, number, *articles, deletion(str(number * 700 - 5)))
    follow(folder, source, 1, lambda _: None, once=True)
    build_at([DEMO], place)
    command = [*COUNTERPOINT, "index", "follow", str(read_address(place)), str(source), "--once"]
    kills = 0
    while kills < 10 and read_index_manifest(place).version < 5:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _wait_for_writes(place, process)
        process.kill()
        process.wait()
        kills += 1
    assert kills > 1
    follow(place, source, 1, lambda _: None, once=True)
    assert_same(folder, place)


def _merge_until_clean(place: Path) -> None:
    """Until no document that was replaced or deleted counts any more."""
    address, until = read_address(place), time.monotonic() + 120
    while time.monotonic() < until:
        merge_at(place)
        stats = connect(address).indices.stats(index=f"{read_state(address).name}*", metric="docs")["_all"]
        if not stats["total"]["docs"]["deleted"]:
            return
        time.sleep(5)
    raise AssertionError(f"{stats['total']} documents are still counted")


def _wait_for_writes(place: Path, process: subprocess.Popen[bytes]) -> None:
    """Until the process has written something, so that it is killed in the middle of it."""
    address, until = read_address(place), time.monotonic() + 120
    client = connect(address)

    def count_written() -> int:
        return int(client.indices.stats(index=address.name, metric="indexing")["_all"]["primaries"]["indexing"]["index_total"])

    before = count_written()
    while count_written() < before + 600 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)


def test_a_node_that_dies_shortens_no_ranking(place: Path, nodes: LocalCluster, tmp_path: Path) -> None:
    build_at([DEMO], place)
    index = Index(place)
    whole = {query: [hit.pmid for hit in index.search(query, 20)] for query in QUERIES[:3]}
    nodes.kill_node(2, signal.SIGKILL)
    try:
        began, answered = time.monotonic(), 0
        # A busy machine takes its time to choose another manager.
        while time.monotonic() < began + (40 if answered else 180):
            for query, wanted in whole.items():
                try:
                    assert [hit.pmid for hit in index.search(query, 20)] == wanted
                    answered += 1
                except ClusterBusy as error:
                    assert error.status == 503 and error.retry_after
        assert answered
        update = write_update(tmp_path, 1, article("77", "Written with a node away."))
        update_on_cluster(read_address(place), Inputs([(update, "pubmed")]))
    finally:
        nodes.start_node(2)
        nodes.wait_until_joined(3, status="green")
    assert Index(place).store.get("77")


def test_what_cannot_be_done_is_one_sentence(place: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexUnusable, match="There is no index"):
        Index(place)
    build_at([DEMO], place)
    address = read_address(place)
    client = connect(address)
    # What a cluster does itself once a disk is past the flood-stage watermark.
    client.indices.put_settings(index=address.name, body={"index.blocks.read_only_allow_delete": True})
    path = write_update(tmp_path, 1, article("5", "Refused at first."))
    with pytest.raises(CounterpointError, match="flood-stage") as told:
        update_at(place, [path])
    assert isinstance(told.value, OutOfSpace)
    assert Index(place).search("glucose", 3)
    client.indices.put_settings(index=address.name, body={"index.blocks.read_only_allow_delete": None})
    assert update_at(place, [path]).read.changes.added == 1


def test_a_red_index_gives_no_ranking(place: Path, nodes: LocalCluster) -> None:
    build_at([DEMO], place)
    address = read_address(place)
    client, index = connect(address), Index(place)
    settled = {"wait_for_no_relocating_shards": "true", "timeout": "60s", "request_timeout": 70}
    everywhere = {"index.number_of_replicas": 0, "index.routing.allocation.include._name": "node-2"}
    client.indices.put_settings(index=address.name, body=everywhere)
    client.cluster.health(index=address.name, params=settled)
    nodes.kill_node(2, signal.SIGKILL)
    try:
        with pytest.raises(ClusterBusy):
            for _ in range(200):
                assert index.search("glucose", 20)
                time.sleep(0.2)
    finally:
        nodes.start_node(2)
        nodes.wait_until_joined(3)


def test_a_build_that_is_killed_goes_on_and_is_not_searched_before(place: Path, tmp_path: Path) -> None:
    source = tmp_path / "baseline"
    source.mkdir()
    for number in (1, 2):
        write_update(
            source,
            number,
            *(article(str(pmid), f"Text {pmid} of {number}.") for pmid in range(number * 1500, number * 1500 + 3000)),
        )
    build([source], tmp_path / "embedded")
    command = [*COUNTERPOINT, "index", "build", str(source), "--out", str(read_address(place))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until, name = time.monotonic() + 200, f"{read_address(place).name}-v0001"
    while time.monotonic() < until and process.poll() is None:
        found = connect(read_address(place)).get(index=name, id="__progress__", ignore=[404, 503])
        if found.get("found") and found["_source"]["progress"]["done"]:
            break
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with pytest.raises(IndexUnusable, match="There is no index"):
        Index(place)
    build_at([source], place)
    assert_same(tmp_path / "embedded", place)
