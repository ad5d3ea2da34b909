"""Tests of the values and helpers that all folders share."""
