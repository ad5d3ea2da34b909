"""Tests of service.evidence."""
