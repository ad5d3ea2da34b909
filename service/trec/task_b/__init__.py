"""TREC Task B: reading its topics, making a run, checking one."""
