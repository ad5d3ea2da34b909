"""Fetching papers from PubMed and Europe PMC over their public interfaces."""
