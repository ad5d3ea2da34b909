"""A small language model, fetched from PyPI and served on this machine: the reference that our chat client is tried with."""
