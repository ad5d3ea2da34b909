"""BM25 on Lucene, the Java virtual machine behind it, and BM25 in memory."""
