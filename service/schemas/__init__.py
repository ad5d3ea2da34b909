"""Schemas that the JSON bodies of several calls share."""
