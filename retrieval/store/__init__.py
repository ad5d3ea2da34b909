"""What lies in an index beside Lucene: its manifest, and the documents in SQLite."""
