"""Tests of retrieval.training."""
