"""Papers brought from PubMed and Europe PMC over their public interfaces."""
