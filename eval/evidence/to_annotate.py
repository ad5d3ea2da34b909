"""The papers to annotate: papers with a review's text about each, or the benchmark's own papers, for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eval.evidence.annotation import ToAnnotate
from eval.evidence.evidencebench import EvidenceCase
from eval.measures.names import find_repeated
from indexes.readers.paper import read_paper
from nli.text.roles import ROLES, load_role_model
from retrieval.core.errors import BadInput
from retrieval.core.paper import Paper

MOST_WORDS = 1000
"""The longest summary accepted, in words: a longer text is not a summary of one study."""


def read_tasks(papers: Sequence[Path], summaries: Sequence[Path]) -> list[ToAnnotate]:
    """Each paper with a review's summary of it, from a text file; a paper's id is its file's name.

    Raises `BadInput` for differing counts, repeated names, and files that hold no paper or no summary.
    """
    if len(papers) != len(summaries) or not papers:
        raise BadInput(f"{len(papers)} papers came with {len(summaries)} summaries; give --paper and --summary once for each.")
    names = [path.name.split(".")[0] for path in papers]
    duplicate = find_repeated(names)
    if duplicate is not None:
        raise BadInput(f"Two papers are called {duplicate}; give their files different names.")
    return [
        ToAnnotate(name, read_paper(paper), _read_summary(summary))
        for name, paper, summary in zip(names, papers, summaries, strict=True)
    ]


def _read_summary(path: Path) -> str:
    try:
        text = " ".join(path.read_text("utf-8").split())
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read ({error}); expected a text file with a summary of the study.") from None
    words = len(text.split())
    if not 0 < words <= MOST_WORDS:
        raise BadInput(f"{path} has {words:,} words; expected a summary of one study, of 1 to {MOST_WORDS:,} words.")
    return text


def take_from_benchmark(cases: Sequence[EvidenceCase]) -> list[ToAnnotate]:
    """The benchmark's papers with its hypotheses. It does not publish the reviews' text, so the paper's own abstract, without its
    background, stands in for it."""
    return [ToAnnotate(case.id, case.paper, _summarise(case.paper), case.hypothesis) for case in cases]


def _summarise(paper: Paper) -> str:
    if not paper.abstract:
        raise BadInput(f"The paper {paper.id} has no abstract that could stand in for a review's summary of it.")
    background = ROLES.index("background")
    roles = load_role_model().probabilities(paper.abstract).argmax(axis=1)
    sentences = [one.text for one, role in zip(paper.abstract, roles, strict=True) if role != background]
    return " ".join(sentences or [one.text for one in paper.abstract])
