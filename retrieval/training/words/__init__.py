"""Making the word weights and word lists that ship, from the data folder."""
