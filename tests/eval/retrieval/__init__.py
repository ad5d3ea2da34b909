"""Tests of eval/retrieval."""
