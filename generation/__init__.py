"""Writing answers in which every sentence is cited."""
