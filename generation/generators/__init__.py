"""Who writes an answer: quotations from the papers, a chat server, a model run here."""
