"""Our judge and our reranker against sentence-transformers' CrossEncoder with the same encoder weights, in pairs per second.

The weights are written as a Hugging Face checkpoint. Two things of ours do not fit one: stance's marks on words (token types that
only our tokenizer makes; the checkpoint has the two plain ones) and its head (the checkpoint has Hugging Face's own, untrained;
either is less than a hundredth of the work). So its scores mean nothing and its work is the same. The texts are real: sentences,
or abstracts, that BM25 finds for claims drawn from the index, in each round those of another claim.

The judge is a cross-encoder and is compared like with like. The reranker is *not*: it encodes an abstract apart from the claim
and matches word pieces. There the comparison is in abstracts per second, all seen for the first time, one claim per round.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tqdm import tqdm

from bench.contenders.ours import v5
from bench.contenders.shipped_in_torch import bert_config, bert_state, weights
from bench.harness.setting import BenchOptions, BenchRow, NotHere, claims_of, fresh_cache, ratio_row
from nli.judges.embedded import STANCE_MODEL, make_premise_text
from nli.wording.marking import make_mark
from retrieval.core.values import Claim, Premise
from retrieval.index import Index
from retrieval.rerank.embedded import RELEVANCE_MODEL
from retrieval.rerank.reranker import make_passage
from retrieval.runtime.engine import read_card

OPTIONS = ("rounds", "pairs", "seed")
BAR = 3
Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Contest:
    """Two ways to score the pairs of one claim, and where the pairs come from."""

    name: str
    ours: Callable[[Claim, Sequence[Premise]], object]
    theirs: Callable[[Pairs], object]
    texts: Callable[[Claim], list[Premise]]
    read: Callable[[Premise], str]


def run(options: BenchOptions) -> dict[str, Any]:
    """Pairs per second of both, round by round in turn."""
    with fresh_cache(), TemporaryDirectory(prefix="bench-models-") as folder:
        grounder = v5(options.index)
        judge, reranker = grounder.models.judges["stance"], grounder.models.rerankers["relevance"]
        pmids: set[str] = set()
        contests = [
            Contest(
                "judge", lambda claim, texts: list(judge(claim.text, texts)),
                cross_encoder(Path(folder) / "stance", STANCE_MODEL, [make_mark(0, 0, 0), make_mark(1, 0, 0)], 3),
                lambda claim: sentences(grounder.index, claim, options.pairs), make_premise_text,
            ),
            Contest(
                "reranker", lambda claim, texts: reranker(claim.text, [one.text for one in texts]),
                cross_encoder(Path(folder) / "relevance", RELEVANCE_MODEL, [0, 0], 1),
                lambda claim: abstracts(grounder.index, claim, options.pairs, pmids), lambda one: one.text,
            ),
        ]  # fmt: skip
        claims = claims_of(grounder.index, options.rounds + 1, options.seed)
        rounds = {one.name: list(tqdm(contest(one, claims), desc=one.name, total=len(claims), disable=None)) for one in contests}
        grounder.index.close()
    # The first round is only a warm-up.
    return {name: [figures for figures in results[1:] if figures] for name, results in rounds.items()}


def contest(one: Contest, claims: Sequence[Claim]) -> Iterator[dict[str, float] | None]:
    """One round per claim, in alternating order; None for a claim without texts."""
    for number, claim in enumerate(claims):
        texts = one.texts(claim)
        if not texts:
            yield None
            continue
        pairs = [(claim.text, one.read(text)) for text in texts]
        work: dict[str, Callable[[], object]] = {
            "ours": lambda texts=texts, claim=claim: one.ours(claim, texts),  # type: ignore[misc]
            "theirs": lambda pairs=pairs: one.theirs(pairs),  # type: ignore[misc]
        }
        figures = {"pairs": float(len(pairs))}
        for name in sorted(work, reverse=number % 2 == 0):
            began = time.perf_counter()
            work[name]()
            figures[name] = len(pairs) / (time.perf_counter() - began)
        yield figures


def sentences(index: Index, claim: Claim, n: int) -> list[Premise]:
    """The first `n` sentences of the documents that BM25 finds."""
    entries = index.entries([hit.pmid for hit in index.search(claim.text, n)])
    return [Premise(one.text, entry.document.title) for entry in entries for one in entry.sentences()][:n]


def abstracts(index: Index, claim: Claim, n: int, old_pmids: set[str]) -> list[Premise]:
    """The first `n` documents that BM25 finds and no earlier round had, in the form that the reranker reads."""
    new = [hit.pmid for hit in index.search(claim.text, n + len(old_pmids)) if hit.pmid not in old_pmids][:n]
    old_pmids.update(new)
    return [Premise(make_passage(entry.document)) for entry in index.entries(new)]


def cross_encoder(folder: Path, model_folder: Path, types: Sequence[int], labels: int) -> Callable[[Pairs], object]:
    """sentence-transformers' `predict`, at its defaults, over the shipped encoder with these rows of its token types."""
    try:
        from sentence_transformers import CrossEncoder
    except ImportError:
        raise NotHere("The pairs are not measured: sentence-transformers is not installed; `make bench` installs it.") from None
    import torch
    from transformers import BertForSequenceClassification, PreTrainedTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    torch.set_num_threads(os.cpu_count() or 1)
    config = bert_config(len(types))
    config.num_labels = labels
    model = BertForSequenceClassification(config)
    model.bert.load_state_dict(bert_state(weights(model_folder), types), strict=False)
    model.save_pretrained(folder)
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_file=str(model_folder / "tokenizer.json"), cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]",
        unk_token="[UNK]", mask_token="[MASK]", model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    ready = CrossEncoder(str(folder), max_length=int(read_card(model_folder)["max_tokens"]), device="cpu", local_files_only=True)
    return lambda pairs: ready.predict(pairs, show_progress_bar=False)


def rows(result: dict[str, Any]) -> list[BenchRow]:
    """The ratio of medians of both."""
    measures = {
        "judge": "our judge against CrossEncoder.predict, pairs a second",
        "reranker": "our reranker (a bi-encoder by token) against CrossEncoder.predict, new abstracts a second",
    }
    return [
        ratio_row(
            what,
            [one["theirs"] for one in result[name]], [one["ours"] for one in result[name]], "a second", bar=BAR,
        )
        for name, what in measures.items()
    ]  # fmt: skip
