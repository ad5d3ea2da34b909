"""The page of an evaluation: what `eval scifact` measured, for people to read."""
