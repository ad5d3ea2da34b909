"""`python -m service.cli`, where the command itself is not installed."""

from service.cli.commands import main

main()
