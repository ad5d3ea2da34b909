"""Evaluation: SciFact as a proxy task, and measures that a trivial baseline cannot game."""
