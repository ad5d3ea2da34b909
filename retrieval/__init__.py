"""Finding documents: the value types that everything else uses, BM25 on Lucene, the document store, reranking."""
