"""A checked text to take along: a page, a table, Markdown."""
