"""Dense search: the encoder's seam, the encoders behind it, and search on FAISS."""
