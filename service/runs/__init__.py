"""Long runs: a journal from which a killed run resumes, and shards that a merge puts together."""
