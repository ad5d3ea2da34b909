"""Tests of indexes."""
