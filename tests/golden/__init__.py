"""Frozen outputs: what the commands and the API answer to fixed inputs, held against the files in `frozen`.

`python -m tests.golden [TEST …]` writes the files anew, `inputs` holds what is asked; `holding.py` says what is left out.
"""
