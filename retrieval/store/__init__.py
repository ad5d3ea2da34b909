"""What an index holds besides Lucene: its manifest, the documents in SQLite; and finished parts of long jobs (`journal`)."""
