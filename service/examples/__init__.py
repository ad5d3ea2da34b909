"""Examples to begin with: claims, questions, a paper and a text, made of what an index holds."""
