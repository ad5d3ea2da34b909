"""The one way to skip a test: the reason names what is missing, and why it is right that it may be."""

from __future__ import annotations

import re

_FORM = re.compile(r"Missing: .+\. Rightly, since .+\.")


def missing(what: str, why: str) -> str:
    """The reason of a skip: `what` is not here, which is right `why`. It is accepted where any other skip fails."""
    return f"Missing: {what}. Rightly, since {why}."


def is_accounted_for(reason: str) -> bool:
    """Whether a skip's reason has the form of `missing`."""
    return _FORM.fullmatch(reason) is not None
