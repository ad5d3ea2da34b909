"""What the service remembers for its users: history, saved claims and their alerts, and feedback on its verdicts.

All of it is in one SQLite file (`database`); each row belongs to the holder of an API key or, if no keys are set, to nobody in
particular ("").
"""
