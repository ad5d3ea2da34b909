"""How near the judging of V5's contradiction branch comes to what these cores can do.

The lower limit of time is the larger of two: the floating-point operations of the pairs whose verdicts the branch uses, over the
speed of the fastest large matrix product on these cores (float32 or bfloat16, as many threads); and the bytes that must be read
at least once per claim (the encoder's matrices in float32, the texts of the documents examined) over the memory's bandwidth.
Whatever else the engine does (padding, a window read ahead, attention's softmax, tokenizing) is overhead. Both peaks are from the
same run.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from tokenizers import Tokenizer
from tqdm import tqdm

from bench.contenders.ours import every_sentence, run_side, v5, with_models
from bench.harness.setting import BenchOptions, BenchRow, amount, cache_at, claims_of, processor
from nli.judges.embedded import STANCE_MODEL, make_premise_text
from nli.judges.judge import Judge
from retrieval.core.result_cache import OFF
from retrieval.core.values import Claim, Premise, Verdict
from retrieval.runtime.engine import PairTokenizer, read_card
from retrieval.training.encoder import INNER, LAYERS, WIDTH

OPTIONS = ("claims", "seed")
_SIDE, _TRIES, _LONGEST, _COPIED = 2048, 20, 3.0, 1 << 28
_LAYER = 4 * WIDTH * WIDTH + 2 * WIDTH * INNER
"""The weights of a layer's matrices: query, key, value and output, and both of the feed-forward."""


def flops(tokens: int) -> int:
    """Floating-point operations of one pair of `tokens` tokens: two for each weight and token, and attention's two products.

    The usual count (Kaplan et al. 2020, arXiv 2001.08361, section 2.1), with attention; it includes the head, a thousandth.
    """
    head = 2 * (5 * WIDTH * WIDTH + 3 * WIDTH)
    return LAYERS * (2 * _LAYER * tokens + 4 * tokens * tokens * WIDTH) + head


class WatchedJudge:
    """A judge that measures its own time and keeps the premises whose verdicts were used."""

    def __init__(self, judge: Judge) -> None:
        self.name, self.decision, self._judge = judge.name, judge.decision, judge
        self.used: list[Premise] = []
        self.seconds = 0.0

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict per premise, in order."""
        inputs: list[Premise] = []

        def pass_on() -> Iterator[Premise]:
            for premise in premises:
                inputs.append(premise)
                yield premise

        verdicts, number = self._judge(claim, pass_on()), 0
        while True:
            began = time.perf_counter()
            verdict = next(verdicts, None)
            self.seconds += time.perf_counter() - began
            if verdict is None:
                return
            self.used.append(inputs[number])
            number += 1
            yield verdict


def run(options: BenchOptions) -> dict[str, Any]:
    """The peaks before and after and, for each claim, the work of its pairs and the seconds it took."""
    torch.set_num_threads(os.cpu_count() or 1)
    with cache_at(OFF):
        ours = every_sentence(v5(options.index))
        *claims, first = claims_of(ours.index, options.claims + 1, options.seed)
        tokenize = PairTokenizer(
            Tokenizer.from_file(str(STANCE_MODEL / "tokenizer.json")), int(read_card(STANCE_MODEL)["max_tokens"])
        )
        run_side(ours, first, "contradict")
        first_peaks = peaks()
        records = []
        for claim in tqdm(claims, desc="physical limit", unit=" claims", disable=None):
            judge = WatchedJudge(ours.models.judges["stance"])
            began = time.perf_counter()
            side = run_side(with_models(ours, judge), claim, "contradict")
            whole = time.perf_counter() - began
            tokens = lengths(tokenize, claim, judge.used)
            entries = ours.index.entries([hit.pmid for hit in ours.index.search(claim.text, side.counts.documents)])
            text_bytes = sum(len(one.document.title.encode()) + len(one.document.abstract.encode()) for one in entries)
            records.append(
                {
                    "pairs": len(tokens), "tokens": sum(tokens), "flops": sum(map(flops, tokens)), "judge": judge.seconds,
                    "branch": whole, "bytes": text_bytes + 4 * LAYERS * _LAYER,
                }
            )  # fmt: skip
        ours.index.close()
        last_peaks = peaks()
    return {"peaks": [first_peaks, last_peaks], "claims": records}


def lengths(tokenize: PairTokenizer, claim: Claim, premises: Sequence[Premise]) -> list[int]:
    """The number of tokens of each pair as the model reads it, without padding."""
    return [len(pair.ids) for pair in tokenize([(claim.text, make_premise_text(one)) for one in premises])] if premises else []


def peaks() -> dict[str, float]:
    """Operations per second of a large product, also in bfloat16 where the processor has it; bytes per second of a large copy.

    A copy reads and writes, and both count.
    """
    figures = {}
    # Without instructions for it, a product in bfloat16 takes minutes and cannot be the peak.
    kinds = {"float32": torch.float32} | ({"bfloat16": torch.bfloat16} if "bf16" in processor("flags") else {})
    for name, kind in kinds.items():
        square = torch.randn(_SIDE, _SIDE).to(kind)
        figures[name] = 2 * _SIDE**3 / fastest(partial(torch.mm, square, square))
    source, target = torch.zeros(_COPIED // 4), torch.zeros(_COPIED // 4)
    figures["bandwidth"] = 2 * _COPIED / fastest(partial(target.copy_, source))
    return figures


def fastest(work: Callable[[], object]) -> float:
    """The seconds of the fastest of several tries, after a warm-up; fewer tries where they are slow."""
    work()
    seconds: list[float] = []
    while len(seconds) < _TRIES and sum(seconds) < _LONGEST:
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def rows(result: dict[str, Any]) -> list[BenchRow]:
    """The peaks, and the limit as a share of the time of the judge and of the whole branch."""
    peak = {name: max(one[name] for one in result["peaks"]) for name in result["peaks"][0]}
    compute = max(peak[name] for name in peak if name != "bandwidth")
    records = [one for one in result["claims"] if one["pairs"]]
    if not records:
        return [BenchRow("share of the physical limit", "", "", "no pair was judged")]

    def share(of: str) -> str:
        limits = [max(one["flops"] / compute, one["bytes"] / peak["bandwidth"]) / one[of] for one in records]
        return f"{100 * statistics.median(limits):.1f} %"

    pairs, tokens = (sum(one[what] for one in records) for what in ("pairs", "tokens"))
    transfer_time = statistics.median(one["bytes"] / peak["bandwidth"] for one in records)
    return [
        BenchRow(
            f"share of the physical limit: judging ({pairs:,} pairs of {tokens / pairs:.0f} tokens)", "", "", share("judge")
        ),
        BenchRow("– the same of the whole branch", "", "", share("branch")),
        *(
            BenchRow(f"– peak of a large product, {kind}", "", amount(peak[kind] / 1e9, "GFLOP/s"), "")
            for kind in peak
            if kind != "bandwidth"
        ),
        BenchRow("– bandwidth of a large copy", "", amount(peak["bandwidth"] / 1e9, "GB/s"), ""),
        BenchRow("– reading every byte once, median of a claim", "", amount(transfer_time * 1000, "ms"), ""),
    ]
