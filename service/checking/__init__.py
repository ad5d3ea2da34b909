"""Checking a text: its sentences told apart, its claims grounded, its citations read."""
