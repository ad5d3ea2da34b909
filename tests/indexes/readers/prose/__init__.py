"""Tests of indexes/readers/prose."""
