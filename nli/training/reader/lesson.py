"""What the reader learns from: a claim, a document and what the document says about the claim."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lesson:
    """A claim, a document's sentences and the label. `evidence` are the places of the evidence sentences, None where nobody
    marked them; `group` names the paper, whose lessons are in one batch; `lean` is the log odds of support over contradiction
    that the claim's words alone give away."""

    claim: str
    title: str
    sentences: tuple[str, ...]
    label: int
    evidence: tuple[int, ...] | None
    source: str
    group: str = ""
    lean: float = 0.0
