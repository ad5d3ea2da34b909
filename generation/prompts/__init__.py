"""What generators are told, one file each."""
