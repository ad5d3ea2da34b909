"""Speed and memory: `python -m bench` measures a service that it starts, `bench.load` one that runs.

`cluster` starts a local OpenSearch, `llm` a language model. The quality of results is measured in `eval`.
"""
