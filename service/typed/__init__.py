"""What was typed into a box that asks for a claim: a claim, a question, keywords, a paper, a text, or another language."""
