"""What an index holds besides Lucene: its manifest, and the documents in SQLite."""
