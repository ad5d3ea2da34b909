"""TREC runs: what both tasks share."""
