"""Words of queries and texts: their forms, how rare they are, what they stand for, and the names that a paper must mention."""
