"""BM25 on Lucene, the Java machine behind it, and BM25+ in memory."""
