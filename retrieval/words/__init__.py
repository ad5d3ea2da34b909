"""The words of a query: how rare they are, how they are spelt, and the queries made from them."""
