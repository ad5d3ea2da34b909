"""What the service remembers for its users: history, saved claims and their alerts, and what readers say of its verdicts.

All of it lies in one SQLite file (`database`); each row belongs to the holder of an API key, or, where no keys are set, to nobody
in particular ("").
"""
