"""The prompts for language models, one file each; generation.prompting fills them in."""
