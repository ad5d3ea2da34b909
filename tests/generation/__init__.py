"""Tests of generation."""
