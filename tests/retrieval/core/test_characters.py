"""However the characters of a paper or a query are encoded, they match; what is stored and quoted stays as it was written."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from counterpoint.nli.text.negation import find_cues, negation_scopes
from counterpoint.nli.text.qualify import find_qualifiers
from counterpoint.retrieval.core.characters import align_characters, unify_characters
from counterpoint.retrieval.core.values import Sentence
from tests.helpers.fakes import make_index

ODD = [
    ("Cystic \ufb01brosis", "Cystic fibrosis"),
    ("e\ufb00ect, e\ufb03cacy, in\ufb02uenza", "effect, efficacy, influenza"),
    ("Me\u0301nie\u0300re", "Ménière"),
    ("metho\u00adtrex\u00adate", "methotrexate"),
    ("apix\u200baban, dabi\u200dgatran\ufeff, edox\u2060aban", "apixaban, dabigatran, edoxaban"),
    ("ＩＬ－１７ ａｎｄ ５０％", "IL-17 and 50%"),
    ("VO₂, NaHCO₃, CD8⁺, Mg²⁺", "VO2, NaHCO3, CD8+, Mg2+"),
    ("10⁹/L and 10⁻⁶", "10^9/L and 10^−6"),
    ("in adults³ and m²", "in adults^3 and m2"),
    ("1½ doses of 5 µg, ¾", "1 1/2 doses of 5 μg, 3/4"),
    ("\u202ereversed\u202c", "reversed"),
    ("IL\u20112\u00a0rose; Parkinson’s", "IL-2 rose; Parkinson's"),
    ("half \ud800 pair", "half \ufffd pair"),
]


@pytest.mark.parametrize(("written", "plain"), ODD)
def test_characters_have_one_form(written: str, plain: str) -> None:
    assert unify_characters(written) == plain
    assert unify_characters(plain) == plain
    aligned = align_characters(written)
    assert aligned.text == plain
    for word in plain.split():
        start = plain.index(word)
        first, last = aligned.locate(start, start + len(word))
        assert unify_characters(written[first:last]) == word


def test_cues_scopes_and_qualifiers_keep_the_places_of_the_text_as_written() -> None:
    text = "Pirfenidone did n\u00adot slow pulmonary \ufb01brosis, e\ufb03cacy was low in m\u00adice."
    (cue,) = find_cues(text)
    assert text[cue.start : cue.end] == "n\u00adot"
    sentence = Sentence("1", 0, 7, 7 + len(text), text, (type(cue)(cue.name, cue.start + 7, cue.end + 7),))
    (scope,) = negation_scopes(sentence)
    assert text[scope.scope_start - 7 : scope.scope_end - 7].startswith("slow pulmonary \ufb01brosis")
    found = [text[one.start - 7 : one.end - 7] for one in find_qualifiers("Pirfenidone slows fibrosis.", sentence)]
    assert found == ["m\u00adice"]


ABSTRACTS = {
    "1": "Adults took it. Niﬂumic acid did no\u00adt reduce cystic ﬁbrosis in adults\u00b3 of the trial.",
    "2": "Adults took it. Ri\u200bvaroxaban pre\u00advented stroke.",
    "3": "Adults took it. Ｍｏｌｎｕｐｉｒａｖｉｒ shortened ＣＯＶＩＤ－１９.",
    "4": "Adults took it. Be\u0301zafibrate raised H\u2082O\u2082.",
}


@pytest.mark.parametrize(
    ("query", "pmid"),
    [
        ("niflumic", "1"), ("ni\ufb02umic", "1"), ("cystic fibrosis", "1"), ("rivaroxaban", "2"), ("riva\u00adroxaban", "2"),
        ("molnupiravir", "3"), ("Bézafibrate", "4"), ("Be\u0301zafibrate", "4"), ("H2O2", "4"), ("Ｈ２Ｏ２", "4"),
    ],
)  # fmt: skip
def test_a_paper_is_found_however_it_and_the_query_are_written(tmp_path: Path, query: str, pmid: str) -> None:
    papers = [{"pmid": one, "title": "A trial", "abstract": abstract} for one, abstract in ABSTRACTS.items()]
    with closing(make_index(tmp_path, papers)) as index:
        assert [hit.pmid for hit in index.search(query, 3)] == [pmid]
        (entry,) = index.entries([pmid])
        assert entry.document.abstract == ABSTRACTS[pmid]
        for sentence in entry.sentences():
            assert sentence.text == entry.document.abstract[sentence.start : sentence.end]
        assert index.vocabulary.count_documents(index.vocabulary.stem(["riva\u00adroxaban", "ni\ufb02umic"])) == [1, 1]
