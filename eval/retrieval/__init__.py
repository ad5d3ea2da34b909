"""Retrieval measured on published collections: in BEIR's layout."""
