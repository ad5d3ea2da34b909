"""The text of a paper: its sentences, sections, abstract and negations, and the role of each sentence."""
