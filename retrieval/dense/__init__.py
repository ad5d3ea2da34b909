"""Dense search: the encoder's interface, its implementations, and search on FAISS."""
