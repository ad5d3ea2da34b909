"""The names used if none is given; kept apart from service.configuration.config, which loads too slowly for --help."""

from __future__ import annotations

CONFIG = "counterpoint"
ANSWERS = "counterpoint"
PROFILE = "embedded"
