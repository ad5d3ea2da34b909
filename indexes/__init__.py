"""Making an index: `build`, `update`, `vectors`; `readers` has the formats that documents come in, `fetch` downloads papers, and
`cluster` writes to OpenSearch. An index is opened and searched in `retrieval`.
"""
