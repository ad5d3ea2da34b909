"""A language model as judge, alone and behind the shipped stance model, on sentences with known labels."""
