"""What single words do to a claim: opposites, numbers, reservations."""
