"""From a language model's reply to a draft: its citation marks, its sentences."""
