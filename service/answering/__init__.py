"""Answering a question: the answer is written, its citations are checked, and disagreement is shown."""
