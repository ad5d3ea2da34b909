"""Reranking: the interface, the models behind it, fusion, diversity."""
