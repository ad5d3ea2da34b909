"""Starting examples: claims, questions, a paper and a text, made from the contents of an index."""
