"""What the words of a query say: how rare they are, how they are spelt, and queries made of them."""
