"""Tests of eval/answers."""
