"""Checking a text: its sentences are classified, its claims grounded, and its citations read."""
