"""Reading what is to be checked: one module a format, and the passage that each of them makes."""
