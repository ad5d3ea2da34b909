"""Finding documents: the value types everything else speaks in, BM25 on Lucene, the document store, reranking."""
