"""SciFact: its files, its official measures, and the observations for one claim."""
