"""Building an index: readers for the formats literature comes in, the writer, updates."""
