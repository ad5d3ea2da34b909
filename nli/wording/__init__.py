"""How single words change a claim: opposites, numbers, qualifiers."""
