"""How the readers and the model of roles are made. Needs torch; never imported to serve."""
