"""Writing an index on an OpenSearch cluster; `places` chooses between a cluster and a folder."""
