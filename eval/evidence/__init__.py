"""Evidence inside a paper, measured on EvidenceBench."""
