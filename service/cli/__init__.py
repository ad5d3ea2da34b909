"""The command line of the service."""
