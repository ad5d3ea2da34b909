"""Tests of the words of queries and texts."""
