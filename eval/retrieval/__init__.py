"""Retrieval measured on collections of others: BEIR's layout, CrossGenre, LitSearch."""
