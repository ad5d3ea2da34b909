"""One module a part of the benchmark."""
