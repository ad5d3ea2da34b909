"""Tests of eval/scifact."""
