"""What a paper answers to an open question: words of the paper, and how probably it answers."""

from __future__ import annotations

import numpy as np
import pytest

from counterpoint.nli.judge import Abstract
from counterpoint.nli.reader.answers import decode_answers
from counterpoint.nli.reader.encode import DocumentTokenizer
from counterpoint.nli.reader.judge import SMALL, DocumentReader
from counterpoint.retrieval.runtime.engine import read_tokenizer

QUESTION = "What helps against gout?"


@pytest.fixture(scope="module")
def tokenize() -> DocumentTokenizer:
    return DocumentTokenizer(read_tokenizer(SMALL), 256)


@pytest.mark.parametrize(
    ("title", "sentences", "marked", "found"),
    [
        ("Effect of low-dose zeta on gout", ["Gout was eased."], {(0, 2), (0, 3)}, ["low-dose zeta"]),
        ("Effect of Deep Tissue Massage on gout", ["It was eased by deep tissue massage."], {(0, 2), (0, 3)}, ["deep tissue"]),
        ("Two oils (omega, theta) in gout", ["Gout was eased."], {(0, 2)}, ["omega"]),
        ("Gout", ["It was painful.", "It was eased by β-zeta."], {(2, 4)}, ["β-zeta"]),
        ("", ["It was eased by anaesthesia."], {(1, 4)}, ["anaesthesia"]),
        ("Zeta in gout", ["Eta eased it."], {(0, 0), (1, 0)}, ["Zeta", "Eta"]),
        ("Zeta in gout", ["Zeta eased it."], {(0, 0), (1, 0)}, ["Zeta"]),
        ("Zeta in gout", ["Eta eased it."], set(), []),
    ],
)
def test_an_answer_is_the_marked_words_of_the_title_or_of_a_sentence_each_once(
    tokenize: DocumentTokenizer, title: str, sentences: list[str], marked: set[tuple[int, int]], found: list[str]
) -> None:
    encoding, texts = tokenize(QUESTION, title, sentences), (title, *sentences)
    odds = np.full(len(encoding.ids) + 3, -4.0, dtype=np.float32)
    odds[0] = 2.0
    for part, start, end in encoding.parts():
        for token, word in zip(range(start, end), tokenize.find_words(texts[part]), strict=True):
            odds[token] = 4.0 if (part, word) in marked else -4.0
    answers = decode_answers(Abstract(title, tuple(sentences)), encoding, odds, tokenize)
    assert ([words for words, _ in answers.names], round(answers.probability, 2)) == (found, 0.88)
    assert all(0.9 < named < 1 for _, named in answers.names)


def test_parts_are_where_title_and_sentences_stand(tokenize: DocumentTokenizer) -> None:
    sentences = ["Sailors were given zeta.", "There was less gout."]
    encoding = tokenize(QUESTION, "Zeta in sailors", sentences)
    for part, start, end in encoding.parts():
        text = ("Zeta in sailors", *sentences)[part]
        assert len(tokenize.find_words(text)) == end - start
        assert max(tokenize.find_words(text)) == len(text.split()) - 1


def test_the_shipped_reader_finds_what_was_studied() -> None:
    reader = DocumentReader(size="small")
    trial = Abstract(
        "Verapamil in the prevention of migraine: a randomised trial",
        ("Patients with migraine were given verapamil or placebo.", "Attacks were fewer with verapamil than with placebo."),
    )
    survey = Abstract("Knitting among sailors", ("Sailors were asked what they knit.", "Most of them knit socks."))
    found = reader.find_answers("What prevents migraine attacks?", [trial, survey])
    assert found[0].names[0][0] == "verapamil"
    assert found[0].probability > 0.5 > found[1].probability
