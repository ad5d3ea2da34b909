"""The embedded generator quotes sentences that can stand alone, and nothing else."""

from __future__ import annotations

import pytest

from generation.draft import Draft, Limits, Source
from generation.generators.extractive import ExtractiveGenerator
from generation.sentences.candidates import find_all_candidates, find_roles, stands_alone, trim_sentence
from generation.sentences.order import find_place
from nli.text.sentences import split_document
from retrieval.core.errors import BadConfig
from retrieval.core.values import Document, Section, Sentence, Topic

TOPIC = Topic("1", "Does zetapril lower blood pressure?", "zetapril")


def source(number: int, abstract: str, sections: tuple[Section, ...] = ()) -> Source:
    document = Document(str(900 + number), f"Paper {number}", abstract, sections=sections)
    spans = split_document(document)
    return Source(number, document, tuple(Sentence(document.pmid, i, s, e, abstract[s:e]) for i, (s, e) in enumerate(spans)))


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("CONCLUSIONS: Zetapril lowers blood pressure.", "Zetapril lowers blood pressure."),
        ("[Conclusion] Zetapril lowers blood pressure", "Zetapril lowers blood pressure."),
        ("OBJECTIVES Zetapril lowers blood pressure.", "Zetapril lowers blood pressure."),
        ("In conclusion, we found that zetapril lowers blood pressure.", "Zetapril lowers blood pressure."),
        ("However, zetapril lowers blood pressure.", "Zetapril lowers blood pressure."),
        ("These data suggest that zetapril may lower blood pressure.", "Zetapril may lower blood pressure."),
        ("These data suggest that zetapril lowers it.", "These data suggest that zetapril lowers it."),
        (
            "The findings suggested that zetapril lowers it, although users may differ.",
            "The findings suggested that zetapril lowers it, although users may differ.",
        ),
        ("We did not find that zetapril lowers blood pressure.", "We did not find that zetapril lowers blood pressure."),
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
        "To determine whether zetapril lowers blood pressure in adults with hypertension.",
        "Patients were randomized to zetapril or placebo for twelve weeks of treatment.",
        "Does zetapril lower blood pressure in adults with hypertension and diabetes?",
        "Whether zetapril lowers blood pressure in the long term is not known yet.",
        "Blood pressure fell by 4 and 9 mm Hg in both groups after twelve weeks.",
        "zetapril lowers blood pressure in adults and in children with hypertension too.",
        "Zetapril lowers it.",
        "Zetapril lowers blood pressure (as was found in adults with hypertension before.",
        "Further studies are needed to show that zetapril lowers blood pressure at all.",
    ],
)
def test_what_leans_on_its_surroundings_or_finds_nothing_is_left_out(text: str) -> None:
    assert not stands_alone(text)


def test_a_finding_stands_alone() -> None:
    assert stands_alone("Zetapril lowered systolic blood pressure by 4 mm Hg in adults with hypertension.")


def test_roles_come_from_sections_from_labels_or_from_the_place() -> None:
    labelled = source(1, "METHODS: Adults took zetapril. They came back. RESULTS: Pressure fell. CONCLUSIONS: Zetapril works.")
    assert find_roles(labelled) == ["methods", "methods", "results", "conclusion"]
    text = "Adults took zetapril. Pressure fell."
    assert find_roles(source(1, text, (Section("METHODS", 0, 21), Section("RESULTS", 22, 36)))) == ["methods", "results"]
    assert find_roles(source(1, "One is here. Two is here. Three is here. Four is here.")) == [
        "background", None, "conclusion", "conclusion",
    ]  # fmt: skip


def test_an_answer_quotes_orders_and_does_not_repeat() -> None:
    sources = [
        source(1, "Zetapril lowers blood pressure in most adults with mild hypertension at low cost."),
        source(2, "Zetapril lowers blood pressure in most adults with mild hypertension at low doses."),
        source(3, "Zetapril is a common drug, taken worldwide by elderly sailors, miners and violinists with pressure."),
        source(4, "Otters live along rivers and eat fish and small crabs all year round."),
    ]
    draft = ExtractiveGenerator()(TOPIC, sources, Limits(), "one-shot")
    assert [[cited.number for cited in one.cited] for one in draft.sentences] == [[3], [1, 2]]
    assert [find_place(one.text) for one in draft.sentences] == ["context", "intervention"]
    assert draft == ExtractiveGenerator()(TOPIC, sources, Limits(), "one-shot")


def test_nothing_is_written_about_something_else_and_nothing_over_the_limits() -> None:
    otters = [source(1, "Otters live along rivers and eat fish and small crabs all year round.")]
    assert ExtractiveGenerator()(TOPIC, otters, Limits(), "one-shot") == Draft()
    many = [
        source(n, f"Zetapril lowers blood pressure where {' '.join(f'word{n}x{i}' for i in range(30))}.") for n in range(1, 9)
    ]
    draft = ExtractiveGenerator()(TOPIC, many, Limits(words=80), "one-shot")
    assert sum(len(one.text.split()) for one in draft.sentences) <= 80
    assert len(find_all_candidates(many)) == 8


def test_options_that_do_not_fit_are_told() -> None:
    with pytest.raises(BadConfig, match="do not fit"):
        ExtractiveGenerator(sentences=0)


def test_background_carries_no_statement_unless_it_is_asked_for() -> None:
    told = (
        "Zetapril lowers blood pressure in adults with mild hypertension. Zetapril lowered blood pressure of most sailors here."
    )
    one = source(1, told)
    found = Source(1, one.document, one.sentences, tells=frozenset({1}))
    treatment = Topic("1", "Which adults have lower blood pressure with zetapril?")
    texts = [sentence.text for sentence in ExtractiveGenerator()(treatment, [one], Limits(), "one-shot").sentences]
    assert texts == ["Zetapril lowers blood pressure in adults with mild hypertension."]
    assert ExtractiveGenerator()(treatment, [found], Limits(), "one-shot") == Draft()
    meaning = Topic("1", "What does zetapril and blood pressure mean?")
    assert ExtractiveGenerator()(meaning, [found], Limits(), "one-shot").sentences
