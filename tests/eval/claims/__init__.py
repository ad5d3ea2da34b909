"""Tests of eval/claims."""
