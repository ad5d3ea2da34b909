"""Stance by any Hugging Face sequence classifier with the three labels of natural language inference.

Examples are MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli (Laurer et al. 2024,
https://doi.org/10.1017/pan.2023.20) and jedick/DeBERTa-v3-base-mnli-fever-anli-scifact-citint. The premise comes
first and the hypothesis, here the claim, second. Models order and name their labels differently, so the labels are
read from `id2label` and never assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

from nli.judge import judge_lazily
from retrieval.core.errors import BadConfig, ModelUnusable
from retrieval.core.probabilities import softmax
from retrieval.core.values import LABELS, Document, Label, Premise, Verdict
from retrieval.rerank.reranker import make_passage
from retrieval.runtime.torch_runtime import Precision, Runtime, refuse_below

Context = Literal["sentence", "title"]

# What models call the three classes (MNLI, FEVER, SciFact and their descendants); compared without case, "_" and
# "-" as " ".
NAMES: dict[Label, tuple[str, ...]] = {
    "support": ("entailment", "entails", "entail", "support", "supports", "supported"),
    "neutral": ("neutral", "not enough info", "not enough information", "nei", "noinfo", "no info"),
    "contradict": ("contradiction", "contradicts", "contradict", "refutes", "refute", "refuted"),
}


def _simplify(name: object) -> str:
    return " ".join(str(name).lower().replace("_", " ").replace("-", " ").split())


def find_columns(model: str, id2label: Mapping[int, str], labels: Mapping[str, str] | None = None) -> tuple[int, int, int]:
    """Which of the model's outputs are support, neutral and contradict, by the names of its labels.

    `labels` maps the model's own names to our three, for models whose names say nothing, and takes precedence over
    `NAMES`. Raises `BadConfig` or `ModelUnusable` where the names do not identify the three classes.
    """
    own = {_simplify(name) for name in id2label.values()}
    for name, label in (labels or {}).items():
        if _simplify(name) not in own or label not in LABELS:
            raise BadConfig(
                f"labels: {name}: {label} does not fit the model {model}; expected its own label names "
                f"({', '.join(map(str, id2label.values()))}) mapped to {', '.join(LABELS)}."
            )
    classes: dict[str, str] = {name: label for label, names in NAMES.items() for name in names}
    classes |= {_simplify(name): label for name, label in (labels or {}).items()}
    columns = {classes[_simplify(name)]: index for index, name in id2label.items() if _simplify(name) in classes}
    if len(id2label) != 3 or len(columns) != 3:
        names = ", ".join(str(id2label[index]) for index in sorted(id2label))
        raise ModelUnusable(
            f"The judge {model} has the labels {names}; expected three, named entailment, neutral and "
            "contradiction (or support, not enough info, refute); choose a three-way NLI model or, if only the "
            "names differ, map them in the profile, "
            "like labels: {LABEL_0: contradict, LABEL_1: neutral, LABEL_2: support}."
        )
    return columns["support"], columns["neutral"], columns["contradict"]


class ClassifierJudge:
    """A `Judge`: the softmax of a three-way classifier. The premise is truncated to fit, never the claim.

    `context` is what is read as the premise: its text alone ("sentence"), or "Title. Text" ("title"). `max_tokens`
    counts premise, claim and special tokens. Premises are consumed `window` at a time and run `batch_size` at a
    time: a caller that stops early wastes at most one window.
    Raises `BadConfig` for options out of range.
    """

    name: str

    def __init__(
        self,
        model: str,
        max_tokens: int = 512,
        context: Context = "sentence",
        batch_size: int = 16,
        window: int = 32,
        device: str = "auto",
        revision: str | None = None,
        precision: Precision = "float32",
        labels: Mapping[str, str] | None = None,
    ) -> None:
        if context not in get_args(Context):
            raise BadConfig(f"Unknown context {context!r}; expected one of {', '.join(get_args(Context))}.")
        refuse_below(1, batch_size=batch_size, window=window)
        refuse_below(8, max_tokens=max_tokens)
        self._runtime = Runtime(model, "SequenceClassification", device, precision, revision)
        self._columns = find_columns(model, self._runtime.config.id2label, labels)
        self.name = self._runtime.name
        self._max_tokens, self._context = max_tokens, context
        self._batch_size, self._window = batch_size, window

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict per premise, in order, lazily."""
        return judge_lazily(lambda chunk: self._judge(claim, chunk), premises, self._window)

    def _judge(self, claim: str, premises: Sequence[Premise]) -> list[Verdict]:
        bare = self._context == "sentence"
        texts = [one.text if bare else make_passage(Document(pmid="", title=one.title, abstract=one.text)) for one in premises]
        rows = self._runtime.pairs(claim, texts, self._max_tokens, kept_first=False)
        logits = self._runtime.logits(rows, self._batch_size)
        return [Verdict(*softmax([row[column] for column in self._columns]).tolist()) for row in logits]
