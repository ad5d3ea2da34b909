"""`counterpoint serve`: its processes, what answers while they load, and the log."""
