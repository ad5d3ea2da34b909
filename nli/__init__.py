"""Reading sentences: their boundaries, their negations, and what they say about a claim."""
