"""An index on an OpenSearch cluster: its address, the connection, searches, documents and words."""
