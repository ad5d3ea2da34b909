"""Names of answers: whole noun phrases of a paper, one for one thing, and nothing that is no answer."""

from __future__ import annotations

import pytest

from counterpoint.service.answering.names import choose_name, is_answer, name_alike, names_it, tidy_name


@pytest.mark.parametrize(
    ("words", "passage", "name"),
    [
        ("omega", "We gave omega oils. The omega oils were tolerated.", "omega oils"),
        ("zeta", "We gave zeta tablets. Zeta was good.", "zeta"),
        ("the use of zeta (ZT", "The use of zeta (ZT) was good.", "zeta"),
        ("zeta confers", "Here zeta confers protection.", "zeta"),
        ("zeta, eta", "We gave zeta, eta, and theta.", "zeta"),
        ("zeta and eta", "We gave zeta and eta.", "zeta and eta"),
        ("zeta-treated", "There was less gout in zeta-treated sailors.", "zeta"),
        ("two oils--omega and theta--are", "Two oils--omega and theta--are good.", "oils"),
        ("placebo", "They took placebo.", ""),
        ("standard drug therapy", "They got standard drug therapy.", ""),
        ("(95", "It fell (95 %).", ""),
    ],
)
def test_a_name_is_a_whole_noun_phrase_or_nothing(words: str, passage: str, name: str) -> None:
    assert tidy_name(words, passage) == name


@pytest.mark.parametrize(
    ("name", "question", "passage", "answers"),
    [
        ("zeta", "What lowers gout?", "Zeta lowered gout.", True),
        ("gout attacks", "What lowers the number of gout attacks?", "Gout attacks were fewer.", False),
        ("severe gout therapies", "Which therapies ease gout?", "Severe gout therapies were costly.", False),
        (
            "anti-big toe factor",
            "What causes resistance to anti-BTF?",
            "Resistance to anti-big toe factor (anti-BTF) is common.",
            False,
        ),
        ("stroke", "What are the benefits of zeta?", "Zeta changed stroke.", False),
        ("new and worsening gout", "What are the benefits of zeta?", "Zeta led to less new and worsening gout.", False),
        ("fewer strokes", "What are the benefits of zeta?", "Zeta led to fewer strokes.", True),
        ("nausea", "What are the side effects of zeta?", "Zeta caused nausea.", True),
    ],
)
def test_the_words_of_the_question_or_an_outcome_without_a_direction_are_no_answer(
    name: str, question: str, passage: str, answers: bool
) -> None:
    assert is_answer(name, question, passage) == answers


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("Gout was less with zeta acid.", True),
        ("Gout was less with ZA.", True),
        ("Gout was less than with zeta acid.", False),
        ("Eta was superior to zeta acid.", False),
        ("Gout was less.", False),
    ],
)
def test_a_sentence_names_an_answer_unless_it_only_compares_with_it(sentence: str, named: bool) -> None:
    assert names_it("zeta acid", sentence, "We gave zeta acid (ZA) to sailors.") == named


def test_one_thing_has_one_name() -> None:
    passage = "We gave zeta acid (ZA) to sailors."
    assert name_alike("ZA", "zeta acid", [passage])
    assert not name_alike("ZA", "zeta acid", ["Nobody says what ZA is."])
    assert name_alike("oral zeta tablets", "Zeta", [])
    assert name_alike("the ZT4 gene", "ZT4 mutations", [])
    assert not name_alike("zeta", "zeta and eta", [])
    assert not name_alike("zeta fever A", "zeta fever", []), "a letter may tell two things apart"
    assert choose_name(["ZA", "zeta acid", "zeta acid (ZA)"]) == "zeta acid"
