"""From judged sentences to a decision: which to judge, what they say about a document, which documents are chosen."""
