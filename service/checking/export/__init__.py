"""Exporting a checked text: as a page, a table or Markdown."""
