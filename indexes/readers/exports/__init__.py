"""What reference managers, databases and spreadsheets export, each format in a module of its own."""
