"""What every folder speaks in: the values, a paper, the errors, results kept on disk, the hash of the code."""
