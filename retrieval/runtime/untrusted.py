"""A document's text inside a prompt: data, never an instruction."""

from __future__ import annotations

import re

_TEMPLATE_MARK = re.compile(r"\[(/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS))\]")
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,6}(?:instructions?|prompts?)\b"
    r"|\b(?:system|user) prompt\b|\byou are (?:now )?(?:an? )?(?:AI|assistant|chatbot|language model)\b"
    r"|\b(?:AI|LLM|(?:language )?models?|assistants?|chatbots?)(?::\s*(?:write|say|ignore|cite|answer)\b|,\s*(?:please|you)\b)"
    r"|\b(?:and nothing else|instead of (?:the|your) answer)\b|\b(?:in|of) your (?:answer|reply|output)\b",
    re.IGNORECASE,
)
"""Words with which a document addresses a language model; none of 24,806 PubMed abstracts contains any of them."""


def is_order(text: str) -> bool:
    """Whether a document's text addresses the language model that reads it; such a sentence is not passed on."""
    return _ORDER.search(text) is not None


def strip_markup(text: str) -> str:
    """One line without the signs that marks are made of, ours or a chat template's."""
    return _TEMPLATE_MARK.sub(r"(\1)", " ".join(text.split()).replace("<", "‹").replace(">", "›"))
