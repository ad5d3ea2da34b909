"""The generators of answers: quotations from the papers, a chat server, a model run locally."""
