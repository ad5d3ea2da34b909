"""Writing an index on an OpenSearch cluster; `places` and `following` choose between a cluster and a folder."""
