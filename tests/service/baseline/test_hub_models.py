"""The loaders of Hugging Face models, on tiny random models that are saved here; no test needs a network."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from counterpoint.retrieval.core.errors import BadConfig, ModelUnusable
from counterpoint.retrieval.core.probabilities import softmax
from counterpoint.retrieval.core.values import Premise
from counterpoint.service.baseline.hub import find_model
from counterpoint.service.baseline.hub_models import (
    CERTAIN,
    MEDNLI,
    ClassifierJudge,
    CrossEncoder,
    T5Judge,
    find_columns,
    make_verdict,
)
from counterpoint.service.configuration.config import Profile
from tests.helpers.tiny_models import tiny_classifier, tiny_t5

QUERY = "aspirin reduces risk of stroke"
TEXTS = [
    "heart disease in women with placebo and hormone therapy",
    "statin",
    "aspirin does not prevents stroke in men with heart disease and the risk was increases",
    "",
    "no effect on mortality",
    "trial of hormone therapy in women . mortality increases",
    "cancer",
]
CLAIM = "hormone therapy reduces risk of heart disease in women"


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models: `ranker`, `nli` (labels in an order of its own), `t5` (taught four answers)."""
    folder = tmp_path_factory.mktemp("models")
    tiny_classifier(folder / "ranker", ["LABEL_0"])
    tiny_classifier(folder / "nli", ["neutral", "contradiction", "entailment"])
    answers = {"yes": "entailment", "nope": "contradiction", "perhaps": "neutral", "odd": "banana"}
    tiny_t5(folder / "t5", answers=answers)
    return folder


@pytest.fixture(scope="module")
def ranker(models: Path) -> CrossEncoder:
    return CrossEncoder(str(models / "ranker"), batch_size=3)


@pytest.fixture(scope="module")
def judge(models: Path) -> ClassifierJudge:
    return ClassifierJudge(str(models / "nli"), batch_size=3)


@pytest.fixture(scope="module")
def t5(models: Path) -> T5Judge:
    return T5Judge(str(models / "t5"), batch_size=3)


def premises(*texts: str) -> list[Premise]:
    return [Premise(text) for text in texts]


def reference(folder: Path, first: str, second: str) -> list[float]:
    """Logits of one pair, computed by transformers alone (in lists: by itself an empty text would be no text)."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        logits: list[float] = model(**tokenizer([first], [second], return_tensors="pt")).logits[0].tolist()
    return logits


# ---- reranking


def test_scores_are_the_raw_logits_in_the_order_of_the_texts(models: Path, ranker: CrossEncoder) -> None:
    expected = [reference(models / "ranker", QUERY, text)[0] for text in TEXTS]
    assert ranker(QUERY, TEXTS) == pytest.approx(expected, abs=1e-4)
    assert ranker(QUERY, []) == []
    rough = CrossEncoder(str(models / "ranker"), precision="bfloat16")(QUERY, TEXTS)
    assert rough != ranker(QUERY, TEXTS) and rough == pytest.approx(expected, abs=0.5)
    assert max(expected) - min(expected) > 0.1  # or any order would pass


def test_a_long_query_is_capped_at_half_and_the_text_is_still_read(ranker: CrossEncoder) -> None:
    model, long_query = ranker._model, "aspirin " * 10_000
    assert model.count_tokens(model.shorten(long_query, 20)) == 20 + 2
    batch = model.encode([QUERY], ["stroke [SEP] [PAD] stroke"], 60)
    tokens = model.tokenizer.convert_ids_to_tokens(batch["input_ids"][0].tolist())
    assert [tokens.count(special) for special in ("[CLS]", "[SEP]", "[PAD]")] == [1, 2, 0], "marks in a text stay text"
    assert len(ranker(QUERY, ["risk " * 600])) == 1  # the tiny model has 64 positions, the default asks for 512
    assert ranker(long_query, ["stroke"]) != ranker(long_query, ["placebo"])


# ---- judging with a classifier


def test_labels_are_read_from_the_model_whatever_their_order(models: Path, judge: ClassifierJudge) -> None:
    for text, verdict in zip(TEXTS, judge(CLAIM, premises(*TEXTS)), strict=True):
        neutral, contradict, support = softmax(reference(models / "nli", text, CLAIM))  # premise first
        found = (verdict.support, verdict.neutral, verdict.contradict)
        assert found == pytest.approx((support, neutral, contradict), abs=1e-4)
        assert len({round(p, 3) for p in found}) == 3  # or any order would pass


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["CONTRADICTION", "ENTAILMENT", "NEUTRAL"], (1, 2, 0)),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], (0, 2, 1)),
        (["not_enough_info", "contradict", "entail"], (2, 0, 1)),
    ],
)
def test_the_usual_names_of_labels_are_known(names: list[str], expected: tuple[int, int, int]) -> None:
    assert find_columns("some/model", dict(enumerate(names))) == expected


def test_labels_that_say_nothing_need_a_mapping() -> None:
    generic = {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}
    with pytest.raises(ModelUnusable, match=r"LABEL_0, LABEL_1, LABEL_2; .*entailment, neutral.*labels: \{LABEL_0"):
        find_columns("some/model", generic)
    mapping = {"LABEL_0": "contradict", "LABEL_1": "neutral", "LABEL_2": "support"}
    assert find_columns("some/model", generic, mapping) == (2, 1, 0)
    with pytest.raises(BadConfig, match="LABEL_3"):
        find_columns("some/model", generic, {"LABEL_3": "neutral"})
    with pytest.raises(BadConfig, match="mapped to support, neutral, contradict"):
        find_columns("some/model", generic, {"LABEL_0": "refute"})


def test_the_premise_is_truncated_and_never_the_claim(judge: ClassifierJudge) -> None:
    tokenizer = judge._model.tokenizer
    claim = tokenizer(CLAIM, add_special_tokens=False)["input_ids"]
    row = judge._model.encode(["heart disease " * 500], [CLAIM], 32, "only_first")
    ids, segments = row["input_ids"][0].tolist(), row["token_type_ids"][0].tolist()
    assert (len(ids), ids[-len(claim) - 1 : -1]) == (32, claim)
    assert segments == [0] * (32 - len(claim) - 1) + [1] * (len(claim) + 1)


def test_the_title_is_context_where_asked_for(models: Path, judge: ClassifierJudge) -> None:
    titled = ClassifierJudge(str(models / "nli"), context="title")
    premise = Premise("mortality increases", title="Hormone therapy in women")
    spelled = premises("Hormone therapy in women. mortality increases")
    assert list(titled(CLAIM, [premise])) == list(judge(CLAIM, spelled))
    assert list(judge(CLAIM, [premise])) == list(judge(CLAIM, premises("mortality increases")))


def test_scores_that_are_no_numbers_stop_the_judging(tmp_path: Path) -> None:
    judge = ClassifierJudge(str(tiny_classifier(tmp_path, ["neutral", "contradiction", "entailment"])))
    judge._model.network.classifier.weight.data.fill_(float("nan"))
    with pytest.raises(ModelUnusable, match="returned values that are not numbers"):
        list(judge(CLAIM, premises("statin")))


# ---- judging with T5


def test_an_unknown_word_is_neutral_counted_and_logged_once(models: Path, caplog: pytest.LogCaptureFixture) -> None:
    judge = T5Judge(str(models / "t5"), batch_size=1)
    with caplog.at_level(logging.WARNING):
        verdicts = list(judge("statin reduces risk", premises("odd in women", "yes", "odd")))
    assert [v == CERTAIN["neutral"] for v in verdicts] == [True, False, True]
    assert judge.unknown_words == 2
    assert [record.getMessage().count("'banana'") for record in caplog.records] == [1]


def test_the_word_decides_and_the_first_token_only_grades() -> None:
    assert make_verdict(" Entailment ", [2.0, 0.0, 0.0]).support == pytest.approx(0.787, abs=1e-3)
    assert make_verdict("contradiction", [2.0, 0.0, 0.0]) == CERTAIN["contradict"]  # another spelling won the first step
    assert make_verdict("entailment", [1.0, 1.0, 0.0]) == CERTAIN["support"]  # a tie would read as neutral
    assert make_verdict("entailment", None) == CERTAIN["support"]
    assert make_verdict("entail", [2.0, 0.0, 0.0]) == CERTAIN["neutral"]


def test_label_words_that_begin_alike_give_whole_verdicts(tmp_path: Path) -> None:
    judge = T5Judge(str(tiny_t5(tmp_path, letters=True)))
    assert list(judge(CLAIM, premises("statin"))) == [CERTAIN["neutral"]]
    assert judge._decode(judge.make_prompts(CLAIM, ["statin"]))[0][1] is None


def read_back(judge: T5Judge, claim: str, premise: str) -> str:
    ids = judge._model.encode(judge.make_prompts(claim, [premise]), None, 10_000)["input_ids"][0].tolist()
    assert len(ids) <= 256
    text: str = judge._model.tokenizer.decode(ids, skip_special_tokens=True)
    return text


def test_a_long_text_loses_its_tail_and_nothing_else_is_lost(models: Path, t5: T5Judge) -> None:
    assert t5.make_prompts(CLAIM, [TEXTS[2]]) == [MEDNLI.format(premise=TEXTS[2], hypothesis=CLAIM)], (
        "a short one is as in training"
    )

    long_premise = "yes " + "heart disease " * 500
    text = read_back(t5, CLAIM, f"{long_premise} placebo")
    assert text.startswith("mednli: sentence1: yes heart disease heart") and text.endswith(f"heart sentence2: {CLAIM}")
    assert len(text.split()) > 240

    before, after = read_back(t5, "statin " * 20_000, long_premise).split(" sentence2: ")
    assert before.startswith("mednli: sentence1: yes heart disease") and len(before.split()) > 100
    assert after == " ".join(["statin"] * 128), "a claim is capped at half"

    judge = T5Judge(str(models / "t5"), prefix="claim: {hypothesis} premise: {premise} answer:")
    text = read_back(judge, "{premise} " + CLAIM, "yes {hypothesis} {0} " + "heart disease " * 500)
    assert text.startswith("claim: {premise} " + CLAIM + " premise: yes {hypothesis} {0} heart"), "braces are text"
    assert text.endswith("heart answer:")


@pytest.mark.parametrize("prefix", ["mednli: {premise}", "{premise} {premise} {hypothesis}", "no places"])
def test_a_prefix_needs_both_places_once_and_leaves_room(models: Path, prefix: str) -> None:
    with pytest.raises(BadConfig, match="once each"):
        T5Judge("some/model", prefix=prefix)
    with pytest.raises(BadConfig, match="at most a quarter"):
        T5Judge(str(models / "t5"), prefix="risk " * 100 + "{premise} {hypothesis}")


# ---- many at once


# ---- names and files


def test_a_name_tells_the_weights_apart(models: Path, ranker: CrossEncoder, tmp_path: Path) -> None:
    folder, digest = ranker.name.split("@")
    assert (folder, len(digest)) == ("ranker", 12)
    copy = shutil.copytree(models / "ranker", tmp_path / "ranker")
    assert CrossEncoder(str(copy)).name == ranker.name
    tiny_classifier(copy, ["LABEL_0"], seed=1)
    assert CrossEncoder(str(copy)).name != ranker.name


@pytest.mark.parametrize(
    ("load", "error", "told"),
    [
        (lambda at: CrossEncoder(f"{at}/nli"), ModelUnusable, "gives 3 scores for a pair; expected one"),
        (lambda at: CrossEncoder(f"{at}/ranker", device="abacus"), BadConfig, "expected auto, cpu or cuda"),
        (lambda at: find_columns("m", {0: "entailment", 1: "not_entailment"}), ModelUnusable, "not_entailment; expected three"),
        (lambda at: T5Judge(f"{at}/nli"), ModelUnusable, "do not load as a Seq2SeqLM model"),
        (lambda at: find_model("/nowhere/model"), ModelUnusable, "no model folder /nowhere/model"),
        (lambda at: find_model("a/b/c d"), ModelUnusable, "check the name"),
        (lambda at: CrossEncoder(str(at)), ModelUnusable, "do not load as a SequenceClassification model"),
        (lambda at: find_model(f"{at}/nli", "main"), BadConfig, "no revisions"),
    ],
)
def test_what_cannot_be_a_model_or_an_option_is_refused(models: Path, load: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        load(models)


@pytest.mark.parametrize(
    ("section", "options", "told"),
    [
        ("rerankers", {"kind": "cross-encoder", "model": "m", "batch_size": 0}, "greater than or equal to 1"),
        ("rerankers", {"kind": "cross-encoder", "model": "m", "precision": "float8"}, "'auto', 'float32' or 'bfloat16'"),
        ("judges", {"kind": "classifier", "model": "m", "context": "paragraph"}, "'sentence' or 'title'"),
        ("judges", {"kind": "t5", "model": "m", "max_tokens": 4}, "greater than or equal to 16"),
        ("encoders", {"kind": "medcpt", "batch_size": 0}, "greater than or equal to 1"),
        ("encoders", {"kind": "bi-encoder", "model": "m", "pooling": "max"}, "'cls' or 'mean'"),
        ("generators", {"kind": "causal", "model": "m", "document_words": 3}, "greater than or equal to 20"),
    ],
)
def test_options_out_of_range_are_refused_when_the_profile_is_read(section: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Profile.model_validate({"name": "p", section: {"model": options}})


@pytest.mark.parametrize("kind", [CrossEncoder, ClassifierJudge, T5Judge])
def test_a_model_that_is_not_here_says_how_to_fetch_it(kind: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")  # nobody listens
    with pytest.raises(ModelUnusable, match=r"cannot be fetched .*download it once .*`hf download some/model`.*HF_HOME"):
        kind("some/model")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelUnusable, match="HF_HUB_OFFLINE"):
        kind("some/model")


def test_damaged_and_missing_weights_are_one_sentence(models: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForSequenceClassification

    bare = shutil.copytree(models / "nli", tmp_path / "bare")
    whole: Any = AutoModelForSequenceClassification.from_pretrained(bare)
    whole.base_model.save_pretrained(bare)
    with pytest.raises(ModelUnusable, match=r"no trained classifier\.bias, classifier\.weight"):
        ClassifierJudge(str(bare))
    cut = shutil.copytree(models / "nli", tmp_path / "cut")
    (cut / "model.safetensors").write_bytes((cut / "model.safetensors").read_bytes()[:2000])
    with pytest.raises(ModelUnusable, match="do not load"):
        ClassifierJudge(str(cut))
    (cut / "model.safetensors").unlink()
    with pytest.raises(ModelUnusable, match="do not load"):
        ClassifierJudge(str(cut))
