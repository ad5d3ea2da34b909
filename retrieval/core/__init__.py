"""What every folder uses: the values, a paper, the errors, results kept on disk, the hash of the code."""
