"""Whole answers with recorded replies of careful readers in a language model's place (tests.helpers.recorded): real papers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterpoint.indexes.build import build
from counterpoint.retrieval.core.values import Topic, VerdictOutcome
from counterpoint.service.answering.answer import Answerer
from counterpoint.service.assembly import assemble_answerer
from tests.helpers.chat_server import ChatServer, message, serving
from tests.helpers.real_data import DATA, need_data
from tests.helpers.recorded import Corpus, Kept, give_words, list_papers, read_kept, replay

FOLDER = Path(__file__).parent
QUESTIONS: dict[str, VerdictOutcome | None] = {
    "Drug treatment for agitation and aggression in elderly people with dementia": None,
    "Which blood pressure drugs reduce albumin in the urine of people with type 2 diabetes?": None,
    "What are the complications of intrathecal baclofen pumps?": None,
    "What treatments work for urge incontinence in older women?": None,
    "Which factors predict failure of Helicobacter pylori eradication therapy?": None,
    "What happens to the heart and blood vessels after breathing in particulate air pollution?": None,
    "What relieves restless legs?": None,
    "What does adding clonidine to intrathecal or epidural local anaesthetic do to analgesia and blood pressure?": None,
    "Does perioperative magnesium sulphate reduce opioid requirements after surgery?": "mixed",
    "Does dexamethasone reduce vomiting after tonsillectomy in children?": "yes",
    "Does vitamin D supplementation improve glycaemic control or insulin sensitivity?": "no",
    "Does bupropion cause fewer sexual side effects than SSRIs?": "yes",
    "Do omega-3 fatty acids prevent atrial fibrillation from coming back?": "no",
    "Does ketamine given before the incision reduce pain after surgery?": "mixed",
}
"""What was asked, and what a yes-or-no question was answered with."""
pytestmark = need_data(3600)


@pytest.fixture(scope="module")
def kept() -> Kept:
    return read_kept(FOLDER / "recorded_replies.jsonl")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.read(DATA / "pubmed" / "abstracts.jsonl.gz")


@pytest.fixture(scope="module")
def answerer(kept: Kept, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answerer]:
    """Over the papers that the replies are about, with a server that gives them."""
    folder = tmp_path_factory.mktemp("recorded")
    papers = (
        dict(zip(("title", "abstract"), corpus.texts[pmid].split("\n", 1), strict=True), pmid=pmid) for pmid in list_papers(kept)
    )
    (folder / "papers.jsonl").write_text("".join(f"{json.dumps(paper)}\n" for paper in papers), "utf-8")
    build([folder / "papers.jsonl"], folder / "index")
    serve = serving(message("{}"))
    server: ChatServer = next(serve)
    server.script = replay(kept, corpus)
    model = f'{{kind: chat, model: recorded, base_url: "{server.url}", retries: 0}}'
    lines = (
        "name: recorded", "description: recorded replies", "rerankers: {relevance: {kind: embedded}}",
        f"judges: {{stance: {model}, sentences: {{kind: reader, size: small}}}}", f"generators: {{writer: {model}}}",
    )  # fmt: skip
    (folder / "profile.yaml").write_text("\n".join(lines), "utf-8")
    yield assemble_answerer(folder / "index", "counterpoint", str(folder / "profile.yaml"))
    next(serve, None)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_keeps_what_a_careful_reader_found(answerer: Answerer, kept: Kept, corpus: Corpus, question: str) -> None:
    answer = answerer.answer(Topic("1", question))
    assert answer.outcome == "answered"
    assert (answer.verdict and answer.verdict.outcome) == QUESTIONS[question]
    read = {pmid: kept["answers"].get(f"{question} | {pmid}", {"answers": []}) for pmid in kept["titles"][question]}
    found = {(pmid, one["name"].casefold()) for pmid, said in read.items() for one in give_words(said, corpus)["answers"]}
    assert found == {(row.evidence.document.pmid, row.named.casefold()) for row in answer.rows}
    checked = kept["check"][question]
    sure = [text for text, one in checked.items() if all(said["verdict"] == "yes" for said in one["citations"].values())]
    stated = {one.text: {citation.document.pmid for citation in one.citations} for one in answer.sentences}
    assert {text: {*checked[text]["citations"]} for text in sure}.items() <= stated.items()
    assert answer.usage.requests <= 20
    assert answer.usage.prompt_tokens + answer.usage.completion_tokens <= 25_000
