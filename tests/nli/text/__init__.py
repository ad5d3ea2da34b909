"""Tests of nli.text."""
