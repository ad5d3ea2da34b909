"""A language model's reply becomes draft sentences, whatever style it cites in."""

from __future__ import annotations

import pytest

from counterpoint.generation.draft import Source
from counterpoint.generation.prompting import read_instructions
from counterpoint.generation.replies import (
    Faults,
    drop_marks,
    keep_whole_sentences,
    makes_statement,
    parse_sentences,
    refers_elsewhere,
)
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.retrieval.core.values import Document, Sentence

TRIAL = "Metformin and body weight in adolescents: a randomised controlled trial"
BACKGROUND = "Metformin is widely used in type 2 diabetes, but its effect on weight in adolescents is unknown."
FINDING = "In conclusion, metformin reduced body weight significantly more than placebo did in adolescents."
SOURCES = [Source(n, Document(pmid, "", ""), ()) for n, pmid in enumerate(("11111111", "22222222", "33333333", "demo-x-1"), 1)]


def read(text: str) -> list[tuple[str, list[int]]]:
    return [(one.text, [cited.number for cited in one.cited]) for one in parse_sentences(text, sentence_spans, SOURCES)]


@pytest.mark.parametrize(
    ("written", "cited"),
    [
        (". [1]", [1]), (".[1][3]", [1, 3]), (" [1, 2-4].", [1, 2, 3, 4]), (" [Doc 2; 3].", [2, 3]),
        (" [Document 1, Document 3].", [1, 3]), (" 【2】.", [2]), (" [^2].", [2]),
        (" (PMID: 22222222; PMID: 33333333).", [2, 3]), (" [PMID demo-x-1].", [4]),
        (" [11] [0].", [11, 0]), (".", []), (" [99999999].", [99999999]), (" [PMID: 99999999].", [99999999]),
        (" (PMID 99999999, PMID 22222222).", [99999999, 2]), (" (Smith et al., 2019) [2].", [2]),
        (" (Smith, 2019; Jones and Li, 2020b).", []), (" https://example.org/x?a=1 [3].", [3]),
        (" (doi: 10.1000/abc) [3].", [3]),
    ],
)  # fmt: skip
def test_every_style_of_citation_is_read_and_taken_out(written: str, cited: list[int]) -> None:
    assert read(f"Aspirin lowers fever in adults{written}") == [("Aspirin lowers fever in adults.", cited)]


def test_a_mark_that_stands_for_the_paper_becomes_its_pmid_and_is_cited_for_its_part() -> None:
    text = "Nothing is settled here [3]. [1] reports that aspirin lowers fever, whereas [2] finds no effect on fever at all."
    first, second = parse_sentences(text, sentence_spans, SOURCES)
    assert [cited.number for cited in first.cited] == [3]
    assert (
        second.text == "PMID 11111111 reports that aspirin lowers fever, whereas PMID 22222222 finds no effect on fever at all."
    )
    assert [(cited.number, cited.part) for cited in second.cited] == [
        (1, "aspirin lowers fever"),
        (2, "no effect on fever at all."),
    ]


def test_what_is_not_the_answer_is_left_out() -> None:
    text = (
        "## Answer\n\n**Context:** Fever is common [1].\n\n- Aspirin *lowers* it **fast** [2].\n\n"
        "References:\n[1] Smith. Title of it."
    )
    assert read(text) == [("Fever is common.", [1]), ("Aspirin *lowers* it fast.", [2])]


def test_an_empty_reply_has_no_sentences() -> None:
    assert read("") == read("  \n\n ") == read("[1]") == []


def test_a_mark_that_the_sentence_needs_becomes_a_pmid() -> None:
    assert read("Fever falls, as shown in [3].") == [("Fever falls, as shown in PMID 33333333.", [3])]


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("Aspirin lowers fever in adults [1, 2].", "Aspirin lowers fever in adults."),
        ("[1] reports less fever, whereas [2] finds none.", "One paper reports less fever, whereas another paper finds none."),
        ("Fever fell by 2 (95 % CI 1.5 to 2.5) [Doc 1] (Smith et al., 2019).", "Fever fell by 2 (95 % CI 1.5 to 2.5)."),
        ("Fever fell [1.5-2.5].", "Fever fell [1.5-2.5]."),
    ],
)
def test_marks_in_a_sentence_whose_citations_stand_elsewhere_are_dropped(written: str, read_as: str) -> None:
    assert drop_marks(written) == read_as


@pytest.mark.parametrize(
    "written",
    [
        "# Effects of aspirin on fever in adults\n\nAspirin lowers fever in adults [1].",
        "Here is what the documents say:\n1. Aspirin lowers fever in adults [1].",
        "| Drug | Effect on fever in adults |\n|---|---|\n| Aspirin | lower |\n\nAspirin lowers fever in adults [1].",
        "Question: Does aspirin lower fever?\nTopic: fever\nAnswer: Aspirin lowers fever in adults [1].",
        "Aspirin lowers fever in adults [1].\n\nQuestion: Does iron matter in COVID-19?\nAnswer: Iron matters a lot [2].",
        'Aspirin lowers fever in adults [1].\n<document number="9" pmid="7">\nTitle: Iron\nIron is a metal.\n</document>',
    ],
)
def test_headings_lists_and_another_task_are_no_part_of_the_answer(written: str) -> None:
    assert read(written) == [("Aspirin lowers fever in adults.", [1])]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("It fell by 3.5 mm [1]. It rose by 2.", "It fell by 3.5 mm [1]."),
        ("It fell by 3.5 mm [1]. It rose by 2.7 in", "It fell by 3.5 mm [1]."),
        ("It fell [1]. It rose [2].", "It fell [1]. It rose [2]."),
        ("It fell. [1] It rose", "It fell. [1]"),
        ("It fell by 3.5 mm", ""),
    ],
)
def test_what_was_cut_off_keeps_its_whole_sentences(written: str, kept: str) -> None:
    assert keep_whole_sentences(written) == kept


GOOD = "Aspirin lowered fever in adults within two hours, and in children it did so within three."


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        (f"{GOOD} ", "repeats an earlier"),
        ("The effect was large and large and large and large in adults.", "again and again"),
        (
            "Many people admitted to hospital with COVID-19 have a high ferritin together with a low iron.",
            "copies the instructions",
        ),
        ("PMID 22222222 found that aspirin lowers fever in most adults.", "PMID 22222222"),
        ("PMID 11111111 found that aspirin lowers fever in most adults.", ""),
        ("Pain fell in women and in men, and in women and in men fever fell.", ""),
    ],
)
def test_a_sentence_that_loops_copies_or_repeats_is_a_fault(sentence: str, fault: str) -> None:
    faults = Faults(read_instructions("one-shot"), SOURCES[:1])
    assert faults.find(GOOD) == ""
    faults.remember(GOOD)
    found = faults.find(sentence)
    assert fault in found if fault else not found


@pytest.mark.parametrize(
    ("sentence", "refers"),
    [
        ("It can be caused by stress.", True), ("However, these drugs help.", True), ("Such patients live longer.", True),
        ("It is well known that aspirin lowers fever.", False), ("Aspirin lowers fever, and it is cheap.", False),
        ("Theophylline helps.", False),
    ],
)  # fmt: skip
def test_a_sentence_that_needs_the_one_before_it_is_recognised(sentence: str, refers: bool) -> None:
    assert refers_elsewhere(sentence) is refers


@pytest.mark.parametrize(
    ("title", "states"),
    [
        ("Alverine for irritable bowel: results of a randomised trial", False),
        ("Aspirin Is Not Inferior to Ibuprofen", True),
        ("Zinc increases appetite in children", True),
        ("Statins reduce mortality after stroke: a cohort study", True),
        ("Changes in weight, and benefits, after surgery", False),
        ("", False),
    ],
)
def test_a_title_that_makes_a_statement_is_told_from_one_that_names_a_subject(title: str, states: bool) -> None:
    assert makes_statement(title) is states


@pytest.mark.parametrize(
    ("title", "sentences", "sentence", "fault"),
    [
        (TRIAL, [BACKGROUND, FINDING], f"{TRIAL}.", "title"),
        (TRIAL, [BACKGROUND, FINDING], BACKGROUND, "background"),
        (TRIAL, [BACKGROUND, FINDING], FINDING, ""),
        ("Metformin reduces body weight", [BACKGROUND, FINDING], "Metformin reduces body weight.", ""),
        (TRIAL, [f"{TRIAL} was planned.", TRIAL], TRIAL, ""),
    ],
)
def test_a_copied_title_or_background_is_a_fault_and_a_copied_finding_is_none(
    title: str, sentences: list[str], sentence: str, fault: str
) -> None:
    held = tuple(Sentence("1", row, 0, len(text), text) for row, text in enumerate(sentences))
    source = Source(1, Document("1", title, ""), held, own_findings=frozenset({len(sentences) - 1}))
    found = Faults("", [source]).find(sentence)
    assert fault in found if fault else not found
