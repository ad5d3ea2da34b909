"""What a sentence says about a claim: the judge's seam, and the models behind it."""
