"""What language models were asked is counted where it is sent: the server's own count is that of every call, door and step."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY

from counterpoint.generation.language_models import ChatGenerator
from counterpoint.nli.reader.chat import ChatReader
from counterpoint.retrieval.core.result_cache import set_cache_folder
from counterpoint.retrieval.core.values import Claim, Topic, Usage
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.runtime.chat import ChatUnanswered
from counterpoint.retrieval.runtime.usage import Budget, count_usage
from counterpoint.service.answering.answer import Answerer
from counterpoint.service.answering.schemas import AnswerResponse
from counterpoint.service.checking.check import Checker, ReadText, check_once
from counterpoint.service.checking.parse import read_text
from counterpoint.service.configuration.config import load_answer_config
from counterpoint.service.grounding.coverage import describe_usage
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.operating import metrics
from counterpoint.service.schemas import UsageOut
from tests.helpers.answer_fakes import TitleFinder, make_answerer
from tests.helpers.chat_server import REFUSING, Body, ChatServer, Reply, fault, message, serving, text, write
from tests.helpers.fakes import WordReader, ground_text, make_index

PAPERS = [
    {"pmid": "1", "title": "Zeta for pressure in adults", "abstract": "Zeta was given to 90 adults. Zeta lowered pressure."},
    {"pmid": "2", "title": "Eta for pressure in adults", "abstract": "Eta was given to 40 adults. Eta lowered pressure."},
    {"pmid": "3", "title": "Theta for pressure: zeta compared", "abstract": "Zeta lowered no pressure. Theta lowered pressure."},
]
CLAIM = "Zeta lowers pressure in adults."


def answer_rightly(body: Body) -> Reply:
    """An opinion of each paper by its words, what it answers, what differs between two, words, a rewrite, or two sentences."""
    said = "\n".join(one["content"] for one in body["messages"])
    if "Asked: " in said:
        return message('{"questions": []}')
    if "technical words" in said:
        return message('{"words": []}')
    if "Name what differs" in said:
        return message('{"differences": []}')
    if "<answers>" in said:
        return message('{"groups": []}')
    if "Question: " in said and "<paper>" in said:
        (name, quote), *_ = re.findall(r"^\[\d+\] (\w+)(.*)", said, re.MULTILINE)[1:]
        found = {"sentence": 2, "quote": name + quote, "name": name, "statement": f"{name} lowers pressure.", "grade": 2}
        return message(json.dumps({"answers": [found]}))
    if "<paper>" in said:
        lines = re.findall(r"^\[\d+\] (.*)", said, re.MULTILINE)
        parts = dict.fromkeys(("population", "intervention", "comparison", "outcome"), True)
        grade = -2 if "no pressure" in said else 2
        return message(json.dumps({"sentence": 1, "quote": lines[0], **parts, "reason": "So it says.", "grade": grade}))
    if "Task: check" in said:
        cites = [
            {"document": int(one), "words": "", "fault": "", "verdict": "no"} for one in re.findall(r"^\[(\d+)\]$", said, re.M)
        ]
        first = {**cites[0], "words": "lowered pressure", "verdict": "yes"}
        checks = [{"sentence": 1, "citations": [first], "whole": True}, {"sentence": 2, "citations": cites[1:], "whole": False}]
        return message(json.dumps({"sentences": checks, "answering": [1]}))
    if "Task: correct" in said:
        return text(json.dumps({"sentences": [{"sentence": 1, "text": "", "documents": [], "parts": []}]}))
    return text(write("Zeta lowered pressure [1].", "Zeta cures all known ills of everybody [1]."))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    for server in serving(fault(500)):
        server.script = answer_rightly
        yield server


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("usage"), PAPERS)


def make(server: ChatServer, index: Index, **options: Any) -> Answerer:
    """Answers with a verdict, a table and conflicts; one language model reads and writes."""
    settings = load_answer_config("counterpoint").model_dump()
    given = {"retries": 0, "price": [1.0, 2.0], **options}
    reader = ChatReader("m", server.url, embedded=WordReader(), **given)
    kept = {name: settings[name] for name in ("verdict", "conflicts", "open_questions")}
    return make_answerer(index, ChatGenerator("m", server.url, **given), reader, TitleFinder(), **kept)


def grounder_of(answerer: Answerer) -> Grounder:
    assert answerer.grounder
    return answerer.grounder


def test_a_claim(server: ChatServer, index: Index) -> None:
    response = ground_text(grounder_of(make(server, index)), CLAIM)
    assert response.usage
    assert response.usage.requests == len(server.bodies) == 5, "three papers, what differs between two, what to ask next"
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (500, 100)
    assert response.usage.cost == pytest.approx((500 + 200) / 1e6)


@pytest.mark.parametrize(
    ("question", "least"), [("Does zeta lower pressure in adults?", 6), ("What lowers pressure in adults?", 5)]
)
def test_an_answer_with_its_readings_corrections_and_conflicts(
    server: ChatServer, index: Index, question: str, least: int
) -> None:
    answerer = make(server, index)
    response = AnswerResponse.of(answerer.answer(Topic("1", question)), answerer)
    assert response.removed, "one sentence was asked for again"
    assert response.usage.requests == len(server.bodies) >= least
    streamed = sum(bool(body.get("stream")) for body in server.bodies)
    assert response.usage.prompt_tokens == 1000 * streamed + 100 * (len(server.bodies) - streamed)
    assert not response.usage.estimated


def test_a_text_each_claim_once_and_the_papers_that_it_cites(server: ChatServer, index: Index, tmp_path: Path) -> None:
    reading = ReadText.of(read_text(f"{CLAIM} Eta lowers pressure in adults (PMID: 2). {CLAIM}"))
    checked = Checker(grounder_of(make(server, index))).check(reading)
    assert checked.usage
    assert checked.usage.requests == len(server.bodies)
    parts = {one.claim: one.result.usage.requests for one in checked.sentences if one.result and one.result.usage}
    assert sum(parts.values()) == checked.usage.requests
    asked = len(server.bodies)
    again = check_once(reading, Checker(grounder_of(make(server, index))), tmp_path)
    assert again.usage
    assert again.usage.requests == len(server.bodies) - asked, "several claims at a time"


@pytest.mark.parametrize("question", ["Does zeta lower pressure in adults?", "What lowers pressure in adults?"])
def test_an_answer_keeps_its_budget_and_the_embedded_models_do_the_rest(server: ChatServer, index: Index, question: str) -> None:
    answerer = make(server, index)
    answerer.config = answerer.config.model_copy(update={"budget": Budget(requests=3, tokens=25_000)})
    response = AnswerResponse.of(answerer.answer(Topic("1", question)), answerer)
    assert len(server.bodies) == response.usage.requests == 3
    assert response.usage.spent
    assert response.outcome == "answered"
    assert describe_usage(response.usage).endswith("Its budget is spent; the embedded models did the rest.")


def test_a_budget_of_tokens_counts_what_is_on_its_way(server: ChatServer, index: Index) -> None:
    grounder = grounder_of(make(server, index))
    grounder.config = grounder.config.model_copy(update={"budget": Budget(requests=7, tokens=700)})
    with count_usage() as outside:
        response = ground_text(grounder, CLAIM)
    assert outside.total.spent, "what the work is a part of is told too"
    read = [body for body in server.bodies if "<paper>" in body["messages"][-1]["content"]]
    assert read == [], "the prompt alone takes more"
    reasons = [one.verdict.reason for one in response.supporting if one.verdict]
    assert reasons and all("the budget of 7 requests and 700 tokens is spent" in reason for reason in reasons)


def test_the_claims_of_a_text_share_its_budget(server: ChatServer, index: Index) -> None:
    grounder = grounder_of(make(server, index))
    grounder.config = grounder.config.model_copy(update={"text_budget": Budget(requests=4, tokens=200_000)})
    reading = ReadText.of(read_text("Zeta lowers pressure in adults. Eta lowers pressure in adults."))
    checked = Checker(grounder).check(reading)
    assert [one.result.usage.requests for one in checked.sentences if one.result and one.result.usage] == [2, 2]
    assert checked.usage
    assert checked.usage.spent


def test_both_sides_of_a_choice_are_read_within_the_budget_for_reading(server: ChatServer, index: Index) -> None:
    answerer = make(server, index)
    answerer.config = answerer.config.model_copy(update={"reading": Budget(requests=4, tokens=25_000)})
    answerer.answer(Topic("1", "Is zeta or eta better for pressure in adults?"))
    read = [body for body in server.bodies if "<paper>" in body["messages"][-1]["content"]]
    assert 3 <= len(read) <= 4, "three papers for the first side, and what is left for the second"


def test_what_is_refused_and_what_is_repeated_is_counted(server: ChatServer, index: Index) -> None:
    busy: Iterator[Reply] = iter([fault(429, Retry_After="0"), fault(503, Retry_After_Ms="1")])
    server.script = lambda body: next(busy, None) or REFUSING["temperature"](answer_rightly)(body)
    grounder = grounder_of(make(server, index, retries=3))
    grounder.config = grounder.config.model_copy(update={"budget": None})
    response = ground_text(grounder, CLAIM)
    assert response.usage
    assert response.usage.requests == len(server.bodies) > 6
    assert response.usage.prompt_tokens == 500


def test_a_server_that_is_not_there_was_sent_nothing(server: ChatServer, index: Index) -> None:
    server.close()
    grounding = grounder_of(make(server, index)).ground(Claim(CLAIM))
    assert grounding.usage == Usage()
    assert UsageOut.of(grounding.usage) is None


def test_works_at_the_same_time_do_not_mix_their_counts(server: ChatServer, index: Index) -> None:
    answerer = make(server, index)
    words = ("pressure", "adults", "sugar", "weight")

    def work(number: int) -> tuple[str, int]:
        name = f"Zeta lowers {words[number % 4]} number {number}."
        response = ground_text(grounder_of(answerer), name)
        return name, response.usage.requests if response.usage else 0

    with count_usage() as outside, ThreadPoolExecutor(6) as pool:
        counted = dict(pool.map(work, range(12)))
    said = [body["messages"][-1]["content"] for body in server.bodies]
    assert counted == {name: sum(f": {name}" in one for one in said) for name in counted}
    assert sum(counted.values()) == len(server.bodies) > 12
    assert outside.total == Usage(), "threads without a copy of this context are no part of it"


def test_cached_replies_are_told_apart(server: ChatServer, index: Index, tmp_path: Path) -> None:
    set_cache_folder(str(tmp_path), 100)
    try:
        first, again = (ground_text(grounder_of(make(server, index)), CLAIM).usage for _ in range(2))
    finally:
        set_cache_folder("off", 100)
    assert first and again
    assert (first.requests, first.cached, again.requests, again.cached) == (5, 0, 0, 5)
    assert len(server.bodies) == 5
    assert describe_usage(again) == "Language model: 0 requests. 5 replies were there from earlier."


def test_metrics_and_the_budget_count_the_same(server: ChatServer, index: Index) -> None:
    def read(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(name, labels) or 0.0

    assert metrics.LLM_REQUESTS
    tokens = [("counterpoint_llm_tokens_total", kind) for kind in ("prompt", "completion")]
    before = read("counterpoint_llm_requests_total"), *(read(name, kind=kind) for name, kind in tokens)
    answerer = make(server, index)
    usage = answerer.answer(Topic("1", "Does zeta lower pressure in adults?")).usage
    after = read("counterpoint_llm_requests_total"), *(read(name, kind=kind) for name, kind in tokens)
    counted = usage.requests, usage.prompt_tokens, usage.completion_tokens
    assert tuple(b - a for a, b in zip(before, after, strict=True)) == counted
    spent = usage.prompt_tokens + usage.completion_tokens
    sent = len(server.bodies)
    stopped = make(server, index, budget=spent)
    with pytest.raises(ChatUnanswered, match=f"used its budget of {spent:,} tokens"):
        stopped.answer(Topic("1", "Which drug lowers pressure in adults?"))
    assert len(server.bodies) == sent, "what reader and writer used together is the budget of both"


def test_tokens_that_a_server_does_not_count_are_estimated_and_said_to_be(server: ChatServer, index: Index) -> None:
    server.script = lambda body: Reply(re.sub(rb'"usage": \{[^}]*\}', b'"usage": null', answer_rightly(body).raw), headers=_JSON)
    response = ground_text(grounder_of(make(server, index)), CLAIM)
    assert response.usage
    assert response.usage.estimated
    sent = sum(len(one["content"]) for body in server.bodies for one in body["messages"])
    assert abs(response.usage.prompt_tokens - sent / 4) < 4 * len(server.bodies)
    assert ", about " in describe_usage(response.usage)


_JSON = {"Content-Type": "application/json"}
