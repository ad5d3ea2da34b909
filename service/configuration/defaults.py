"""What is taken where nothing is named; apart from service.configuration.config, which takes longer to load than --help may."""

from __future__ import annotations

CONFIG = "counterpoint"
ANSWERS = "counterpoint"
PROFILE = "embedded"
