"""The documents of the tests of Task A."""

from __future__ import annotations

DOCUMENTS = [
    {"pmid": "11", "title": "Best", "abstract": "Zeta is for lower pressure."},
    {"pmid": "12", "title": "", "abstract": "Zeta is not against pressure."},
    {"pmid": "13", "title": "", "abstract": "Zeta is safe for all."},
]
