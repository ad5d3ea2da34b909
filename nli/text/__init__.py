"""The text of a paper: its sentences, sections, abstract and negations, and what each sentence does."""
