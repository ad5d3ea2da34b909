"""Tests of indexes/readers/full_text."""
