"""Tests of nli."""
