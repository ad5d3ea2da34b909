"""Tests of encoders and dense search."""
