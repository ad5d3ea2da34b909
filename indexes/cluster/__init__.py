"""Writing an index on an OpenSearch cluster: building, updating, copying."""
