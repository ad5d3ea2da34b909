"""A benchmark of evidence made by a scripted language model, read back by the evaluation, and held against another annotation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from eval.commands.bench.evidence import bench_app
from eval.evidence.agreement import compare_annotations, pair_aspects
from eval.evidence.annotation import Annotation, Annotator, ToAnnotate, make_record
from eval.evidence.annotation_prompts import SHOWN_AT_ONCE, Aspect, ask_for_alignment, split_paper
from eval.evidence.covering import cover_all, cover_most
from eval.evidence.evidencebench import read_cases
from eval.evidence.making import make_records
from indexes.readers.paper import make_paper
from retrieval.core.errors import BadInput
from retrieval.runtime.chat import Chat, ChatUnanswered
from tests.helpers.chat_server import Body, ChatServer, Reply, fault, serving, whole

SENTENCES = [
    "Abstract", "Stones are old.", "We weighed 40 stones.", "The best stone weighed 4 kg.", "Methods",
    "Forty stones were weighed twice.", "Results", "One stone weighed 4 kg.", "Others say that stones are light.",
]  # fmt: skip
PAPER = make_paper(SENTENCES, id="stones")
SUMMARY = "Forty stones were weighed; the best weighed 4 kg."
TASK = ToAnnotate("stones", PAPER, SUMMARY)
ASPECTS = [{"text": "Forty stones were weighed.", "kind": "methods"}, {"text": "The best weighed 4 kg.", "kind": "results"}]


def said(content: Any) -> Reply:
    return whole([{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(content)}}])


def annotate(body: Body) -> Reply:
    """Plays the model: what it shows it finds by words."""
    name, user = body["response_format"]["json_schema"]["name"], body["messages"][1]["content"]
    if name == "_Hypothesis":
        return said({"hypothesis": "Stones  are heavy."})
    if name == "_Aspects":
        return said({"aspects": [*ASPECTS, ASPECTS[0], {"text": "Nobody shows this.", "kind": "results"}]})
    asked_for = body["response_format"]["json_schema"]["schema"]["properties"]["shown"]["minItems"]
    lines = [line for line in user.split("Sentences:")[1].splitlines() if line.startswith("[")]
    assert asked_for == len(lines)
    shown = []
    for line in lines:
        number = int(line[1 : line.index("]")])
        if "eighed" in line:
            shown.append({"sentence": number, "aspects": [2, 9] if "4 kg" in line else [1]})
    return said({"shown": [*shown, {"sentence": 99, "aspects": [1]}, {"sentence": 1, "aspects": []}]})


@pytest.fixture
def server() -> Iterator[ChatServer]:
    for one in serving(said({})):
        one.script = annotate
        yield one


def test_a_paper_and_a_summary_become_a_record_that_the_evaluation_reads(server: ChatServer, tmp_path: Path) -> None:
    annotator = Annotator(Chat("m", server.url, retries=0), tmp_path / "work")
    (record,), faults = make_records([TASK], annotator)
    assert faults == []
    assert record["hypothesis"] == "Stones are heavy."
    assert record["aspect2sentence_indices"] == {"stones_aspect_0": [2, 5], "stones_aspect_1": [3, 7]}
    assert record["results_aspect_list_ids"] == ["stones_aspect_1"]
    assert record["sentence_types_in_candidate_pool"][:3] == ["section_name", "abstract", "abstract"]
    assert record["aspects"]["stones_aspect_2"]["text"] == "Nobody shows this."
    path = tmp_path / "made.jsonl"
    path.write_text(json.dumps(record), "utf-8")
    (case,) = read_cases([path])
    assert {name: goal.k for name, goal in case.goals.items()} == {
        "er-optimal": 2, "er-10": 10, "result-er-optimal": 1, "result-er-5": 5,
    }  # fmt: skip
    assert all(goal.recall(goal.best) == 1.0 for goal in case.goals.values())
    asked = len(server.bodies)
    assert make_records([TASK], Annotator(annotator.chat, tmp_path / "work"))[0] == [record]
    assert len(server.bodies) == asked, "every answer is kept"


def test_what_the_model_gets_wrong_costs_a_part_or_a_paper_and_not_the_run(server: ChatServer, tmp_path: Path) -> None:
    server.script = lambda body: fault(500) if "Methods" in str(body["messages"][1]) else annotate(body)
    annotator = Annotator(Chat("m", server.url, retries=0), tmp_path / "a")
    (record,), _ = make_records([TASK], annotator)
    assert record["parts_without_an_answer"] == 1
    assert record["aspect2sentence_indices"]["stones_aspect_0"] == [2]
    other = replace(TASK, id="other", summary="Something else.")
    nothing = said({"aspects": []})
    server.script = lambda body: nothing if "_Aspects" in str(body) and "Something" in str(body) else annotate(body)
    records, faults = make_records([other, TASK], annotator)
    assert [one["id"] for one in records] == ["stones"]
    assert faults == ["other: The model m named no aspect of the study."]
    server.close()
    with pytest.raises(ChatUnanswered, match="cannot be reached"):
        make_records([replace(TASK, summary="New.")], annotator)


def test_a_model_that_gives_every_aspect_to_every_sentence_has_read_none(server: ChatServer) -> None:
    aspects = [Aspect(f"Aspect {n}.", "results") for n in range(6)]
    part = next(part for part in split_paper(make_paper(["Results", "It rose.", "It fell.", "It stayed."])))
    chat = Chat("m", server.url, retries=0)
    rows = [{"sentence": one.index, "aspects": [1, 2, 3, 4, 5]} for one in part]
    server.script = lambda _: said({"shown": rows})
    with pytest.raises(ChatUnanswered, match="the same aspects for every sentence"):
        ask_for_alignment(chat, "It moved.", aspects, part)
    rows[0]["aspects"] = [2, 3]
    assert ask_for_alignment(chat, "It moved.", aspects, part)[part[0].index] == {1, 2}
    limits = server.bodies[-1]["response_format"]["json_schema"]["schema"]["$defs"]["_ShownAspects"]["properties"]["aspects"]
    assert limits["maxItems"] == 5


def test_a_paper_of_which_nothing_shows_an_aspect_is_no_record() -> None:
    nothing = Annotation("H.", (Aspect("A.", "results"),), (frozenset(),), 0)
    with pytest.raises(ChatUnanswered, match="found no sentence of the paper stones"):
        make_record(TASK, nothing, "m")


def test_parts_hold_no_heading_and_no_two_sections() -> None:
    parts = list(split_paper(make_paper(["Methods", *[f"We did {n} things." for n in range(30)], "Results", "It was so."])))
    assert [len(part) for part in parts] == [SHOWN_AT_ONCE, SHOWN_AT_ONCE, 6, 1]
    assert not any(one.heading for part in parts for one in part)


def test_the_fewest_and_the_best_sentences_are_those_of_trying_all() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        shown = {f"a{n}": set(rng.choice(9, size=rng.integers(1, 4), replace=False).tolist()) for n in range(6)}

        def count(chosen: tuple[int, ...], shown: dict[str, set[int]] = shown) -> int:
            return sum(not rows.isdisjoint(chosen) for rows in shown.values())

        fewest = next(k for k in range(1, 10) if any(count(one) == 6 for one in combinations(range(9), k)))
        assert count(cover_all(shown)) == 6
        assert len(cover_all(shown)) == fewest
        best = max(count(one) for one in combinations(range(9), 2))
        assert count(cover_most(shown, 2)) == best
        assert len(cover_most(shown, 2)) <= 2
    assert cover_all({}) == ()


def test_aspects_are_paired_so_that_they_are_most_alike() -> None:
    one, two, three = frozenset({1, 2}), frozenset({2, 3}), frozenset({9})
    assert pair_aspects([one, two], [two, one, three]) == (1.0, 1.0, 0.0)
    assert list(pair_aspects([one], [two, three])) == pytest.approx([1 / 3, 0.0])


def test_two_annotations_are_compared_by_sentences_and_aspects(server: ChatServer, tmp_path: Path) -> None:
    made, other = tmp_path / "made.jsonl", tmp_path / "other.jsonl"
    (record,), _ = make_records([TASK], Annotator(Chat("m", server.url, retries=0), tmp_path / "work"))
    made.write_text(json.dumps(record), "utf-8")
    aspects = {**record["aspect2sentence_indices"], "stones_aspect_1": [3]}
    other.write_text(json.dumps({**record, "aspect2sentence_indices": aspects}), "utf-8")
    agreement = compare_annotations(read_cases([made]), read_cases([other]))
    assert agreement.papers[0].sentences == (3, 1, 0, 2)
    assert (agreement.precision.value, agreement.recall.value) == (0.75, 1.0)
    assert agreement.likeness.value == 0.75
    assert agreement.found.value == 1.0
    assert agreement.kappa.value == pytest.approx((5 / 6 - (4 * 3 + 2 * 3) / 36) / (1 - (4 * 3 + 2 * 3) / 36))
    other.write_text(json.dumps({**record, "paper_as_candidate_pool": ["Other.", *SENTENCES[1:]]}), "utf-8")
    with pytest.raises(BadInput, match="other sentences"):
        compare_annotations(read_cases([made]), read_cases([other]))
    other.write_text(json.dumps({**record, "id": "no"}), "utf-8")
    with pytest.raises(BadInput, match="not in the other"):
        compare_annotations(read_cases([made]), read_cases([other]))


def test_the_command_makes_a_benchmark_of_a_paper_and_its_summary(server: ChatServer, tmp_path: Path) -> None:
    profile, paper, summary, out = (tmp_path / name for name in ("p.yaml", "stones.json", "s.txt", "out.jsonl"))
    writer = {"kind": "chat", "model": "m", "base_url": server.url, "retries": 0}
    profile.write_text(json.dumps({"name": "p", "generators": {"writer": writer}}), "utf-8")
    paper.write_text(json.dumps(SENTENCES), "utf-8")
    summary.write_text(SUMMARY, "utf-8")
    asked = [
        "make-evidence", "--paper", str(paper), "--summary", str(summary), "--out", str(out), "--profile", str(profile),
        "--work", str(tmp_path / "work"),
    ]  # fmt: skip
    done = CliRunner().invoke(bench_app, asked)
    assert done.exit_code == 0, done.output
    (case,) = read_cases([out])
    assert case.id == "stones"
    shown = CliRunner().invoke(bench_app, ["compare-evidence", str(out), str(out)])
    assert "F1" in shown.output
    assert "1.00 (1.00 to 1.00)" in shown.output
    for wrong, told in (
        (asked[:3] + asked[5:], "1 papers came with 0 summaries"),
        ([*asked, "--benchmark", str(out)], "Give either --paper"),
        ([*asked[:-4], "--profile", "embedded"], "no language model behind a server"),
    ):
        failed = CliRunner().invoke(bench_app, wrong)
        assert failed.exit_code == 2
        assert told in failed.output
    again = CliRunner().invoke(
        bench_app, ["make-evidence", "--benchmark", str(out), "--out", str(tmp_path / "b.jsonl"), *asked[-4:]]
    )
    assert again.exit_code == 0, again.output
    assert read_cases([tmp_path / "b.jsonl"])[0].hypothesis == "Stones are heavy."
