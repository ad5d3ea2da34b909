"""Output for people: lines for the terminal, and files to export."""
