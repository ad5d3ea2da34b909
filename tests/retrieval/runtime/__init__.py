"""Tests of models of the hub."""
