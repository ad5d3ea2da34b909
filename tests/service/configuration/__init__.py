"""Tests of service.configuration."""
