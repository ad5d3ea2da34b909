"""Lone surrogates: JSON can escape them, but they are no characters, and no UTF-8 can be made of them."""

from __future__ import annotations

import json


def repair_json(text: str) -> str:
    r"""The same JSON with U+FFFD in place of each lone surrogate (`\ud800`); raises `ValueError` if it is not JSON."""
    if "\\ud" not in text.lower():
        return text
    plain = json.dumps(json.loads(text), ensure_ascii=False)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
