"""Tests of indexes/readers."""
