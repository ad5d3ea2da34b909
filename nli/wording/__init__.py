"""How single words change a claim: the stance model's marks, and qualifiers."""
