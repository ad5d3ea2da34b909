"""Tests of nli.training."""
