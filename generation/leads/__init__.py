"""The first sentence of an answer to a question that asks for yes or no."""
