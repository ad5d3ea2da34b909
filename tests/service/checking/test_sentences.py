"""Which sentences of a text make a claim, why the others do not, and which papers they cite."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest

from counterpoint.indexes.readers.prose.passage import Writing
from counterpoint.service.checking.checkable import claim_in
from counterpoint.service.checking.citations import CitedPaper, cited_in, without_citations
from counterpoint.service.checking.parse import TextFormat, read_text
from counterpoint.service.checking.sentences import TextSentence, sentences_of
from counterpoint.service.queries.classify import classify_query


def told(text: str, format: TextFormat = "text") -> list[TextSentence]:
    return list(sentences_of(read_text(text, format)))


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("Aspirin reduces fever.", "Aspirin reduces fever."),
        ("However, aspirin reduces fever [1, 3-5].", "Aspirin reduces fever."),
        ("Moreover, several recent studies have shown that aspirin reduces fever (Smith et al., 2010; Miller 2012).",
         "Aspirin reduces fever."),
        ("It is well known that smoking causes lung cancer (PMID: 12345).", "Smoking causes lung cancer."),
        ("CONCLUSIONS: Aspirin reduces fever.", "Aspirin reduces fever."),
        ("We found that aspirin reduced fever.", "We found that aspirin reduced fever."),
        ("Troponin I was higher in runners.", "Troponin I was higher in runners."),
        ("Zinc shortens colds, but how remains unclear.", "Zinc shortens colds, but how remains unclear."),
    ],
)  # fmt: skip
def test_a_claim_is_told_without_what_stands_around_it(sentence: str, claim: str) -> None:
    (one,) = told(sentence)
    assert (one.claim, one.reason) == (claim, None)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Does aspirin reduce fever?", "question"),
        ("Introduction", "heading"),
        ("Fever.", "short"),
        ("In this review we discuss aspirin and its uses.", "text"),
        ("Table 1 lists the trials of aspirin.", "text"),
        ("The aim of this study was to assess whether aspirin reduces fever.", "aim"),
        ("Patients were randomly assigned to receive aspirin or placebo.", "method"),
        ("More research is needed.", "research"),
        ("Smokers should not take beta-carotene.", "advice"),
        ("We believe that stents are overused.", "opinion"),
        ("I have taken zinc for every cold since, and it seems to help.", "opinion"),
        ("Next week: the truth about magnesium.", "text"),
        ("This increases the risk of bleeding.", "pronoun"),
        ("[1, 2] https://example.org/paper", "citation"),
        ("- Nausea and vomiting", "fragment"),
        ("Aspirin " + "reduces fever and " * 150 + "pain.", "long"),
    ],
)
def test_every_other_sentence_has_its_reason(sentence: str, reason: str) -> None:
    (one,) = told(sentence)
    assert (one.claim, one.reason) == ("", reason)


def test_essays_columns_and_leaflets_lose_few_claims_and_few_remarks_pass() -> None:
    # Twelve texts written for this, each sentence labelled by their author (docs/measurements.md).
    rows = [json.loads(line) for line in (Path(__file__).parent / "essays.jsonl").read_text("utf-8").splitlines()]
    found = Counter((row["claim"], bool(claim_in(row["sentence"])[0])) for row in rows)
    assert found[True, False] <= 2
    assert found[False, True] <= 20


def test_a_citation_behind_the_stop_belongs_to_the_sentence_before() -> None:
    text = "Aspirin reduces fever.[1] Ibuprofen relieves pain. (PMID: 22) Metformin lowers glucose."
    found = told(text)
    assert [text[one.start : one.end] for one in found] == [
        "Aspirin reduces fever.[1]", "Ibuprofen relieves pain. (PMID: 22)", "Metformin lowers glucose.",
    ]  # fmt: skip
    assert [one.cited for one in found] == [(), (CitedPaper("pmid", "22"),), ()]
    assert found[0].unresolved == (1,)


@pytest.mark.parametrize("format", ["text", "markdown"])
def test_numbers_are_looked_up_in_the_list_of_references(format: TextFormat) -> None:
    text = "# Text\n\nAspirin reduces fever [2, 9].\n\n# References\n\n1. Miller. PMID: 11\n2. Smith. doi:10.1000/AB.1.\n"
    one = next(one for one in told(text, format) if one.claim)
    assert (one.cited, one.unresolved) == ((CitedPaper("doi", "10.1000/ab.1", "Smith. doi:10.1000/AB.1."),), (9,))
    assert {other.reason for other in told(text, format)} == {"heading", "references", None}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Copper shortens colds in adults.3 Zinc shortens them (PMID: 4).", [("Copper shortens colds in adults.", (3,))]),
        ("Pain fell in adults.1,2 Zinc relieves pain.", [("Pain fell in adults.", (1, 2))]),
        ("Pain fell in adults.¹⁻³ Zinc relieves pain.", [("Pain fell in adults.", (1, 2, 3))]),
        ("Pain fell in 95% of 12 adults.7", [("Pain fell in 95% of 12 adults.", (7,))]),
        ("Pain fell by 0.5 Points.", [("Pain fell by 0.5 Points.", ())]),
    ],
)  # fmt: skip
def test_a_reference_right_after_a_stop_is_the_sentence_s(text: str, found: list[tuple[str, tuple[int, ...]]]) -> None:
    assert [(one.claim, one.unresolved) for one in told(text)][: len(found)] == found


HOSTILE = [
    "\n", " ", "\t", "a", "A", "(", "[", ")", "]", "1", ",", ".", "?", "-", "a-", "a.", "(a", "[1,", "1, ", "PMID", "PMID 1, ",
    "10.1234/", "doi: ", "http://", "(A ", "Ab ", "# a\n", "- a\n", "*a", "**", "ab.1,", "ab.[1", "1.\n", "(x)(",
    "<", "%2F", "and ",
]  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", HOSTILE)
def test_the_time_for_a_text_grows_with_its_length(piece: str) -> None:
    def seconds(characters: int) -> float:
        text = ("Aspirin [(" + piece * characters)[:characters] + " x"
        began = time.process_time()
        sentences_of(read_text(text, "text"))
        without_citations(text)
        classify_query(text)
        return time.process_time() - began

    seconds(100)
    assert seconds(200_000) < max(2.0, 60 * seconds(10_000))


def test_an_entry_of_a_list_of_claims_is_taken_as_it_is() -> None:
    writing = Writing()
    writing.add("Should smokers take it? They should not.", "claim", row=7)
    (one,) = sentences_of(writing.done())
    assert (one.claim, one.row) == ("Should smokers take it? They should not.", 7)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("PMID 1234, 5678 and PMID:9012", ["1234", "5678", "9012"]),
        ("see PMID demo-hrt-whi-2002.", ["demo-hrt-whi-2002"]),
        ("https://doi.org/10.1016/S0140-6736(05)66544-6), as", ["10.1016/s0140-6736(05)66544-6"]),
        ("https://www.ncbi.nlm.nih.gov/pubmed/77/", ["77"]),
        ("version 10.15 of it", []),
        ("PMID33333333, PMIDs 12345678 and PMID23456789", ["33333333", "12345678", "23456789"]),
        ("https://doi.org/10.1016%2FS0140-6736(05)66544-6.", ["10.1016/s0140-6736(05)66544-6"]),
        (
            "10.1002/(SICI)1097&lt;1111::AID&gt;3.0 and <https://doi.org/10.1000/x>",
            ["10.1002/(sici)1097<1111::aid>3.0", "10.1000/x"],
        ),
    ],
)
def test_ids_are_found_in_their_order(text: str, found: list[str]) -> None:
    assert [one.id for one in cited_in(text)] == found
