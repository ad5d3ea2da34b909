"""The document reader: a claim and a whole abstract in one pass, to the paper's stance and each sentence's part in it.

`abridge` chooses the sentences that fit, `encode` lays them out as tokens, `judge` runs the shipped model on them.
"""
