"""Long runs: a journal from which a killed run resumes."""
