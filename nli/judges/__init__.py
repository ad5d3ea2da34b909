"""What a sentence says about a claim: the judge interface and the models that implement it."""
