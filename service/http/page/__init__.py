"""The page: its files, and what serves them."""
