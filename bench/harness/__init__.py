"""Shared by the parts of the benchmark: settings, a service to measure, a fresh process, the table."""
