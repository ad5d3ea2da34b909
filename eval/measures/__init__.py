"""Measures and how far they can be trusted: formulas, intervals, and a report as data."""
