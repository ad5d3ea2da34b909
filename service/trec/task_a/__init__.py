"""TREC Task A: reading its items, making a run, checking one."""
