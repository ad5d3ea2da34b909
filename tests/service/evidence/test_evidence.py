"""Evidence inside one paper: reading it, its headings, choosing sentences, asking a language model, the command."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from counterpoint.indexes.build import build
from counterpoint.indexes.readers.prose.article import read_sentences
from counterpoint.nli.evidence import WEIGHTS, EvidenceSentence
from counterpoint.nli.long_text import list_sentences
from counterpoint.nli.text.headings import continue_section, find_heading_kind
from counterpoint.nli.text.roles import ROLES, RoleModel, load_role_model, locate_stretch
from counterpoint.retrieval.core.errors import BadInput, ModelUnusable
from counterpoint.retrieval.core.values import FullText, Location, Sentence, Verdict
from counterpoint.service.cli.commands import app
from counterpoint.service.evidence.papers import list_candidates, parse_paper, read_paper_file
from counterpoint.service.evidence.schemas import conclude
from tests.helpers.evidence_fakes import finder
from tests.helpers.full_texts import make_block, make_text, write_jats
from tests.helpers.texts import docx, pdf

TEXT = """A title that says little

Abstract
Stones are heavy. We weighed 40 stones. The best stone speaks for it.

1. Introduction
Others found that stones float.

2. Methods
Stones were weighed twice.
2.1 Outcomes
Weight was the outcome.

Results
The mean weight was 4 kg. One finding is against it.

References
1. Miller. Stones. 2001.
"""
JATS = """<?xml version="1.0"?><article xmlns:x="urn:x"><front><article-meta>
<article-id pub-id-type="pmc">PMC1</article-id>
<title-group><article-title>Iron in <italic>runners</italic></article-title></title-group>
<abstract abstract-type="graphical"><p>A picture.</p></abstract>
<abstract><sec><title>Results</title><p>Times did not change. Iron rose.</p></sec></abstract></article-meta></front>
<body><p>Runners lack iron.</p><sec><title>Findings</title><p>Time was 48 min<sup><xref ref-type="bibr">12</xref></sup> with iron.

<table-wrap><label>Table 1</label><table><tr><td>48</td><td>51</td></tr></table></table-wrap></p>
<sec><title>Women</title><p>They gained no more.</p></sec></sec></body>
<back><ref-list><ref><p>Smith 2001.</p></ref></ref-list></back></article>"""


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("METHODS", "methods"), ("2.1. Materials and Methods", "methods"), ("Results and discussion", "results"),
        ("IV. Discussion", "discussion"), ("Conclusions:", "conclusion"), ("Author's contributions", None),
        ("Authors’ contributions", "other"), ("Background/Aims", "introduction"), ("References", "other"),
        ("Stones", None), ("", None),
    ],
)  # fmt: skip
def test_a_heading_is_known_by_its_words(heading: str, kind: str | None) -> None:
    assert find_heading_kind(heading) == kind


def test_an_unknown_heading_stays_in_methods_results_and_discussion_alone() -> None:
    assert continue_section("Women", "results") == "results"
    assert continue_section("2.2 Results of the pilot", "methods") == "methods"
    assert continue_section("Women", "introduction") == "other"


def say(text: FullText) -> list[tuple[str, str]]:
    return [(str(one.location), one.text) for one in list_sentences(text)]


def test_plain_text_gives_sections_and_places_without_references() -> None:
    assert say(parse_paper(TEXT.encode(), "a.txt")) == [
        ("paragraph 1", "A title that says little"),
        ("Abstract", "Stones are heavy."), ("Abstract", "We weighed 40 stones."), ("Abstract", "The best stone speaks for it."),
        ("1. Introduction, paragraph 1", "Others found that stones float."),
        ("2. Methods, paragraph 1", "Stones were weighed twice."),
        ("2. Methods, paragraph 1", "2.1 Outcomes Weight was the outcome."),
        ("Results, paragraph 1", "The mean weight was 4 kg."), ("Results, paragraph 1", "One finding is against it."),
    ]  # fmt: skip
    kinds = [block.location.kind for block in parse_paper(TEXT.encode(), "a.txt").blocks]
    assert kinds == ["other", "abstract", "introduction", "methods", "results"]


def test_jats_gives_the_abstract_the_body_and_its_tables_without_citations_and_references() -> None:
    paper = parse_paper(JATS.encode())
    assert (paper.record.title, paper.record.pmcid) == ("Iron in runners", "PMC1")
    assert say(paper) == [
        ("Abstract, Results", "Times did not change."), ("Abstract, Results", "Iron rose."),
        ("paragraph 1", "Runners lack iron."), ("Findings, paragraph 1", "Time was 48 min with iron."),
        ("Table 1, row 1", "48 | 51"), ("Women, paragraph 1", "They gained no more."),
    ]  # fmt: skip
    assert all(block.text[start:end] for block in paper.blocks for start, end in block.spans)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.xml", JATS[:400].encode(), "is not whole XML"),
        ("a.xml", b"<html><p>Stones are heavy.</p></html>", "XML of another kind"),
        ("a.xml", f"<set>{JATS.partition('?>')[2] * 2}</set>".replace(' xmlns:x="urn:x"', "").encode(), "has 2 articles"),
        ("a.xml", b"<article><front/></article>", "a file without a body"),
        ("a.json", b"[]", "contains no sentence"),
        ("a.txt", b"\xff\xfe\x00", "is not"),
        ("a.json", b'["Stones are', "not a whole JSON list"),
        ("a.json", b'["Stones are heavy.", 3]', "JSON that is not a list of sentences"),
        ("a.json", b'{"sentences": []}', "JSON that is not a list"),
        ("a.txt", b" \n", "is empty"),
        ("a.txt", b"References\n\n1. Miller. Stones.", "contains no sentence"),
        ("a.txt.gz", gzip.compress(TEXT.encode(), mtime=0)[:60], "cut off"),
        ("a.rtf", b"{\\rtf1 Stones.}", "is RTF"),
    ],
)
def test_what_is_no_paper_is_told_in_one_sentence(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=told) as caught:
        list_candidates(read_paper_file(tmp_path / name), 1, name)
    assert "\n" not in str(caught.value)


def test_one_paper_reads_alike_in_every_format(tmp_path: Path) -> None:
    said = [
        ("Abstract", "Tea was tried."),
        ("Results, paragraph 1", "Tea reduced fever."),
        ("Results, paragraph 1", "Zinc did not."),
    ]
    body = "Tea reduced fever. Zinc did not."
    write_jats(tmp_path / "a.nxml", "Tea", {"Results": [body]}, abstract="Tea was tried.")
    files = {
        "a.docx": docx(("Heading 1", "Abstract"), ("Normal", "Tea was tried."), ("Heading 1", "Results"), ("Normal", body)),
        "a.html": f"<html><h2>Abstract</h2><p>Tea was tried.</p><h2>Results</h2><p>{body}</p></html>".encode(),
        "a.md": f"# Abstract\n\nTea was tried.\n\n# Results\n\n{body}\n".encode(),
        "a.txt": b"Abstract\nTea was tried.\n\nResults\nTea reduced\nfever. Zinc did not.\n",
        "a.txt.gz": gzip.compress(f"Abstract\n\nTea was tried.\n\nResults\n\n{body}".encode()),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    for name in ("a.nxml", *files):
        assert say(read_paper_file(tmp_path / name)) == said, name
    (tmp_path / "a.json").write_text(
        json.dumps(["Abstract", "Tea was tried.", "Results", "Tea reduced\nfever.", "Zinc did not."])
    )
    assert [text for _, text in say(read_paper_file(tmp_path / "a.json"))] == [text for _, text in said]


def test_the_figures_of_a_table_in_a_text_are_no_sentences(tmp_path: Path) -> None:
    rows = [["Outcome", "Tea"], ["Fever", "14 %"], ["In all adults tea reduced fever.", "5 %"]]
    (tmp_path / "a.docx").write_bytes(docx(("Heading 1", "Results"), ("Normal", "Zinc did not."), table=rows))
    assert [text for _, text in say(read_paper_file(tmp_path / "a.docx"))] == ["Zinc did not.", rows[2][0]]


def test_a_pdf_is_read_as_the_paper_that_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf([["A leaflet."]]))
    assert [text for _, text in say(read_paper_file(tmp_path / "a.pdf"))] == ["A leaflet."], "no paper, but a text"
    text = make_text([make_block("Tea reduced fever.")], format="pdf", source="a.pdf")
    monkeypatch.setattr("counterpoint.service.evidence.papers.read_pdf_text", lambda raw, name, source: text)
    assert read_paper_file(tmp_path / "a.pdf") is text


def test_the_role_model_tells_the_parts_of_an_abstract() -> None:
    model = load_role_model()
    said = ["Little is known about stones.", "We randomly assigned 60 patients to receive iron or placebo.",
            "The odds ratio was 2.3 (95% CI 1.2 to 4.1, p < 0.01).", "In conclusion, iron should be recommended."]  # fmt: skip
    roles = [ROLES[int(model.score_text(one, locate_stretch(at, 4)).argmax())] for at, one in enumerate(said)]
    assert roles == list(ROLES)


def test_a_label_over_a_sentence_decides_its_role() -> None:
    paper = read_sentences(["Abstract", "RESULTS: It is unclear whether stones fall."])
    assert ROLES[int(load_role_model().probabilities(list_sentences(paper))[0].argmax())] == "results"


@pytest.mark.parametrize("k", [0, 4])
def test_more_sentences_than_there_are_is_told(k: int) -> None:
    with pytest.raises(BadInput, match=f"k is {k}"):
        finder().find("Stones fall.", read_sentences(["One falls.", "Two fall.", "Three fall."]), k)


def test_the_command_prints_json_and_tells_what_it_cannot_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterpoint.service.evidence.finder.EvidenceFinder", finder)
    path = tmp_path / "a.txt"
    path.write_text(TEXT)
    done = CliRunner().invoke(app, ["evidence", "--paper", str(path), "Stones fall.", "-k", "2", "--json"])
    assert done.exit_code == 0
    assert [one["rank"] for one in json.loads(done.output)["evidence"]] == [1, 2]
    for one in json.loads(done.output)["evidence"]:
        assert one["block"][one["start"] : one["end"]] == one["quotation"]
    shown = CliRunner().invoke(app, ["evidence", "--paper", str(path), "Stones fall.", "-k", "1"])
    assert "Abstract · relevance" in shown.output
    failed = CliRunner().invoke(app, ["evidence", "--paper", str(path), "Stones fall.", "-k", "99"])
    assert failed.exit_code == 2
    assert "k is 99 and the paper has 9 sentences" in failed.output


def test_a_paper_of_an_index_is_read_with_its_full_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterpoint.service.evidence.finder.EvidenceFinder", finder)
    (tmp_path / "texts").mkdir()
    table = (("Outcome", "Stones", "Feathers"), ("Weight, kg", "4", "1"))
    write_jats(
        tmp_path / "texts" / "7.nxml", "Stones", {"Results": ["Iron is best."]}, pmid="7", abstract="We asked.", table=table
    )
    build([], tmp_path / "index", full_texts=[tmp_path / "texts"])
    monkeypatch.chdir(tmp_path)
    command = ["evidence", "Stones fall.", "-k", "4", "--json"]
    done = CliRunner().invoke(app, [*command, "--index", "index", "--paper", "7"])
    found = json.loads(done.stdout)
    assert found["source"] == {"pmid": "7", "title": "Stones", "file": "7.nxml", "retracted": False}
    assert {(one["quotation"], one["location"]["text"]) for one in found["evidence"]} == {
        ("We asked.", "Abstract"), ("Iron is best.", "Results, paragraph 1"), ("Outcomes at one year.", "Table 1"),
        ("Weight, kg | Stones 4 | Feathers 1", "Table 1, row 1"),
    }  # fmt: skip
    (row,) = (one for one in found["evidence"] if one["location"]["kind"] == "table")
    assert "Outcomes at one year" in row["context"] and "a row of a table" in row["why"]
    for paper, told in (
        (["--index", "index", "--paper", "8"], "There is no file 8, and"),
        (["--paper", "7"], "There is no file 7:"),
    ):
        failed = CliRunner().invoke(app, [*command, *paper], env={"COUNTERPOINT_INDEX": None})
        assert failed.exit_code == 2 and told in failed.output


def test_the_sentence_of_the_body_that_takes_a_side_counts_as_much_as_the_abstract() -> None:
    said = ["Abstract", "Stones are old.", "Stones are grey.", "Results", "Stones lie there.", "Weight is against it."]
    found = finder().find("Stones weigh little.", read_sentences(said), 3).evidence
    (surest,) = (one for one in found if one.parts["side"])
    assert (surest.sentence.text, surest.parts["side"]) == ("Weight is against it.", WEIGHTS.side)
    assert "most surely takes a side" in surest.why and surest.verdict.label == "contradict"
    silent = finder().find("Stones weigh little.", read_sentences([*said[:-1], "Weight is silent."]), 4).evidence
    assert not any(one.parts["side"] for one in silent)


def kinds_of(*sentences: str) -> list[str]:
    return [block.location.kind for block in read_sentences(sentences).blocks]


def test_a_structured_abstract_is_found_without_its_heading() -> None:
    said = ["Background", "Stones fall.", "Methods", "We dropped 9.", "Results", "All fell.", "Conclusions", "They fall."]
    after = ["Introduction", "Long ago.", "Methods", "We took a tower.", "Results", "It took 2 s."]
    assert kinds_of(*said, *after) == ["abstract"] * 4 + ["introduction", "methods", "results"]
    assert say(read_sentences([*said, *after]))[0] == ("Abstract, Background", "Stones fall.")


def test_what_stands_before_the_introduction_is_the_abstract() -> None:
    said = ["Stones fall fast.", "All nine fell within 2 s.", "Introduction", "Long ago.", "Methods", "We took a tower."]
    assert kinds_of(*said) == ["abstract", "abstract", "introduction", "methods"]


def test_an_abstract_before_an_unmarked_introduction_ends_where_its_conclusion_does() -> None:
    said = [
        "The aim of this study was to measure how fast stones fall.",
        "We randomly assigned 60 stones to a tower or a bridge.",
        "Falls were shorter with the tower (2.1 vs 3.4 s, p < 0.01).",
        "In conclusion, towers should be preferred.",
        "Little is known about stones, and their role remains unclear.",
        "Several studies have been published, but the mechanism is poorly understood.",
        "It is a major problem worldwide and little is known about its causes.",
    ]
    kinds = kinds_of(*said, "Methods", "We took a tower.")
    assert kinds == ["abstract"] * 4 + ["introduction"] * 3 + ["methods"]


def test_a_damaged_role_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "roles.npz").write_bytes(b"PK")
    with pytest.raises(ModelUnusable, match="reinstall the package"):
        RoleModel.read(tmp_path / "roles.npz")


VERDICTS = {"c": Verdict(0.1, 0.1, 0.8), "s": Verdict(0.8, 0.1, 0.1), "n": Verdict(0.1, 0.8, 0.1)}


def chosen(letters: str) -> list[EvidenceSentence]:
    sentence = Sentence("", 0, 0, 5, "Zeta.", location=Location("results", "", 1))
    return [EvidenceSentence(sentence, rank, 1.0, 1.0, VERDICTS[one], 0.0, "", {}) for rank, one in enumerate(letters, 1)]


@pytest.mark.parametrize(
    ("letters", "says"),
    [
        ("ccn", "This paper contradicts the hypothesis: 2 of the 3 sentences chosen contradict it and 0 support it."),
        ("snn", "This paper supports the hypothesis: 0 of the 3 sentences chosen contradict it and 1 supports it."),
        ("ccs", "What this paper says mostly contradicts the hypothesis: 2 of the 3"),
        ("cs", "What this paper says points both ways: 1 of the 2 sentences chosen contradicts it and 1 supports it."),
        ("nn", "None of the sentences chosen clearly contradicts or supports the hypothesis."),
    ],
)
def test_the_conclusion_comes_from_the_sentences_chosen(letters: str, says: str) -> None:
    assert conclude(chosen(letters)).startswith(says)
