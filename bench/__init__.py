"""All measurements of speed and memory; `python -m bench` runs the benchmark."""
