"""An index on an OpenSearch cluster: its address, connection, searches, documents and words."""
