"""What the JSON bodies of several calls share."""
