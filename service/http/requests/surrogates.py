"""Lone surrogates: JSON can escape them, but they are no characters, and no UTF-8 can be made of them."""

from __future__ import annotations

import json

from retrieval.core.characters import replace_surrogates


def repair_json(text: str) -> str:
    r"""The same JSON with U+FFFD in place of each lone surrogate (`\ud800`); raises `ValueError` if it is not JSON."""
    if "\\ud" not in text.lower():
        return text
    return replace_surrogates(json.dumps(json.loads(text), ensure_ascii=False))
