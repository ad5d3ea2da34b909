"""Measures and their uncertainty: formulas, intervals, and a report as data."""
