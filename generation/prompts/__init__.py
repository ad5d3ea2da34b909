"""The prompts for language models, one file each, and the code that fills them in."""
