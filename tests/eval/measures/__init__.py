"""Tests of eval/measures."""
