"""Whether documents are about a question at all: an absolute measure, where a ranking only says which is the better one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from generation.leads.question import YesNoQuestion
from nli.text.designs import ANIMAL, find_design, names_animals
from retrieval.core.values import Document
from retrieval.words.subject import find_subject
from retrieval.words.synonyms import weigh_shared_terms


def about(question: str, texts: Sequence[str]) -> list[float]:
    """For each text the share of the question's telling words that it holds, in the same or other words, weighted by their
    rarity, 0 to 1."""
    wanted = find_subject(question)
    return [weigh_shared_terms(question, wanted, text) for text in texts]


_STUDY_GROUP = re.compile(r"\.\s+[^.]*\b(?:group|investigators|collaborators|trialists)\b\.?$", re.IGNORECASE)


def subject_of(title: str) -> str:
    """A title without the name of the group that signs it: "… Calcium for Preeclampsia Prevention Study Group" is no study of
    calcium."""
    return _STUDY_GROUP.sub(".", title)


def measure_shares(question: str, asked: YesNoQuestion | None, text: str) -> list[float]:
    """The shares (0 to 1) that a text holds of what a question speaks of and of what it asks about that; of the whole question
    where these cannot be told apart."""
    sides = [asked.subject, asked.predicate] if asked and asked.subject and asked.predicate else [question]
    wanted = [words for words in map(find_subject, sides) if words] or [find_subject(question)]
    return [weigh_shared_terms(question, one, text) for one in wanted]


def is_same_kind(question: str, document: Document) -> bool:
    """Whether a paper studied what the question is about: one in animals or cells answers only a question that names such."""
    return find_design(document).name != ANIMAL or names_animals(question)
