"""Tests of TREC runs."""
