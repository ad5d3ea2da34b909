"""Evidence inside one paper."""
