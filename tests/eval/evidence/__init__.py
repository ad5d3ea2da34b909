"""Tests of eval/evidence."""
