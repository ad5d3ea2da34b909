"""Input typed where a claim is expected: a claim, a question, keywords, a paper, a text, or another language."""
