"""Words of queries and texts: their forms, how rare they are, what they stand for, and acronyms."""
