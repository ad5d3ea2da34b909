"""Variants measured side by side on SciFact: one pass per variant, the report, and published figures."""
