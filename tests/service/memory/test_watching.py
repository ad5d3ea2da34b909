"""The watch over stand-ins for the models: what turns is told once, only changed documents are read."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from counterpoint.indexes.build import build
from counterpoint.indexes.update import update
from counterpoint.retrieval.core.values import Claim, Grounding
from counterpoint.retrieval.index import Index
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.schemas import GroundResponse
from counterpoint.service.memory.database import Whose
from counterpoint.service.memory.memory import Memory, open_memory
from counterpoint.service.memory.schemas import SavedOut
from counterpoint.service.memory.watching import WatchReport, find_changes, watch
from counterpoint.service.schemas import Provenance
from tests.conftest import WriteCorpus
from tests.helpers.fakes import make_index, make_reading_grounder

LIBRARY = "a-library"
CLAIM = "zeta changes pressure"
SUPPORTS = {"pmid": "1", "title": "One", "abstract": "Zeta is for pressure."}
NEUTRAL = {"pmid": "2", "title": "Two", "abstract": "Zeta and pressure were measured."}
AGAINST = {"pmid": "3", "title": "Three", "abstract": "Zeta is against pressure."}
OTHER = {"pmid": "4", "title": "Four", "abstract": "Omega was given for sleep."}
RETRACTED = SUPPORTS | {"retracted": True}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    opened = open_memory(tmp_path / "state")
    assert opened
    return opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    index = make_index(tmp_path / "made", [SUPPORTS, NEUTRAL])
    index.close()
    return index.folder


class Opened:
    """The index as it is now, with a grounder over it."""

    def __init__(self, folder: Path) -> None:
        self.grounder = make_reading_grounder(Index(folder))

    def save(self, memory: Memory, holder: str = "", claim: str = CLAIM) -> SavedOut:
        grounder = self.grounder
        response = GroundResponse.of(grounder.ground(Claim(claim)), Provenance.of(grounder))
        return memory.saved.add(holder, LIBRARY, grounder.index.manifest, response)


def run(memory: Memory, folder: Path) -> WatchReport:
    return watch(memory.saved, LIBRARY, Opened(folder).grounder)


def told(memory: Memory, holder: str = "") -> list[tuple[str, str]]:
    return [(one.kind, one.paper.pmid) for one in memory.alerts.find(Whose(holder)).alerts]


def test_what_turns_is_told_and_told_once(memory: Memory, folder: Path, write_corpus: WriteCorpus) -> None:
    Opened(folder).save(memory)
    assert run(memory, folder) == WatchReport(0, 0, 1, 0)
    update(folder, [write_corpus(AGAINST, OTHER, RETRACTED)])
    assert run(memory, folder) == WatchReport(1, 2, 0, 0)
    assert run(memory, folder) == WatchReport(0, 0, 1, 0)
    assert sorted(told(memory)) == [("first contradiction", "3"), ("support retracted", "1")]
    [saved] = memory.saved.find(Whose()).saved
    assert [(one.pmid, one.stance, one.retracted) for one in saved.papers] == [("3", "contradict", False), ("1", "support", True)]
    assert saved.summary == "1 document may contradict the claim, 1 document may support it; retracted: 1."
    [alert, _] = sorted(memory.alerts.find(Whose()).alerts, key=lambda one: one.kind)
    assert alert.detail == "A paper contradicts this claim for the first time: Three."
    assert alert.paper.sentence == AGAINST["abstract"] and alert.claim == CLAIM


def test_only_documents_that_are_new_or_changed_are_read(memory: Memory, folder: Path, write_corpus: WriteCorpus) -> None:
    Opened(folder).save(memory)
    update(folder, [write_corpus(OTHER, AGAINST)])
    grounder = Opened(folder).grounder
    judge: Any = grounder.models.judges["stance"]
    read: list[str] = []
    whole = judge.read_abstracts

    def reading(claim: str, documents: Any) -> Any:
        kept = list(documents)
        read.extend(one.title for one in kept)
        return whole(claim, kept)

    judge.read_abstracts = reading
    watch(memory.saved, LIBRARY, grounder)
    assert set(read) == {"Three"}


def test_a_further_contradiction_is_told_only_where_it_is_strong(
    memory: Memory, folder: Path, write_corpus: WriteCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    update(folder, [write_corpus(AGAINST)])
    Opened(folder).save(memory)
    # The stand-in gives every contradiction 0.8.
    monkeypatch.setattr("counterpoint.service.memory.watching.STRONG", 0.9)
    update(folder, [write_corpus(AGAINST | {"pmid": "5"})])
    assert run(memory, folder).alerts == 0
    monkeypatch.setattr("counterpoint.service.memory.watching.STRONG", 0.8)
    update(folder, [write_corpus(AGAINST | {"pmid": "6"})])
    assert run(memory, folder).alerts == 1 and told(memory) == [("new contradiction", "6")]


def test_a_changed_text_that_turns_is_told(memory: Memory, folder: Path, write_corpus: WriteCorpus) -> None:
    Opened(folder).save(memory)
    update(folder, [write_corpus(SUPPORTS | {"abstract": "Zeta is against pressure."})])
    run(memory, folder)
    assert told(memory) == [("first contradiction", "1")]


def test_a_paper_that_is_gone_is_told_once_to_those_whose_claim_rests_on_it(
    memory: Memory, folder: Path, write_corpus: WriteCorpus, tmp_path: Path
) -> None:
    update(folder, [write_corpus(AGAINST)])
    for holder in ("ann", "bob"):
        Opened(folder).save(memory, holder)
    Opened(folder).save(memory, "eve", "omega sleep")
    deletion = tmp_path / "deleted.xml"
    deletion.write_text("<PubmedArticleSet><DeleteCitation><PMID>1</PMID><PMID>2</PMID></DeleteCitation></PubmedArticleSet>")
    update(folder, [deletion])
    assert run(memory, folder).alerts == 2 and run(memory, folder).alerts == 0
    # What was listed on no side is no loss, and what is left stays.
    assert (told(memory, "ann"), told(memory, "bob"), told(memory, "eve")) == ([("paper removed", "1")],) * 2 + ([],)
    [saved] = memory.saved.find(Whose("ann")).saved
    assert [one.pmid for one in saved.papers] == ["3"]
    [alert] = memory.alerts.find(Whose("ann")).alerts
    assert alert.detail == "A paper that was listed for this claim is no longer in the library: One."
    assert alert.paper.sentence == SUPPORTS["abstract"]
    build([write_corpus(SUPPORTS, NEUTRAL, name="again.jsonl")], folder, overwrite=True)
    run(memory, folder)
    assert told(memory, "ann")[0] == ("paper removed", "3")


def test_a_notice_of_retraction_is_no_contradiction(memory: Memory, folder: Path, write_corpus: WriteCorpus) -> None:
    Opened(folder).save(memory)
    notice = AGAINST | {"types": ["Retraction of Publication"]}
    update(folder, [write_corpus(notice)])
    assert run(memory, folder).alerts == 0 and told(memory) == []


def test_an_index_built_anew_is_compared_with_the_one_before(memory: Memory, folder: Path, write_corpus: WriteCorpus) -> None:
    Opened(folder).save(memory)
    build([write_corpus(SUPPORTS, NEUTRAL, OTHER, name="again.jsonl")], folder, overwrite=True)
    assert run(memory, folder) == WatchReport(1, 0, 0, 0)
    build([write_corpus(SUPPORTS, NEUTRAL, OTHER, AGAINST, name="more.jsonl")], folder, overwrite=True)
    assert run(memory, folder).alerts == 1 and told(memory) == [("first contradiction", "3")]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_watch_killed_before_or_after_its_commit_tells_once(
    memory: Memory, folder: Path, write_corpus: WriteCorpus, moment: str
) -> None:
    saved = Opened(folder).save(memory)
    update(folder, [write_corpus(AGAINST, OTHER, RETRACTED)])
    grounder = Opened(folder).grounder
    [due] = memory.saved.due(LIBRARY, grounder.index.manifest)
    # Java does not survive a fork: the child is given what it would find.
    found = grounder.ground(due.claim, only=find_changes(grounder.index, due.seen))
    if not (child := os.fork()):
        _watch_and_die(memory, grounder, found, moment)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    expected = [("first contradiction", "3"), ("support retracted", "1")]
    assert sorted(told(memory)) == ([] if moment == "before" else expected)
    assert memory.saved.get(Whose(), saved.id).index_version == (1 if moment == "before" else 2)
    run(memory, folder)
    assert sorted(told(memory)) == expected


def _watch_and_die(memory: Memory, grounder: Grounder, found: Grounding, moment: str) -> NoReturn:
    """The watch, killed as by `kill -9` in its first transaction: with all written and nothing committed, or right after."""
    try:
        grounder.ground = lambda *_, **__: found  # type: ignore[method-assign]
        whole = memory.database.change

        @contextmanager
        def change() -> Iterator[sqlite3.Connection]:
            with whole() as connection:
                yield connection
                if moment == "before":
                    os.kill(os.getpid(), signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)

        object.__setattr__(memory.database, "change", change)
        watch(memory.saved, LIBRARY, grounder)
    finally:
        os._exit(1)


def test_a_deleted_alert_does_not_come_back(memory: Memory, folder: Path, write_corpus: WriteCorpus) -> None:
    Opened(folder).save(memory)
    update(folder, [write_corpus(AGAINST)])
    run(memory, folder)
    [alert] = memory.alerts.find(Whose()).alerts
    memory.alerts.delete(Whose(), alert.id)
    update(folder, [write_corpus(OTHER, AGAINST)])
    run(memory, folder)
    assert told(memory) == []


@pytest.fixture(autouse=True)
def _close(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every index that a test opens is closed at its end."""
    opened: list[Index] = []
    whole = Index.__init__

    def keep(index: Index, folder: Path) -> None:
        whole(index, folder)
        opened.append(index)

    monkeypatch.setattr(Index, "__init__", keep)
    yield
    for index in opened:
        index.close()
