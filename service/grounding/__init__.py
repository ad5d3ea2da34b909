"""Grounding a claim: the documents that support it and those that contradict it."""
