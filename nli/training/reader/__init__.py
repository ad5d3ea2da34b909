"""How the document reader is made: its encoder, its examples, its loop. Needs torch; never imported to serve."""
