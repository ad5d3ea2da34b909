"""Where sentences end, on the cases that abstracts are full of, and what holds for any text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.nli.text.sentences import sentence_spans, split_document
from counterpoint.retrieval.core.values import Document, Section


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Pain fell. | Sleep improved! | Did mood? | It did.",
        "The dose (5 mg vs. 10 mg) mattered. | Age did not.",
        "As shown by Doe et al. 2001, it held. | See Fig. 2 and ref. 7 for more.",
        "Survival rose (p < 0.05). | mTOR fell. | miR-21 rose. | p53 stayed.",
        "S. Typhimurium grew. | They took vitamin C. | The others did not.",
        "“It failed.” | (So did the other.) | [A third won.]",
        "α rose. | ≥ 3 doses were given. | Étude two began…  | Done",
        "Trial no. 5 ended. | Dr. Roe and Mr. Poe agreed.",
        "As shown by Doe et al. | The trial ended. | It lasted 30 min. | Blood pressure fell. | It was not max. | The rest was.",
        "Doe et al. Lancet 2001 said no. NCT12345 ended, as did no. 5 of Fig. A and e.g. As, vs. The others, i.e. In.",
        "Pain fell.[1] | It rose.[2,3–5] | Sleep came.1,2 | Some.3 | “It rose.”4 | It fell (by 3%).5 | Sleep fell.¹,² | It was.",
        "See Fig.2 The IL.2 A and vol.3 The dose of 5.3 Units and no.7 The v.2 The rest.",
        "a) Pain fell. | b) Sleep did not. | c) It ended.",
        "Zeta 5 mg b.i.d. (n = 20) beat i.v. PCA and 2 mg i.m. MPA. | It was given s.c. | The others fell.",
        "It fell (p = 0. 02), and so did that (P < 0. 001). | At week 0. | 5 patients left.",
    ],
)
def test_boundaries(text: str) -> None:
    expected = text.split(" | ")
    assert sentences(text.replace(" | ", " ")) == [part.strip() for part in expected]


@pytest.mark.parametrize(
    "text",
    [
        "Little is known of it.; | We asked 40 people (or more).; | Pain fell.",
        "It took two years.| Methods: we asked.| METHODS were two (or three).| Results were mixed.",
        "Registered at ClinicalTrials.Gov and www.site.org/View.Aspx and name.Surname@site.org, it ended.",
        "The change p.Arg and e.g.The other, 5 beats/min.Hz and Smith J.Doe stay.",
    ],
)
def test_sections_that_were_joined_are_told_apart(text: str) -> None:
    expected = [part.strip().rstrip(";") for part in text.split("|")]
    assert sentences(text.replace("; | ", "; ").replace("| ", "")) == expected


def test_the_stops_of_other_scripts_need_no_space() -> None:
    assert sentences("摘要。疼痛减轻。睡眠没有。。") == ["摘要。", "疼痛减轻。", "睡眠没有。。"]


def test_sections_end_sentences_even_without_a_stop() -> None:
    text = "Pain is common No cure exists. It was studied"
    document = Document("1", "", text, sections=(Section("AIM", 0, 14), Section("METHODS", 15, len(text))))
    assert [text[a:b] for a, b in split_document(document)] == ["Pain is common", "No cure exists.", "It was studied"]


def test_the_boundaries_of_a_source_are_kept() -> None:
    assert split_document(Document("1", "", "A. B.", spans=((0, 5), (5, 5)))) == ((0, 5), (5, 5))


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "text",
    [
        "." * 50_000,
        "((((" * 50_000,
        "." + " " * 50_000 + "x",
        "a.[1" * 50_000,
        "abc.1," * 40_000,
    ],
)
def test_no_text_takes_forever(text: str) -> None:
    assert sum(end - start for start, end in sentence_spans(text)) > 0


@given(st.text(alphabet=st.sampled_from("aA.?!… )”’('\n\u00a0\u2003İß\u03010vs")), st.integers(0, 8), st.integers(0, 8))
def test_sentences_cover_all_that_can_be_seen_in_order(text: str, skip: int, drop: int) -> None:
    start, end = min(skip, len(text)), max(len(text) - drop, min(skip, len(text)))
    spans = sentence_spans(text, start, end)
    assert all(a < b for a, b in spans)
    assert all(left_end <= right_start for (_, left_end), (right_start, _) in pairwise(spans))
    assert all(not text[a].isspace() and not text[b - 1].isspace() for a, b in spans)
    covered = {i for a, b in spans for i in range(a, b)}
    assert covered >= {i for i in range(start, end) if not text[i].isspace()}
    assert covered <= set(range(start, end))
