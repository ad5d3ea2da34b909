"""The document reader: it reads a claim and a whole abstract in one pass, and gives the stance of the paper and of each sentence.

`abridge` chooses the sentences that fit, `encode` turns them into tokens, `judge` runs the shipped model on them.
"""
