"""The kinds of models of the Hugging Face hub: a reranker, judges, encoders and a generator (docs/models.md)."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from counterpoint.generation.draft import Draft, Failed, Limits, Source
from counterpoint.generation.language_models import JSON
from counterpoint.generation.prompting import Prompt, fill_prompt
from counterpoint.generation.replies import keep_whole_sentences
from counterpoint.nli.judge import judge_lazily
from counterpoint.retrieval.core.characters import unify_characters
from counterpoint.retrieval.core.errors import BadConfig, ModelUnusable
from counterpoint.retrieval.core.probabilities import softmax
from counterpoint.retrieval.core.values import LABELS, Document, Label, Premise, Topic, Usage, Verdict
from counterpoint.retrieval.dense.encoder import Vectors, normalise
from counterpoint.retrieval.rerank.reranker import make_passage
from counterpoint.retrieval.runtime.replies import strip_thoughts
from counterpoint.retrieval.runtime.untrusted import strip_markup
from counterpoint.retrieval.runtime.usage import record
from counterpoint.service.baseline.hub import HubModel, Precision

logger = logging.getLogger(__name__)
Count = Annotated[int, Field(ge=1)]
Tokens = Annotated[int, Field(ge=16)]
"""Options are checked when a profile is read."""
WINDOW = 32
"""Premises judged at a time: a caller that stops early wastes at most so many."""


class CrossEncoder:
    """A `Reranker`: the raw logit of each (query, text) pair. The text is truncated to fit, never the query.

    Made for ncbi/MedCPT-Cross-Encoder (Jin et al. 2023, https://doi.org/10.1093/bioinformatics/btad651); any model with one logit
    will do. `max_tokens` counts query, text and special tokens; `batch_size` is in pairs. Raises `ModelUnusable` for a model with
    more than one output.
    """

    def __init__(
        self,
        model: str,
        max_tokens: Tokens = 512,
        batch_size: Count = 16,
        device: str = "auto",
        revision: str | None = None,
        precision: Precision = "float32",
    ) -> None:
        self._model = HubModel(model, "SequenceClassification", device, precision, revision)
        self.name, self._max_tokens, self._batch_size = self._model.name, max_tokens, batch_size
        if (outputs := self._model.config.num_labels) != 1:
            raise ModelUnusable(
                f"The reranker {model} gives {outputs} scores for a pair; expected one: choose a cross-encoder "
                "with a single output, such as ncbi/MedCPT-Cross-Encoder (a classifier belongs under judge)."
            )

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One logit per text, in order; unbounded, higher is more relevant."""
        return [float(row[0]) for row in self._model.pair(query, texts, self._max_tokens, self._batch_size, kept_first=True)]


NAMES: dict[Label, tuple[str, ...]] = {
    "support": ("entailment", "entails", "entail", "support", "supports", "supported"),
    "neutral": ("neutral", "not enough info", "not enough information", "nei", "noinfo", "no info"),
    "contradict": ("contradiction", "contradicts", "contradict", "refutes", "refute", "refuted"),
}
"""What models call the three classes (MNLI, FEVER, SciFact and their descendants), without case, "_" and "-" as " "."""


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
    """A `Judge`: the softmax of a three-way classifier. The premise comes first and is truncated to fit, never the claim.

    Made for MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli (Laurer et al. 2024, https://doi.org/10.1017/pan.2023.20).
    `context` is what is read as the premise: its text alone ("sentence"), or "Title. Text" ("title"). `max_tokens` counts
    premise, claim and special tokens.
    """

    def __init__(
        self,
        model: str,
        max_tokens: Tokens = 512,
        context: Literal["sentence", "title"] = "sentence",
        batch_size: Count = 16,
        device: str = "auto",
        revision: str | None = None,
        precision: Precision = "float32",
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self._model = HubModel(model, "SequenceClassification", device, precision, revision)
        self._columns = list(find_columns(model, self._model.config.id2label, labels))
        self.name, self._max_tokens, self._batch_size = self._model.name, max_tokens, batch_size
        self._bare = context == "sentence"

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict per premise, in order, lazily."""

        def judge(chunk: Sequence[Premise]) -> list[Verdict]:
            texts = [one.text if self._bare else make_passage(Document("", one.title, one.text)) for one in chunk]
            rows = self._model.pair(claim, texts, self._max_tokens, self._batch_size, kept_first=False)
            return [Verdict(*softmax(row[self._columns].tolist()).tolist()) for row in rows]

        return judge_lazily(judge, premises, WINDOW)


MEDNLI = "mednli: sentence1: {premise} sentence2: {hypothesis}"
WORDS: dict[str, Label] = {"entailment": "support", "neutral": "neutral", "contradiction": "contradict"}
"""What T5 writes, in the order of `Verdict`'s fields."""
CERTAIN: dict[Label, Verdict] = {
    "support": Verdict(1.0, 0.0, 0.0),
    "neutral": Verdict(0.0, 1.0, 0.0),
    "contradict": Verdict(0.0, 0.0, 1.0),
}


def make_verdict(word: str, logits: Sequence[float] | None) -> Verdict:
    """The verdict for a decoded `word`, which decides; `logits`, those of the first tokens of `WORDS`, only grade it by softmax.

    Where they do not agree with the word (another spelling won that step), its class gets probability 1. A word that is none of
    the three is neutral: it is no evidence for either side.
    """
    label = WORDS.get(word.strip().lower())
    if label is None:
        return CERTAIN["neutral"]
    verdict = Verdict(*softmax(logits).tolist()) if logits is not None else CERTAIN[label]
    return verdict if verdict.label == label else CERTAIN[label]


class T5Judge:
    """A `Judge` that writes its verdict as a word, in at most `decode_tokens` tokens.

    Made for razent/SciFive-large-Pubmed_PMC-MedNLI (Phan et al. 2021, https://arxiv.org/abs/2106.03598). `prefix` is the whole
    prompt, with {premise} and {hypothesis} (the claim) once each. The premise is truncated to fit, the claim only where it takes
    more than half of `max_tokens`. `unknown_words` counts answers that were none of the three words. Raises `BadConfig` for a
    prompt that does not fit.
    """

    def __init__(
        self,
        model: str,
        prefix: str = MEDNLI,
        max_tokens: Tokens = 256,
        decode_tokens: Count = 8,
        batch_size: Count = 16,
        device: str = "auto",
        revision: str | None = None,
        precision: Precision = "float32",
    ) -> None:
        if sorted(re.findall(r"\{premise\}|\{hypothesis\}", prefix)) != ["{hypothesis}", "{premise}"]:
            raise BadConfig(f"The prefix {prefix!r} must contain {{premise}} and {{hypothesis}} once each.")
        self._model, self._prefix = HubModel(model, "Seq2SeqLM", device, precision, revision), prefix
        self.name, self._room = self._model.name, min(max_tokens, self._model.limit)
        # A claim may take at most half of the room and the prompt a quarter, which leaves a quarter for the premise.
        if (words := self._model.count_tokens(self._fill("", ""))) > self._room // 4:
            raise BadConfig(f"The prefix {prefix!r} takes {words} of {self._room} tokens; it may take at most a quarter.")
        self._decode_tokens, self._batch_size = decode_tokens, batch_size
        firsts = [self._model.tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in WORDS]
        self._firsts = firsts if len(set(firsts)) == len(firsts) else None
        self.unknown_words = 0

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict per premise, in order, lazily."""
        return judge_lazily(lambda chunk: self._judge(claim, chunk), premises, WINDOW)

    def _judge(self, claim: str, premises: Sequence[Premise]) -> list[Verdict]:
        prompts = self.make_prompts(claim, [one.text for one in premises])
        order = sorted(range(len(prompts)), key=lambda i: -len(prompts[i]))
        verdicts: dict[int, Verdict] = {}
        for start in range(0, len(order), self._batch_size):
            places = order[start : start + self._batch_size]
            answers = self._decode([prompts[i] for i in places])
            verdicts.update((i, make_verdict(*answer)) for i, answer in zip(places, answers, strict=True))
        return [verdicts[i] for i in range(len(prompts))]

    def make_prompts(self, claim: str, premises: Sequence[str]) -> list[str]:
        """The prompts, in which the tail of a premise that does not fit is cut off."""
        claim = self._model.shorten(claim, self._room // 2)
        room = self._room - self._model.count_tokens(self._fill("", claim))
        return [self._fill(self._model.shorten(unify_characters(premise), room), claim) for premise in premises]

    def _fill(self, premise: str, hypothesis: str) -> str:
        """The prompt. Not `str.format`: braces in a paper are text."""
        return re.sub(r"\{(premise|hypothesis)\}", lambda place: premise if place[1] == "premise" else hypothesis, self._prefix)

    def _decode(self, prompts: Sequence[str]) -> list[tuple[str, list[float] | None]]:
        """The word with which the model answers each prompt, and the logits of the three words' first tokens where usable."""
        model = self._model
        with model.run_exclusively():
            batch = model.encode(prompts, None, self._room)
            output = model.network.generate(
                **batch, max_new_tokens=self._decode_tokens, do_sample=False, num_beams=1, return_dict_in_generate=True,
                output_logits=True,
            )  # fmt: skip
            words = model.tokenizer.batch_decode(output.sequences, skip_special_tokens=True)
        odd = [word for word in words if word.strip().lower() not in WORDS]
        if odd and not self.unknown_words:
            logger.warning(
                "%s answered %r, which is not one of %s; such answers count as neutral (logged once)",
                self.name, odd[0], ", ".join(WORDS),
            )  # fmt: skip
        self.unknown_words += len(odd)
        if self._firsts is None:
            return [(word, None) for word in words]
        return list(zip(words, model.check_finite(output.logits[0][:, self._firsts]).tolist(), strict=True))


Pooling = Literal["cls", "mean"]


class BiEncoder:
    """An `Encoder` with one network for both sides and vectors of length 1; made for Snowflake/snowflake-arctic-embed-m-v2.0.

    `query_prefix` precedes every query, as in the model's training; `pooling` turns the vectors of a text's tokens into one: the
    first token's (`cls`) or their `mean`. `max_tokens` includes special tokens.
    """

    def __init__(
        self,
        model: str,
        query_prefix: str = "",
        pooling: Pooling = "cls",
        max_tokens: Tokens = 512,
        batch_size: Count = 16,
        device: str = "auto",
        revision: str | None = None,
        precision: Precision = "float32",
        trust_remote_code: bool = False,
    ) -> None:
        self._model = HubModel(model, "Encoder", device, precision, revision, trust_remote_code)
        if getattr(self._model.config, "is_encoder_decoder", False):
            raise ModelUnusable(
                f"The model {model} is an encoder-decoder, and dense retrieval needs an encoder only; choose one such as "
                "Snowflake/snowflake-arctic-embed-m-v2.0."
            )
        self._prefix, self._pooling, self._max_tokens, self._batch_size = query_prefix, pooling, max_tokens, batch_size
        self.name = f"{self._model.name}/{pooling}{max_tokens}"

    def queries(self, texts: Sequence[str]) -> Vectors:
        """[texts, width]: one vector of length 1 per query."""
        return normalise(
            _embed(self._model, [self._prefix + one for one in texts], self._max_tokens, self._batch_size, self._pooling)
        )

    def documents(self, documents: Sequence[Document]) -> Vectors:
        """[documents, width]: one vector of length 1 per document, of "Title. Abstract"."""
        texts = [make_passage(document) for document in documents]
        return normalise(_embed(self._model, texts, self._max_tokens, self._batch_size, self._pooling))


class MedCPTEncoder:
    """MedCPT's pair of networks, one for queries and one for articles: the first token's vector, its length left as it is."""

    def __init__(
        self,
        query_model: str = "ncbi/MedCPT-Query-Encoder",
        article_model: str = "ncbi/MedCPT-Article-Encoder",
        batch_size: Count = 16,
        device: str = "auto",
        precision: Precision = "float32",
    ) -> None:
        self._query, self._article = (HubModel(one, "Encoder", device, precision, None) for one in (query_model, article_model))
        self._batch_size = batch_size
        self.name = f"{self._query.name}+{self._article.name}"

    # It was trained to read 64 and 512 tokens (Jin et al. 2023, https://doi.org/10.1093/bioinformatics/btad651).
    def queries(self, texts: Sequence[str]) -> Vectors:
        """[texts, width]: one vector per query."""
        return _embed(self._query, texts, 64, self._batch_size)

    def documents(self, documents: Sequence[Document]) -> Vectors:
        """[documents, width]: one vector per document, read as the pair of title and abstract."""
        titles = [self._article.shorten(one.title, 256) for one in documents]
        return _embed(self._article, titles, 512, self._batch_size, others=[one.abstract for one in documents])


def _embed(
    model: HubModel,
    texts: Sequence[str],
    most: int,
    batch_size: int,
    pooling: Pooling = "cls",
    others: Sequence[str] | None = None,
) -> Vectors:
    """[texts, width]: the last layer's vector of each text's first token, or the mean of its tokens'."""

    def pool(output: object, batch: Mapping[str, object]) -> object:
        tokens, mask = output.last_hidden_state.float(), batch["attention_mask"].unsqueeze(-1)  # type: ignore[attr-defined]
        return tokens[:, 0] if pooling == "cls" else (tokens * mask).sum(dim=1) / mask.sum(dim=1)

    return np.stack(model.each(texts, others, most, batch_size, pool, "only_second" if others else True))


NONE = re.compile(r"\W*none\W*", re.IGNORECASE)
_SMALLEST = 20
"""The fewest words of each abstract with which an answer is worth asking for."""


class CausalGenerator:
    """A `Generator`: greedy decoding of at most `max_tokens` tokens, so that the same inputs give the same answer.

    The prompt holds `document_words` of each abstract, fewer if it would not fit the model's context window. The sampling that
    a model's own settings ask for is not used.
    """

    extractive = False

    def __init__(
        self,
        model: str,
        max_tokens: Count = 600,
        document_words: Annotated[int, Field(ge=_SMALLEST)] = 400,
        device: str = "auto",
        revision: str | None = None,
        precision: Precision = "auto",
    ) -> None:
        self._model = HubModel(model, "CausalLM", device, precision, revision)
        if not self._model.tokenizer.chat_template:
            raise ModelUnusable(f"The model {model} has no chat template; choose an instruction-tuned model.")
        self._max_tokens, self._document_words = max_tokens, document_words
        self.name = self._model.name

    def __call__(self, topic: Topic, sources: Sequence[Source], limits: Limits, prompt: str, first: str = "") -> Draft:
        """The model's answer, with citation marks."""
        name = "one-shot" if prompt == JSON else prompt
        return self._ask(lambda words: fill_prompt(name, topic, sources, words), self._max_tokens)

    def correct(self, failed: Sequence[Failed], topic: Topic, sources: Sequence[Source]) -> list[Draft]:
        """The sentences as the model rewrites them, one by one; an empty draft for one that it cannot."""

        def rewrite(sentence: str) -> Draft:
            text = strip_markup(sentence)
            return self._ask(
                lambda words: fill_prompt("rewrite", topic, sources, words, sentence=text), min(self._max_tokens, 200)
            )

        return [rewrite(one.sentence.text) for one in failed]

    def _ask(self, prompt: Callable[[int], Prompt], max_tokens: int) -> Draft:
        ids = self._fit_prompt(prompt, self._model.limit - max_tokens)
        import torch

        model, given = self._model, torch.tensor([ids], device=self._model.device)
        with model.run_exclusively():
            options = {"max_new_tokens": max_tokens, "do_sample": False, "num_beams": 1}
            new = model.network.generate(given, attention_mask=torch.ones_like(given), **options)[0].tolist()[len(ids) :]
            text = strip_thoughts(model.tokenizer.decode(new, skip_special_tokens=True))
        record(Usage(1, len(ids), len(new)))
        text = keep_whole_sentences(text) if len(new) >= max_tokens else text
        return Draft("" if NONE.fullmatch(text) else text)

    def _fit_prompt(self, prompt: Callable[[int], Prompt], room: int) -> list[int]:
        """The prompt's tokens, with as many words of each abstract as fit into `room`, halved until they do."""
        words, ids = self._document_words, list[int]()
        while words >= _SMALLEST:
            ids = self._apply_template(prompt(words))
            if len(ids) <= room:
                return ids
            words //= 2
        raise ModelUnusable(
            f"The prompt takes {len(ids):,} tokens and the window of {self.name} leaves {room:,}; "
            "give fewer documents or another model."
        )

    def _apply_template(self, prompt: Prompt) -> list[int]:
        """The tokens of the chat; if a template has no system message, the instructions begin the user's."""
        tokenizer = self._model.tokenizer
        system, user = {"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}
        try:
            text = tokenizer.apply_chat_template([system, user], tokenize=False, add_generation_prompt=True)
        except Exception:  # templates raise Jinja's errors for roles that they do not know
            user["content"] = f"{prompt.system}\n\n{prompt.user}"
            text = tokenizer.apply_chat_template([user], tokenize=False, add_generation_prompt=True)
        with self._model.run_exclusively():
            return list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
