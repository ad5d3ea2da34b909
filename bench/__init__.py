"""Speed and memory, measured beside a named peer: `python -m bench` runs the parts `ground`, `task-a`, `build` and `memory`.

`load` and `generate` are commands of their own, `cluster` starts a local OpenSearch, `llm` a language model. The quality of
results is measured in `eval`.
"""
