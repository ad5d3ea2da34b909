"""`counterpoint serve`: its processes, the responder while they load, and the log."""
