"""Tests of service.output."""
