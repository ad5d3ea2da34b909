"""`python -m counterpoint.service.cli`, where the command itself is not installed."""

from counterpoint.service.cli.commands import main

main()
