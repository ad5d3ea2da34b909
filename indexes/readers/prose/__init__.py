"""Texts of any kind, as plain characters and the blocks that they form (`passage`): Word, PDF, HTML and Markdown."""
