"""Tests, in folders like the code's; `helpers` holds what they share."""
