"""Reading a sentence without its abstract: a test of whether it may be quoted for what the paper found.

Within an abstract, a reader lends each sentence what the others say: "Serum thromboxane was higher" passes for evidence about
blood pressure. Read alone, it does not.
"""

MOST = 3
"""Sentences of a paper that are read alone. One of the first three was evidence in 99 % of the papers examined
(docs/experiments.md)."""
_ANYWAY = 0.15
"""What a sentence is worth that says nothing when it is read alone; one that clearly speaks for the side adds 1."""


def weigh_alone(worth: float, probability: float) -> float:
    """A sentence's worth within its paper, weighted by the `probability` that, read alone, it speaks for the paper's side."""
    return worth * (_ANYWAY + probability)
