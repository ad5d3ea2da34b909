"""A small language model, fetched from PyPI and served on this machine: the reference for testing our chat client."""
