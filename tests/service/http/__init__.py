"""Tests of the HTTP service and of how it is run."""
