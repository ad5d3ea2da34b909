"""Reading a sentence without its abstract: a test of whether it may be quoted for what the paper found.

Within an abstract, a reader lends each sentence what the others say: "Serum thromboxane was higher" passes for evidence about
blood pressure. Read alone, it does not. The reading is that of a paper of one sentence without a title; with the title, and with
the calibration of sentences, it tells less (docs/research/experiments.md).
"""

import math

READ_ALONE = 3
"""How many sentences of a paper are read alone. One of the first three was evidence in 99 % of the papers examined
(docs/research/experiments.md)."""
_SILENT_WEIGHT = 0.15
"""The factor for a sentence that says nothing when it is read alone; the probability that it speaks for the side is added."""


def weigh_alone(worth: float, probability: float) -> float:
    """The root of a sentence's worth within its paper, weighted by the probability of the paper's side in it alone."""
    return math.sqrt(worth) * (_SILENT_WEIGHT + probability)
