"""Removing what language models put around an answer: headings, lists, tables, code fences, labels, another task.

Nothing is decided here about what a sentence says; that is left to the check (service.answering).
"""

from __future__ import annotations

import json
import re
from typing import Any

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_DOCUMENT = re.compile(r"<document\b.*?(?:</document>|\Z)", re.DOTALL | re.IGNORECASE)
_REFERENCES = re.compile(r"^\W*(?:references|sources|citations|bibliography)\W*$", re.IGNORECASE | re.MULTILINE)
_NEXT_TASK = re.compile(r"^\W*(?:question|user|human|these are the documents)\s*[:.]", re.IGNORECASE | re.MULTILINE)
_TASK_LINE = re.compile(r"^\W*(?:question|narrative|topic)\s*:", re.IGNORECASE)
_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_ANSWER = re.compile(r"^\W{0,4}(?:(?:final|corrected)\s+)?(?:answer|response|sentence)\s*:[*_]*\s*", re.IGNORECASE)
_TABLE_ROW = re.compile(r"^\s*\|")
_BULLET = re.compile(r"^\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|>\s+)")
_HEADING = re.compile(r"^\s*(?:#+\s+\S|(?:\*\*|__)[^*_]+(?:\*\*|__):?\s*$)")
_BOLD_LABEL = re.compile(r"^\*\*([^*]{1,60}?):?\*\*:?\s*(?=\S)")
_EMPHASIS = re.compile(r"\*\*|__|`")
_MARK = re.compile(r"[\[【(]\s*(?:[A-Za-z]+\.?\s*[:#]?\s*)?\d[\d\s,;–-]*[\]】)]")
_STOP = re.compile(r"[.!?][\])”\"'’]*(?:\s*\[[\d\s,;–-]+\])*(?=\s+[A-ZÀ-Þ\d\[“\"(*#-]|\s*$)")
_AUTHOR = r"[A-Z][\w'’-]+(?:\s+(?:et\s+al\.?|(?:and|&)\s+[A-Z][\w'’-]+),?|,)\s+(?:19|20)\d\d[a-z]?"
_AUTHORS = re.compile(rf"\s*[\[(]{_AUTHOR}(?:\s*;\s*{_AUTHOR})*[\])]")
_ADDRESS = re.compile(r"\s*[\[(]?\b(?:https?://|doi:\s*|10\.\d{4,9}/)[^\s\])]+[\])]?", re.IGNORECASE)
_WORDS = re.compile(r"(?:\w+\W+){5}")
"""The least text that can be an answer before an end marker; if there is less, the answer is still to come."""
_ANSWER_KEYS = ("answer", "response", "text", "content", "summary")
"""The keys under which a model that writes code puts its answer."""


def clean_reply(text: str) -> str:
    """The running text of a reply, one block per line, with marks and sentences as they were written."""
    text = _DOCUMENT.sub(" ", _THINKING.sub(" ", _unwrap_json(text)))
    text = _FENCE.sub("", text)
    for ending in (_REFERENCES, _NEXT_TASK):
        match = next((one for one in ending.finditer(text) if _WORDS.search(text[: one.start()])), None)
        text = text[: match and match.start()]
    text = _ADDRESS.sub("", _AUTHORS.sub("", _ANSWER.sub("", text.strip())))
    return "\n".join(line for one in text.split("\n") if (line := _clean_line(one)))


def _clean_line(line: str) -> str:
    """The line without its list marker; "" for a heading, a row of a table, or words that introduce a list."""
    mark = _MARK.search(line)
    if _TABLE_ROW.match(line) or _TASK_LINE.match(line) or (_HEADING.match(line) and not mark):
        return ""
    line = _BULLET.sub("", line).lstrip("# ").strip()
    line = _EMPHASIS.sub("", _BOLD_LABEL.sub(_keep_subject, line)).strip()
    line = _ANSWER.sub("", line)
    return "" if line.endswith(":") and not mark else line


def _keep_subject(label: re.Match[str]) -> str:
    """ "**Garlic:** lowers …" needs its first word; "**Context:** Fever is …" does not."""
    return f"{label.group(1)} " if label.string[label.end() :][:1].islower() else ""


def _unwrap_json(text: str) -> str:
    """The answer inside a JSON object, or the text as it is."""
    body = _FENCE.sub("", text).strip()
    if not (body.startswith("{") and body.endswith("}")):
        return text
    try:
        content: Any = json.loads(body)
    except ValueError:
        return text
    return next((content[key] for key in _ANSWER_KEYS if isinstance(content.get(key), str)), text)


def keep_whole_sentences(text: str) -> str:
    """The text up to the last full stop: what was cut off in mid-sentence is dropped.

    A point inside a number ends no sentence, nor does one after a digit at the very end: what followed it is not known.
    """
    ends = list(_STOP.finditer(text))
    while ends and not text[ends[-1].end() :].strip() and re.search(r"\d\.$", text[: ends[-1].end()]):
        ends.pop()
    return text[: ends[-1].end()] if ends else ""
