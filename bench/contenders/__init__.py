"""What is compared: the plain pipeline, our variants, and the shipped weights as Hugging Face modules."""
