"""The shipped models and what runs them: order, truncation, repeatability, damage, and the probe set."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from counterpoint.nli.reader.judge import LARGE, SMALL, DocumentReader
from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.core.values import Premise
from counterpoint.retrieval.rerank.embedded import RELEVANCE_MODEL, EmbeddedReranker
from counterpoint.retrieval.runtime.engine import make_model_name, read_card

CLAIM = "Aspirin reduces the risk of stroke."
PREMISES = [
    Premise("Aspirin increased the risk of stroke.", "A trial of aspirin"),
    Premise("Aspirin lowered stroke risk in the treated group, compared with placebo, over five years.", "A trial of aspirin"),
    Premise("The bridge was painted blue."),
]
PROBES = [json.loads(line) for line in (Path(__file__).parent.parent / "probes.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def judge() -> DocumentReader:
    return DocumentReader(size="small")


@pytest.fixture(scope="module")
def reranker() -> EmbeddedReranker:
    return EmbeddedReranker()


def test_verdicts_are_probabilities_in_the_order_of_the_premises(judge: DocumentReader) -> None:
    verdicts = list(judge(CLAIM, PREMISES))
    assert all(abs(v.support + v.neutral + v.contradict - 1) < 1e-6 for v in verdicts)
    backwards = list(judge(CLAIM, PREMISES[::-1]))
    assert [v.label for v in verdicts] == [v.label for v in backwards[::-1]]


def test_the_small_reader_tells_direction_and_subject(judge: DocumentReader) -> None:
    assert [verdict.label for verdict in judge(CLAIM, PREMISES)] == ["contradict", "support", "neutral"]


def test_the_judge_reads_premises_only_as_verdicts_are_asked_for(judge: DocumentReader) -> None:
    taken: list[int] = []

    def endless() -> object:
        for number in range(10_000):
            taken.append(number)
            yield Premise("Word.")

    next(iter(judge(CLAIM, endless())))  # type: ignore[arg-type]
    assert len(taken) <= 64


def test_models_repeat_byte_for_byte_whatever_other_threads_do(judge: DocumentReader, reranker: EmbeddedReranker) -> None:
    texts = [premise.text for premise in PREMISES]
    alone = [list(judge(CLAIM, PREMISES)), reranker(CLAIM, texts)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: [list(judge(CLAIM, PREMISES)), reranker(CLAIM, texts)], range(6)))
    assert all(result == alone for result in together)


FIRST_USE = """
import sys
import threading
import numpy as np
from counterpoint.nli.reader.judge import SMALL
from counterpoint.retrieval.runtime.engine import open_graph

graph, together = open_graph(SMALL / "model.onnx", "openvino", 4), threading.Barrier(4)
batch = (np.ones((2, 8), dtype=np.int64),) * 3
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=lambda: (together.wait(), graph(batch))) for _ in range(4)]
for one in threads:
    one.start()
"""


def test_threads_that_use_a_model_first_at_the_same_time_do_not_block_each_other() -> None:
    # OpenVINO alone hung in two of three such processes.
    for _ in range(3):
        subprocess.run([sys.executable, "-c", FIRST_USE], check=True, timeout=30)


def test_names_trace_what_scores_come_from(judge: DocumentReader, reranker: EmbeddedReranker) -> None:
    assert reranker.name.endswith(read_card(RELEVANCE_MODEL)["sha256"][:8])
    card = read_card(SMALL)
    assert judge.name == make_model_name(card)
    fitted_again = {**card, "paper": {**card["paper"], "side": 0.123}}
    assert make_model_name(fitted_again) != judge.name, "what is kept of one decision is not another's"
    assert make_model_name({**card, "sha256": "0" * 64}) != judge.name


def test_the_reranker_prefers_what_answers(reranker: EmbeddedReranker) -> None:
    texts = ["Malaria vaccines. A trial in children.", "Aspirin and stroke. Aspirin prevented stroke in a trial.", ""]
    scores = reranker("Does aspirin prevent stroke?", texts)
    assert int(np.argmax(scores)) == 1
    assert reranker("anything", []) == []


def test_a_text_may_be_of_any_length(judge: DocumentReader, reranker: EmbeddedReranker) -> None:
    endless = "word " * 20_000
    assert len(list(judge(endless, [Premise(endless, endless), Premise("")]))) == 2
    assert len(reranker(endless, [endless, ""])) == 2


@pytest.mark.parametrize("damage", ["model.onnx", "model.json", "tokenizer.json"])
def test_a_missing_or_damaged_file_is_named_in_one_sentence(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(SMALL, folder)
    (folder / damage).write_bytes(b"\xff\x00 broken")
    with pytest.raises(ModelUnusable, match=r"reinstall|name another") as damaged:
        DocumentReader(folder)
    assert "\n" not in str(damaged.value)
    (folder / damage).unlink()
    with pytest.raises(ModelUnusable):
        DocumentReader(folder)


def test_inference_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys, nli.reader.judge, retrieval.rerank.embedded; "
        "print([m for m in ('torch', 'transformers', 'onnx') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_the_models_are_small_and_their_cards_name_their_file() -> None:
    folders = (LARGE, SMALL, RELEVANCE_MODEL)
    sizes = [sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) for folder in folders]
    assert sum(sizes[1:]) <= 60_000_000 and sum(sizes) < 145_000_000
    for folder in folders:
        assert read_card(folder)["sha256"] in (folder / "README.md").read_text("utf-8")


def test_the_probes_are_answered_better_than_by_chance(judge: DocumentReader) -> None:
    """The figures by kind are in docs/research/training.md; this holds the floor."""
    right = sum(next(iter(judge(p["claim"], [Premise(p["sentence"])]))).label == p["label"] for p in islice(PROBES, 0, None))
    assert right / len(PROBES) > 0.5


# What a text is about
