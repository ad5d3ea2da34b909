"""Reading the text to check: one module for each format, and the passage that they all return."""
