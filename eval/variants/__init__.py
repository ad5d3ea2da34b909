"""Variants measured side by side on SciFact: one pass of each, the report, published figures."""
