"""SciFact: its files, its official measures, and what is found out of one claim."""
