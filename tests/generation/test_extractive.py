"""The embedded generator quotes what papers found, or sentences that can stand alone, and nothing else."""

from __future__ import annotations

import pytest

from counterpoint.generation.draft import CitedSource, Draft, Finding, Limits, Source
from counterpoint.generation.extractive import ExtractiveGenerator, stands_alone, trim_sentence
from counterpoint.nli.text.sentences import split_document
from counterpoint.retrieval.core.values import Document, Sentence, Stance, Topic

TOPIC = Topic("1", "Does zeta lower blood pressure?", "zeta")


def source(number: int, text: str, own_findings: frozenset[int] | None = None) -> Source:
    document = Document(str(number), f"Paper {number}", text)
    spans = split_document(document)
    sentences = tuple(Sentence(document.pmid, i, s, e, text[s:e]) for i, (s, e) in enumerate(spans))
    return Source(number, document, sentences, own_findings=own_findings)


def read(number: int, text: str, stance: Stance | None = "support") -> Source:
    """A source whose last sentence states its finding."""
    plain = source(number, text)
    return Source(number, plain.document, plain.sentences, Finding(plain.sentences[-1], stance, "a randomised trial"))


def quote(sources: list[Source], sentences: int = 7, words: int = 170) -> Draft:
    return ExtractiveGenerator(None, sentences, words)(TOPIC, sources, Limits(), "one-shot")


def cited(draft: Draft) -> list[int]:
    return [number.number for sentence in draft.sentences for number in sentence.cited]


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("CONCLUSIONS: Zetapril lowers blood pressure.", "Zetapril lowers blood pressure."),
        ("[Conclusion] Zetapril lowers blood pressure", "Zetapril lowers blood pressure."),
        ("In conclusion, we found that zetapril lowers blood pressure.", "Zetapril lowers blood pressure."),
        ("However, zetapril lowers blood pressure.", "Zetapril lowers blood pressure."),
        ("These data suggest that zetapril may lower blood pressure.", "Zetapril may lower blood pressure."),
        ("These data suggest that zetapril lowers it.", "These data suggest that zetapril lowers it."),
    ],
)
def test_what_is_cut_off_changes_no_meaning(stored: str, text: str) -> None:
    assert trim_sentence(stored) == text
    assert text[1:].rstrip(".") in stored


@pytest.mark.parametrize(
    "text",
    [
        "These patients had lower blood pressure after twelve weeks of zetapril.",
        "The aim of this study was to find out whether zetapril lowers blood pressure.",
        "Does zetapril lower blood pressure in adults with hypertension and diabetes?",
        "Blood pressure fell by 4 and 9 mm Hg in both groups after twelve weeks.",
        "Zetapril lowers it.",
        "Zetapril lowers blood pressure (as was found in adults with hypertension before.",
    ],
)
def test_what_leans_on_its_surroundings_or_finds_nothing_is_left_out(text: str) -> None:
    assert not stands_alone(text)
    assert stands_alone("Zetapril lowered systolic blood pressure by 4 mm Hg in adults with hypertension.")


def test_of_papers_that_were_not_read_the_sentence_nearest_to_the_question_is_quoted() -> None:
    near = "Zeta lowers blood pressure in most adults with mild hypertension."
    sources = [
        source(1, "Otters live along rivers and eat fish and small crabs all year round."),
        source(2, f"Zeta is taken for high blood pressure by most sailors worldwide. {near}"),
        source(3, near),
        source(4, "Zeta lowered blood pressure of most sailors without any of the usual harms."),
    ]
    draft = quote(sources)
    assert cited(draft) == [2, 4], "one sentence of each paper on the question, and no text twice"
    assert draft.sentences[0].text == near
    assert draft == quote(sources)
    assert cited(quote(sources, words=12)) == [2]
    assert quote(sources[:1]) == Draft()
    found = source(2, f"Zeta lowers high blood pressure in most sailors worldwide. {near}", frozenset({0}))
    assert quote([found]).sentences[0].text.startswith("Zeta lowers high"), "what is known to be background is no finding"


def test_findings_are_quoted_as_they_stand_or_in_a_frame_and_the_other_side_as_a_contrast() -> None:
    first, second, third = quote(
        [
            read(1, "CONCLUSIONS: Zeta lowers blood pressure in most adults with hypertension."),
            read(2, "This trial found that zeta lowers blood pressure."),
            read(3, "Zeta raises the blood pressure of most adults with hypertension.", "contradict"),
        ]
    ).sentences
    assert first.text == "Zeta lowers blood pressure in most adults with hypertension."
    assert second.text == "A randomised trial reports: “This trial found that zeta lowers blood pressure”."
    assert second.cited == (CitedSource(2, "This trial found that zeta lowers blood pressure"),)
    assert third.text == (
        "By contrast, a randomised trial reports: “Zeta raises the blood pressure of most adults with hypertension”."
    )


def test_a_quotation_says_what_its_acronyms_stand_for() -> None:
    quoted = "ZBL lowers blood pressure in most adults who drink tea"
    (sentence,) = quote([read(1, f"Zeta band ligation (ZBL) was tried. CONCLUSIONS: {quoted}.")]).sentences
    assert sentence.text == f"A randomised trial reports: “{quoted.replace('ZBL', 'ZBL [Zeta band ligation]')}”."
    assert sentence.cited == (CitedSource(1, quoted),)


def test_findings_keep_to_their_room_and_the_other_side_has_its_place() -> None:
    many = [read(n, f"Zeta number {n} lowers blood pressure in most adults with hypertension.") for n in range(1, 9)]
    against = read(9, "Zeta raises the blood pressure of most adults with hypertension.", "contradict")
    assert cited(quote(many, words=25)) == [1, 2]
    assert cited(quote([*many, against], sentences=3)) == [1, 2, 9]


def test_a_long_finding_is_quoted_if_there_is_no_other() -> None:
    long = read(1, f"This trial found that zeta lowers {'blood pressure and ' * 25}blood pressure.")
    assert cited(quote([long])) == [1]
    assert cited(quote([long, read(2, "Zeta lowers blood pressure.")])) == [2]
    assert cited(quote([long], words=40)) == []
