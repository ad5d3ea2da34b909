"""From judged sentences to a decision: which to judge, what they say of a document, which document is chosen."""
