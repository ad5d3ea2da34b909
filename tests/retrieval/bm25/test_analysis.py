"""How texts become terms: what is found however it is written, and the same in Lucene and on OpenSearch."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterpoint.indexes.build import build
from counterpoint.retrieval.bm25.analysis import (
    ANSERINI,
    BIOMEDICAL,
    CHAINS,
    FIELDS,
    NAMES,
    PARTS,
    describe_for_opensearch,
    make_fields,
)
from counterpoint.retrieval.bm25.lucene import Vocabulary, find_terms, load_java_class, run_on_lucene_thread
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.journal import hash_json
from counterpoint.service.queries.spelling import find_missing, suggest_words
from tests.helpers.opensearch_analysis import analyse_as_opensearch

WriteCorpus = Callable[..., Path]


def terms(text: str, analyzer: str = BIOMEDICAL) -> str:
    return " ".join(run_on_lucene_thread(lambda: find_terms(analyzer, text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fever was seen.Lumetin eased it", "fever wa seen lumetin eas it"),
        ("FINDINGS:None of arm_b, arm_2 and _x_", "find none of arm b arm 2 and x"),
        ("rash/itch;pain,fever(mild)or none", "rash itch pain fever mild or none"),
        ("p < 0.05, 0·04, v1.2.3 and 12,500", "p 0.05 0.04 v1.2.3 and 12,500"),
        ("e.g. i.v. or p.o. in the U.S., i.e. U.S.A. e.g.the", "eg iv or po in the us ie usa eg the"),
        ("vitamin C.A trial; Fig.2;see St.John", "vitamin c a trial fig 2 see st john"),
        ("50mg.Patients took 0.5mg, 5μg or 24h", "50 mg patient took 0.5 mg 5 ug or 24 h"),
        ("H2 blockers, CD4 cells, 3D, B12", "h2 blocker cd4 cell 3d b12"),
        ("Ménière, Łódź, Köln, smørre, Straße, naïve", "menier lodz koln smorr strass naiv"),
        ("me\u0301nie\u0300re x\u0302", "menier x"),
        ("ﬁbrosis and soft\u00adhyphen", "fibrosi and softhyphen"),
        ("NFκB", "nf nfkappa kappa kappab b"),
        ("CamelCase and iPTH", "camelcas and ipth"),
        ("https://lab.example.org/a_b.html", "http lab exampl org a b html"),
        ("doi:10.1234/abc.de-5", "doi 10.1234 abc de de5 5"),
        ("HLA-B*27:05", "hla hlab27 b27 05"),
        ("CYP2C19*2 and 2*3", "cyp2c19 2 and 2 3"),
        ("c.1521_1523delCTT", "c 1521_1523delctt"),
        ("10-20 mg, 2.5-fold, 2010–2015", "10 20 mg 2.5 fold 2010 2015"),
        ("low- and middle-dose — or not", "low and middl middledos dose or not"),
        ("no and not stay", "no and not stai"),
        ("东京 test", "东 京 test"),
        ("", ""),
    ],
)
def test_a_text_has_these_terms(text: str, expected: str) -> None:
    assert terms(text) == expected


SAME = [
    ["FLURID-19", "FLURID19", "flurid-19", "FLURID\u201119", "FLURID–19"],
    ["Q-ray", "qray", "Q\u2010ray"],
    ["IL-97", "IL97"],
    ["7-HT3B", "7HT3B"],
    ["gamma-rotene", "gamma rotene", "gammarotene", "γ-rotene"],
    ["ZNF-α", "ZNFα", "ZNF-alpha", "ZNF alpha", "ZNFalpha", "ZNF α"],
    ["XL-1β", "XL-1beta", "XL-1 beta"],
    ["β2-agonist", "beta2-agonist", "beta-2 agonist", "beta 2 agonist"],
    ["Sjörgan's syndrome", "Sjorgan syndrome", "SJÖRGAN SYNDROME"],
    ["Gruillain–Barrè", "Gruillain-Barre"],
    ["B*27:05", "B27:05"],
]


@pytest.mark.parametrize("forms", SAME, ids=[forms[0] for forms in SAME])
def test_each_form_of_a_word_finds_every_other(write_corpus: WriteCorpus, tmp_path: Path, forms: list[str]) -> None:
    build([write_corpus(*(f"Of {form} nothing else." for form in forms), "Of something other.")], tmp_path / "out")
    index = Index(tmp_path / "out")
    for form in forms:
        found = {hit.pmid for hit in index.search(form, 20)}
        assert found == {str(number) for number in range(1, len(forms) + 1)}, form
        assert {hit.pmid for hit in index.search(form, 20, spellings=True)} == found
        if " " not in form:
            assert find_missing(index, form) == ()
    index.close()


def test_a_word_with_a_hyphen_matches_by_its_parts_and_weighs_little_more(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    texts = ["A placebo controlled trial.", "A placebo-controlled trial.", "Controlled diets.", "Nothing."]
    build([write_corpus(*texts)], tmp_path / "out")
    index = Index(tmp_path / "out")
    together = index.search("placebo-controlled", 5)
    assert [hit.pmid for hit in together] == ["2", "1", "3"]
    assert together[0].score < 1.5 * together[1].score, "the whole is no third word"
    assert [hit.pmid for hit in index.search("controlled", 5)] == ["3", "1", "2"]
    index.close()


@pytest.mark.parametrize("text", ["Ninety patients' cold-sores", "recorded.Lumetin", "Ménière 0.05 arm_b", "no e.g. none"])
def test_anserinis_analyzer_is_the_chain_that_is_described(text: str) -> None:
    assert terms(text, ANSERINI).split() == analyse(describe_for_opensearch([ANSERINI]), ANSERINI, text)


@pytest.mark.parametrize("analyzer", CHAINS)
def test_opensearch_is_told_the_same_analysis(analyzer: str) -> None:
    analysis = json.loads(json.dumps(describe_for_opensearch(tuple(CHAINS))))
    for text in ("", "Müller-Löwe J & Sons", "TNF-α, 5μg.None of O'Brien’s", *(form for forms in SAME for form in forms)):
        assert analyse(analysis, analyzer, text) == terms(text, analyzer).split(), text


def analyse(analysis: dict[str, Any], name: str, text: str) -> list[str]:
    """The terms by an analyzer made of nothing but the settings of an index on OpenSearch, as its documentation explains them."""
    return run_on_lucene_thread(lambda: analyse_as_opensearch(analysis, name, text))


def test_a_changed_description_needs_a_new_name() -> None:
    # An index that exists was made with the description of its analyzer's name.
    described = {name: [dict(one.characters), one.patterns, one.filters] for name, one in CHAINS.items()}
    assert hash_json([described, dict(FIELDS)])[:16] == "df1421ac8f2f267a"


AUTHORS = json.dumps([["Müller-Löwe", "Jörg", "Jr"], ["O’Brien", "Ann"]])


def test_names_years_and_titles_are_fields_of_their_own(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    document = {"pmid": "1", "title": "Trials of naïve mice", "abstract": "Nothing.", "year": 1999, "journal": "J. Mice & Men"}
    build([write_corpus(document | {"authors": ["Müller-Löwe, Jörg", "O’Brien, Ann"]})], tmp_path / "out")
    held = list_terms(tmp_path / "out")
    assert held["title"] == ["mice", "naiv", "of", "trial"]
    assert held["authors"] == ["ann", "jorg", "lowe", "muller", "mullerlowe", "obrien"]
    assert held["journal"] == ["and", "j", "men", "mice"]
    assert held["year"] == ["1999"]
    assert held["contents"] == ["mice", "naiv", "noth", "of", "trial"], "the text is title and abstract alone"
    assert terms("Trials running", NAMES) == "trials running", "names have no stems"
    assert make_fields("", AUTHORS, "", None) == {"authors": "Müller-Löwe Jörg Jr O'Brien Ann"}


def list_terms(folder: Path) -> dict[str, list[str]]:
    """The terms of each field of an index, which holds nothing else than ids in stored fields."""
    vocabulary = Vocabulary(folder / "v0001" / "lucene", BIOMEDICAL)
    vocabulary.count_documents(["x"])

    def read() -> dict[str, list[str]]:
        reader, held = vocabulary._reader, {}
        for field in ("contents", *FIELDS):
            found, names = load_java_class("org.apache.lucene.index.MultiTerms").getTerms(reader, field).iterator(), []
            while (name := found.next()) is not None:
                names.append(str(name.utf8ToString()))
            held[field] = names
        stored = [str(field.name()) for field in reader.storedFields().document(0).getFields().toArray()]
        assert stored == ["id"]
        return held

    held = run_on_lucene_thread(read)
    vocabulary.close()
    return held


@pytest.mark.parametrize("analyzer", [BIOMEDICAL, ANSERINI])
def test_the_fields_play_no_part_in_the_ranking(write_corpus: WriteCorpus, tmp_path: Path, analyzer: str) -> None:
    bare = [{"pmid": str(n), "title": f"Zinc {n}", "abstract": f"Zinc {'and salt ' * n}for colds."} for n in range(1, 5)]
    full = [one | {"authors": ["Zinc, Salt"] * 9, "journal": "Zinc", "year": 2001} for one in bare]
    rankings = []
    for name, documents in (("bare", bare), ("full", full)):
        build([write_corpus(*documents, name=f"{name}.jsonl")], tmp_path / name, analyzer=analyzer)
        index = Index(tmp_path / name)
        rankings.append(index.search("zinc salt 2001", 9))
        index.close()
    assert rankings[0] == rankings[1] and len(rankings[0]) == 4


def test_words_that_are_missing_follow_the_analyzer(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    corpus = write_corpus("Lumetín helped, as lumetínol did, in Ménkière disease.Ordinary ZNFα rose, and flurid-19 fell.")
    for analyzer, missing in ((BIOMEDICAL, ()), (ANSERINI, ("Lumetin", "Menkiere", "Ordinary", "ZNFalpha"))):
        build([corpus], tmp_path / analyzer, analyzer=analyzer)
        index = Index(tmp_path / analyzer)
        assert find_missing(index, "Lumetin Menkiere Ordinary ZNFalpha 7HT3B fell") == missing
        index.close()
    index = Index(tmp_path / BIOMEDICAL)
    assert [one.instead for one in suggest_words(index, "Lumeitnol")] == ["Lumetínol"]
    index.close()


def test_another_analyzer_is_refused_in_one_sentence(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="should be biomedical or anserini, not 'banana'"):
        build([write_corpus("Zinc.")], tmp_path / "out", analyzer="banana")
    with pytest.raises(BadInput, match="should be biomedical or anserini, not 'names'"):
        build([write_corpus("Zinc.")], tmp_path / "out", analyzer=NAMES)
    assert terms("a-b", PARTS) == "a b"
