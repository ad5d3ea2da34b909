"""Retrieval measured on published collections: BEIR's layout, CrossGenre, LitSearch."""
