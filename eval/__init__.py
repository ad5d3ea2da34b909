"""Measuring: SciFact as a proxy, and the measures that cannot be fooled."""
