"""The names used if none is given; kept apart from service.configuration.config, which loads too slowly for --help."""

from __future__ import annotations

CONFIG = "counterpoint"
ANSWERS = "counterpoint"
PROFILE = "embedded"

MOST_READ = 20
"""How many papers may be read for a claim: as many as are found."""

MOST_KNOWN = 1000
"""How many papers may be given as known for a claim."""
