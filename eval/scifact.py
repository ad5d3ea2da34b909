"""SciFact dev as a proxy for TREC's Task A, as the paper uses it: where does the first gold document stand?

The measure is stance-blind: a ranking that judges nothing scores as well as one that does (docs/evaluation.md), so plain BM25 is
printed beside every variant. The measures that cannot be fooled are another module's.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import bootstrap
from tqdm import tqdm

from eval.expected import PAPER
from eval.measures import reciprocal_ranks, weighted_mrr
from indexes.build import build
from retrieval.errors import BadInput
from retrieval.values import Claim, Stance
from service.assemble import assemble
from service.config import Branch
from service.ground import Grounder

CLAIMS, CORPUS = "claims_dev", "corpus"
_LABELS: dict[str, Stance] = {"SUPPORT": "support", "REFUTE": "contradict", "CONTRADICT": "contradict"}
_ORIGIN = "the data are at https://github.com/allenai/scifact (data.tar.gz: corpus.jsonl and claims_dev.jsonl)"
_SEED, _RESAMPLES = 20251121, 2000
CUT = 3


@dataclass(frozen=True)
class LabelledClaim:
    """A claim with the documents that bear on it, all of one stance; none where the corpus holds no evidence."""

    claim: Claim
    stance: Stance | None
    gold: frozenset[str]


@dataclass(frozen=True)
class Figure:
    """A mean with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """One system: MRR of the first gold document for supports, for contradictions, and weighted by their numbers.

    `cut` is the rank after which nothing counts; None counts the whole ranking.
    """

    system: str
    cut: int | None
    support: Figure
    contradict: Figure
    weighted: float


@dataclass(frozen=True)
class Report:
    """The figures, and all that is needed to make them again."""

    claims: dict[str, int]
    rows: tuple[Row, ...]
    paper: Mapping[str, Any]
    provenance: Mapping[str, Any]


def load(folder: str | Path | None) -> tuple[list[LabelledClaim], Path]:
    """SciFact's dev claims and the path of its corpus, from a folder that holds them (or holds `scifact`), plain or gzipped."""
    if not folder:
        raise BadInput(f"No data folder is named; give --data DIR or set COUNTERPOINT_DATA ({_ORIGIN}).")
    given = Path(folder)
    root = given / "scifact" if (given / "scifact").is_dir() else given
    claims_file, corpus = (_find(root, name) for name in (CLAIMS, CORPUS))
    return [_labelled(claims_file, number, line) for number, line in enumerate(_lines(claims_file), 1)], corpus


def _find(root: Path, name: str) -> Path:
    for suffix in (".jsonl", ".jsonl.gz"):
        if (root / f"{name}{suffix}").is_file():
            return root / f"{name}{suffix}"
    raise BadInput(f"{root} has no {name}.jsonl or {name}.jsonl.gz; name the folder with SciFact's files ({_ORIGIN}).")


def _lines(path: Path) -> list[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            return [line for line in file if line.strip()]
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read to its end ({error}); fetch it anew, {_ORIGIN}.") from None


def _labelled(path: Path, number: int, line: str) -> LabelledClaim:
    try:
        record = json.loads(line)
        evidence: dict[str, Any] = record.get("evidence") or {}
        stances = {_LABELS[sets[0]["label"]] for sets in evidence.values()}
        claim = Claim(text=record["claim"], id=str(record["id"]))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise BadInput(f"{path}, line {number}: a SciFact claim with id, claim and evidence was expected.") from None
    # A claim with evidence of both stances has no place in a table of one stance a claim; dev holds none.
    stance = stances.pop() if len(stances) == 1 else None
    return LabelledClaim(claim, stance, frozenset(evidence) if stance else frozenset())


def evaluate(claims: Sequence[LabelledClaim], corpus: Path, config: str, profile: str) -> Report:
    """Index the corpus, rank for every claim with evidence, and measure the variant beside plain BM25."""
    with tempfile.TemporaryDirectory(prefix="counterpoint-scifact-") as folder:
        index = Path(folder) / "index"
        build([corpus], index, format="scifact")
        grounder = assemble(index, config, profile)
        judged = [one for one in claims if one.stance]
        variant = {one.claim.id: _ranking(grounder, one) for one in tqdm(judged, desc=config, unit=" claims", disable=None)}
        plain = {one.claim.id: _bm25(grounder, one) for one in judged}
        rows = [
            _row(name, cut, judged, run) for name, run in (("BM25, no stance", plain), (config, variant)) for cut in (None, CUT)
        ]
        provenance = {
            "corpus_sha256": grounder.index.manifest.corpus_sha256,
            "config": grounder.config.model_dump(),
            "profile": profile,
            "models": grounder.models.names(),
            "bootstrap": {"resamples": _RESAMPLES, "seed": _SEED},
        }
        grounder.index.close()
    counts = {stance: sum(one.stance == stance for one in claims) for stance in ("support", "contradict")}
    return Report({"all": len(claims), **counts}, tuple(rows), PAPER, provenance)


def _ranking(grounder: Grounder, labelled: LabelledClaim) -> list[str]:
    """The ranking of the branch that the claim's own stance asks for, uncut, as the paper measures it.

    It ends with the last gold document: what stands behind it cannot change the rank of the first.
    """
    stance = labelled.stance
    assert stance is not None
    branch: Branch = getattr(grounder.config, stance)
    k = branch.retrieve.k
    if branch.rerank is None:
        found = [rank for rank, hit in enumerate(grounder.index.search(labelled.claim.text, k), 1) if hit.pmid in labelled.gold]
        if not found:
            return []
        k = found[-1]
    # Which sentence a document would show plays no part in its rank.
    uncut = branch.model_copy(
        update={
            "retrieve": branch.retrieve.model_copy(update={"k": k}),
            "select": branch.select.model_copy(update={"n": k}),
            "evidence": None,
        }
    )
    whole = Grounder(grounder.index, grounder.config.model_copy(update={stance: uncut}), grounder.models)
    evidence, _ = whole.run_branch(labelled.claim, stance)
    return [one.document.pmid for one in evidence]


def _bm25(grounder: Grounder, labelled: LabelledClaim) -> list[str]:
    return [hit.pmid for hit in grounder.index.search(labelled.claim.text, grounder.config.contradict.retrieve.k)]


def _row(system: str, cut: int | None, claims: Sequence[LabelledClaim], run: Mapping[str, Sequence[str]]) -> Row:
    values = {
        stance: reciprocal_ranks({c.claim.id: c.gold for c in claims if c.stance == stance}, run, cut)
        for stance in ("support", "contradict")
    }
    support, contradict = (_figure(values[stance]) for stance in ("support", "contradict"))
    weighted = weighted_mrr(support.mean, len(values["support"]), contradict.mean, len(values["contradict"]))
    return Row(system, cut, support, contradict, weighted)


def _figure(values: Sequence[float]) -> Figure:
    sample = np.asarray(values)
    if not len(sample):
        return Figure(float("nan"), float("nan"), float("nan"))
    if (sample == sample[0]).all():
        return Figure(float(sample[0]), float(sample[0]), float(sample[0]))
    found = bootstrap((sample,), np.mean, n_resamples=_RESAMPLES, method="percentile", rng=np.random.default_rng(_SEED))
    return Figure(float(sample.mean()), float(found.confidence_interval.low), float(found.confidence_interval.high))


def report_json(report: Report) -> str:
    """The report as JSON."""
    return json.dumps(asdict(report), indent=2)


def report_lines(report: Report) -> list[str]:
    """The report as a table for people, the paper's figures below ours."""
    counts = report.claims
    lines = [
        f"SciFact dev, {counts['all']} claims: MRR of the first gold document over the {counts['support']} SUPPORT and "
        f"{counts['contradict']} CONTRADICT claims.",
        "",
        f"{'system':<24}{'cut':>6}   {'MRR support':<23}{'MRR contradict':<23}{'weighted':>8}",
    ]
    for row in report.rows:
        cut = "none" if row.cut is None else f"@{row.cut}"
        lines.append(
            f"{row.system:<24}{cut:>6}   {_interval(row.support):<23}{_interval(row.contradict):<23}{row.weighted:>8.3f}"
        )
    for name, figures in report.paper.items():
        support, contradict = f"{figures['support']:.3f}", f"{figures['contradict']:.3f}"
        lines.append(f"{name:<24}{'?':>6}   {support:<23}{contradict:<23}{figures['weighted']:>8.3f}")
    lines += [
        "",
        "The measure is stance-blind: it asks where a gold document stands, not whether its stance was seen. The paper does not",
        "say where it cuts its rankings.",
        "models: " + (", ".join(f"{role} {name}" for role, name in report.provenance["models"].items()) or "none"),
    ]
    return lines


def _interval(figure: Figure) -> str:
    return f"{figure.mean:.3f} ({figure.low:.3f}-{figure.high:.3f})"
