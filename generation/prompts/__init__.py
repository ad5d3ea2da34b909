"""What language models are told, one file each, and what fills it in."""
