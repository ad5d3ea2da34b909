"""Tests of service.reading."""
