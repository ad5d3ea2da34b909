"""Tests of indexes.cluster."""
