"""The label that begins a section of an abstract, where it stands in the text itself: "CONCLUSIONS: …"."""

from __future__ import annotations

import re

_NAMES = (
    "Aims?|Background|Objectives?|Introduction|Purpose|Context|Methods?|Design|Setting|Patients|Materials? and methods?|Results?"
    "|Findings|Main results|Interpretation|Discussion|Conclusions?|Summary|Significance|Relevance|Clinical significance"
    "|Implications|Limitations|Importance|Rationale|Measurements and main results|Authors['’] conclusions?"
)
_LABEL = re.compile(
    rf"^(?:\W{{0,2}}(?:[A-Z][A-Z ,/&'()-]{{2,60}}|(?:{_NAMES}))\s*[:.—–-]\s+"  # "CONCLUSIONS: …", "Results. …"
    rf"|[\[(](?:(?i:{_NAMES}))[\])]:?\s*"  # "[Conclusion] …"
    rf"|(?:{_NAMES.upper()})\s+(?=[A-Z][a-z ]))(?=\S)"  # "OBJECTIVES Vitamin D …"
)


def drop_label(sentence: str) -> str:
    """The sentence less the section label at its beginning; the rest stands word for word in the abstract."""
    return sentence[len(find_label(sentence)) :]


def find_label(sentence: str) -> str:
    """The section label at a sentence's beginning, with what sets it apart; "" where there is none."""
    match = _LABEL.match(sentence)
    return match.group() if match and match.end() < len(sentence) else ""
