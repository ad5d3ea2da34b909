"""Tests of retrieval.store."""
