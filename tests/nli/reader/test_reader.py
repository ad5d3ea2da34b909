"""The document reader: what of an abstract it reads, how its readings are kept, and what is shown of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from tokenizers import Tokenizer

from counterpoint.nli.judge import Abstract, Decide, Reader, Reading, cache_verdicts, cache_verdicts_on_disk
from counterpoint.nli.reader.encode import CLAIM, SENTENCE, TITLE, DocumentTokenizer
from counterpoint.nli.reader.judge import LARGE, SMALL, DocumentReader
from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.core.result_cache import DiskCache
from counterpoint.retrieval.core.values import Claim, Premise, Verdict
from counterpoint.retrieval.rerank.embedded import RELEVANCE_MODEL
from counterpoint.service.assembly import load_config, make_grounder
from counterpoint.service.configuration.config import load_profile
from counterpoint.service.configuration.models import Models
from tests.helpers.fakes import WholePaper, make_index

FOR, AGAINST, NEITHER = Verdict(0.9, 0.05, 0.05), Verdict(0.05, 0.05, 0.9), Verdict(0.05, 0.9, 0.05)
CLAIM_TEXT = "Zinc lozenges shorten the common cold."
SENTENCES = (
    "The common cold is the most frequent infection of adults.",
    "We gave 200 adults zinc lozenges or placebo for seven days.",
    "Colds lasted 4.1 days with zinc and 6.9 days with placebo (P = 0.01).",
    "Nausea was more frequent with zinc.",
    "Zinc lozenges shorten colds in adults.",
)


@pytest.fixture(scope="module")
def reader() -> DocumentReader:
    return DocumentReader()


@pytest.fixture(scope="module")
def tokenize() -> DocumentTokenizer:
    return DocumentTokenizer(Tokenizer.from_file(str(LARGE / "tokenizer.json")), 256)


def test_a_title_that_is_a_question_is_not_read_as_a_finding(reader: DocumentReader) -> None:
    asked, untitled = (Abstract(title, SENTENCES[:2]) for title in ("Do zinc lozenges shorten the common cold?", ""))
    assert [*reader.read_abstracts(CLAIM_TEXT, [asked])] == [*reader.read_abstracts(CLAIM_TEXT, [untitled])]


def test_a_claim_is_read_in_each_papers_words(reader: DocumentReader) -> None:
    """A paper on lansoprazole speaks for a claim about proton pump inhibitors, one on methylphenidate for one about Ritalin."""
    for claim, title, sentence in (
        (
            "Proton pump inhibitors are better than ranitidine for reflux esophagitis.",
            "Lansoprazole versus ranitidine for the treatment of reflux esophagitis",
            "Healing of reflux esophagitis was more frequent with lansoprazole than with ranitidine (92% and 70%, P < 0.001).",
        ),
        (
            "Ritalin improves attention in children.",
            "Methylphenidate in children",
            "Methylphenidate improved attention in children.",
        ),
    ):
        reading = next(iter(reader.read_abstracts(claim, [Abstract(title, (sentence,))])))
        assert reading.document.support > 0.6, claim
        plain = DocumentReader()
        plain.card = {**plain.card, "synonyms": False}
        assert next(iter(plain.read_abstracts(claim, [Abstract(title, (sentence,))]))).document.support < reading.document.support


class ScriptedReader:
    """Reads what its script says of each title."""

    name = "scripted-reader@1"
    paper: Decide = WholePaper()

    def __init__(self, script: dict[str, Reading]) -> None:
        self.script, self.read_titles = script, list[str]()

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        return iter([NEITHER for _ in premises])

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        for one in documents:
            self.read_titles.append(one.title)
            yield self.script[one.title]


class TestWhatIsRead:
    def test_a_short_abstract_is_read_whole_and_each_sentence_ends_where_it_says(self, tokenize: DocumentTokenizer) -> None:
        found = tokenize(CLAIM_TEXT, "Zinc for colds", SENTENCES)
        closing = found.ids[-1]
        assert (found.ends >= 0).all()
        assert (found.ids[found.ends] == closing).all()
        assert list(np.diff(found.ends) > 0) == [True] * 4
        assert set(found.types.tolist()) == {CLAIM, TITLE, SENTENCE}
        assert found.types[found.ends].tolist() == [SENTENCE] * 5

    def test_of_a_long_abstract_the_conclusion_and_what_the_claim_is_about_are_read(self, tokenize: DocumentTokenizer) -> None:
        aside = "Baseline age, sex, income and schooling were recorded by trained nurses at each of the eleven study centres."
        long = (*SENTENCES[:2], *[aside] * 20, *SENTENCES[2:])
        found = tokenize(CLAIM_TEXT, "Zinc for colds", long)
        assert len(found.ids) <= 256
        assert found.ends[-1] >= 0
        assert found.ends[22] >= 0
        assert (found.ends < 0).sum() > 5

    def test_a_long_sentence_or_claim_pushes_nothing_else_out(self, tokenize: DocumentTokenizer) -> None:
        found = tokenize("zinc " * 400, "title " * 400, ("word " * 2000, "Zinc did not help."))
        assert len(found.ids) <= 256
        assert (found.types == SENTENCE).sum() > 8


class TestKeeping:
    script: ClassVar = {"a": Reading(FOR, (FOR, None, NEITHER)), "b": Reading(AGAINST, (AGAINST,))}
    documents = (Abstract("a", ("One.", "Two.", "Three.")), Abstract("b", ("One.",)), Abstract("a", ("One.", "Two.", "Three.")))

    def test_each_abstract_is_read_once_for_a_claim(self) -> None:
        inner = ScriptedReader(self.script)
        once = cache_verdicts(inner)
        assert isinstance(once, Reader)
        expected = [self.script["a"], self.script["b"], self.script["a"]]
        assert list(once.read_abstracts("A claim.", self.documents)) == expected
        assert list(once.read_abstracts("A claim.", self.documents[:1])) == expected[:1]
        assert inner.read_titles == ["a", "b"]
        list(once.read_abstracts("Another claim.", self.documents[:1]))
        assert inner.read_titles == ["a", "b", "a"]

    def test_readings_outlive_the_process_to_the_last_bit(self, tmp_path: Path) -> None:
        first, second = ScriptedReader(self.script), ScriptedReader(self.script)
        one, two = (cache_verdicts_on_disk(inner, DiskCache(tmp_path / "v.sqlite", 1)) for inner in (first, second))
        assert isinstance(one, Reader)
        assert isinstance(two, Reader)
        assert list(one.read_abstracts("A claim.", self.documents)) == list(two.read_abstracts("A claim.", self.documents))
        assert (first.read_titles, second.read_titles) == (["a", "b"], [])


class TestGrounding:
    def test_the_papers_verdict_ranks_and_its_best_sentence_is_shown(self, tmp_path: Path) -> None:
        texts = {
            "yes": "Zinc was given. Zinc lozenges shorten the common cold.",
            "no": "Zinc lozenges do not shorten the common cold.",
        }
        index = make_index(tmp_path, [
            {"pmid": "1", "title": "yes", "abstract": texts["yes"]}, {"pmid": "2", "title": "no", "abstract": texts["no"]},
            {"pmid": "3", "title": "odd", "abstract": texts["yes"]},
        ])  # fmt: skip
        reader = ScriptedReader({
            "yes": Reading(FOR, (NEITHER, FOR)), "no": Reading(AGAINST, (AGAINST,)), "odd": Reading(FOR, (AGAINST, AGAINST)),
        })  # fmt: skip
        models = Models(load_profile("embedded"), {"relevance": _Alike()}, {"stance": reader})
        found = make_grounder(index, load_config("counterpoint"), models).ground(Claim(CLAIM_TEXT))
        assert [one.document.pmid for one in found.contradicting] == ["2"]
        assert [one.document.pmid for one in found.supporting] == ["1"]
        assert [one.document.pmid for one in found.uncertain] == ["3"]
        best = found.supporting[0]
        assert best.sentence is not None
        assert best.sentence.text == "Zinc lozenges shorten the common cold."
        assert best.verdict is not None
        assert best.verdict.of == "document"
        assert best.score == best.verdict.support
        assert "likely that the paper supports the claim" in best.why
        assert reader.read_titles.count("yes") == 1


class _Alike:
    name = "alike@1"

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        return [1.0 for _ in texts]


class TestShippedModel:
    def test_it_reads_the_finding_and_its_denial(self, reader: DocumentReader) -> None:
        denial = (
            *SENTENCES[:2],
            "Colds lasted 6.8 days with zinc and 6.9 days with placebo (P = 0.8).",
            "Zinc did not shorten colds.",
        )
        yes, no = reader.read_abstracts(CLAIM_TEXT, [Abstract("Zinc for colds", SENTENCES), Abstract("Zinc for colds", denial)])
        assert yes.document.label == "support"
        assert no.document.label == "contradict"
        assert len(yes.sentences) == len(SENTENCES)

    def test_both_engines_agree(self) -> None:
        documents = [Abstract("Zinc for colds", SENTENCES)]
        one, other = (DocumentReader(engine=engine).logits(CLAIM_TEXT, documents)[0] for engine in ("openvino", "onnxruntime"))
        assert np.abs(one - other).max() < 0.35

    def test_a_folder_of_another_model_is_refused(self) -> None:
        with pytest.raises(ModelUnusable, match="does not contain a document reader"):
            DocumentReader(RELEVANCE_MODEL)

    @pytest.mark.parametrize("fitted_to", [{"paper": "0" * 64}, {"certainty": None}])
    def test_numbers_of_other_weights_are_refused(self, fitted_to: dict[str, str | None], tmp_path: Path) -> None:
        card = json.loads((SMALL / "model.json").read_text("utf-8"))
        card["fitted_to"] = {part: weights for part, weights in (card["fitted_to"] | fitted_to).items() if weights}
        (tmp_path / "model.json").write_text(json.dumps(card), "utf-8")
        (tmp_path / "model.onnx").symlink_to(SMALL / "model.onnx")
        (part,) = fitted_to
        told = rf"\({part}\) that were fitted to (?:0{{15}}|unknown weights); expected its own weights, fdfa.*fit a reader anew"
        with pytest.raises(ModelUnusable, match=told):
            DocumentReader(tmp_path)
