"""The variants of *Negation is Not Semantic* (arXiv 2603.17580) and what only they need, beside the product."""
