"""Answering a question: written, its citations checked, disagreement shown."""
