"""Putting a ranking in a better order: the seam, the models behind it, fusion, variety."""
