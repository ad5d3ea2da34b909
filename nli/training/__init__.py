"""How the stance model is made: its pairs, its loop, its calibration. Needs torch; never imported to serve."""
