"""Which sentences can stand in an answer, and what each does there."""
