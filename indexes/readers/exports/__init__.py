"""What reference managers, databases and spreadsheets export: a module for each kind of file, and `entry` for all of them."""
