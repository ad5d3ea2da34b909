"""Reranking: the interface and the models behind it."""
