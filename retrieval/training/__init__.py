"""What the training of both embedded models shares: encoder, loop, export. Needs torch; never imported to serve."""
