"""Tests of service/examples."""
