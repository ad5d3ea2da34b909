"""Three real OpenSearch nodes on this machine, a process each: `make cluster`, the tests and the measurements start them."""
