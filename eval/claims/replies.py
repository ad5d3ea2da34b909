"""A language model as the reader, by replies that were recorded: its prompts as files, and what others answered, replayed.

A file of prompts holds a claim and the papers that its gate chose, each as a chat model is sent it (nli.reader.chat). Whoever
answers writes a file of the same name into another folder: `replies`, one for each paper by its PMID, with the fields that a
model is asked for; the quotation may be left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from tqdm import tqdm

from eval.claims.reading import PaperClaim
from nli.judge import Abstract
from nli.reader.chat import ChatReader, Opinion, check_opinion, make_prompt, read_prompt
from retrieval.core.errors import BadInput
from retrieval.core.values import Claim
from retrieval.runtime.chat import ChatUnanswered
from service.grounding.claims import state_claim
from service.grounding.gate import take_best
from service.grounding.ground import Grounder
from service.grounding.read import make_abstract


def write_prompts(claims: Sequence[PaperClaim], grounder: Grounder, folder: Path) -> None:
    """Write a file for each claim, numbered from 1: the claim, the instructions, and a prompt for each paper to be read."""
    path = grounder.config.path
    if path is None:
        raise BadInput(f"The configuration {grounder.config.name} reads sentences, not papers, so there are no prompts.")
    folder.mkdir(parents=True, exist_ok=True)
    for number, one in enumerate(tqdm(claims, desc="claims", disable=None), 1):
        claim = Claim(state_claim(one.claim))
        ranked = grounder.rank(claim, grounder.find(claim))
        best = take_best(claim, ranked, path.read.papers)
        papers = [{"pmid": entry.pmid, "prompt": make_prompt(claim.text, make_abstract(entry))} for entry in best]
        prompts = {"claim": one.claim, "instructions": read_prompt("read-paper"), "papers": papers}
        (folder / f"{number:03}.json").write_text(json.dumps(prompts, indent=1, ensure_ascii=False), "utf-8")


def read_replies(prompts: Path, replies: Path) -> dict[str, Mapping[str, Any]]:
    """The replies by their prompts. Raises `BadInput` for a file that cannot be read, or where there is none."""
    answered: dict[str, Mapping[str, Any]] = {}
    for file in sorted(replies.glob("*.json")):
        try:
            found = {str(one["pmid"]): one for one in json.loads(file.read_text("utf-8"))["replies"]}
            for paper in json.loads((prompts / file.name).read_text("utf-8"))["papers"]:
                if paper["pmid"] in found:
                    answered[paper["prompt"]] = found[paper["pmid"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{file} cannot be read with its prompts ({error!r}); expected replies with a pmid each.") from None
    if not answered:
        raise BadInput(f"{replies} has no reply to the prompts in {prompts}; expected NNN.json in both.")
    return answered


class RecordedReader(ChatReader):
    """A language model whose replies were recorded; a prompt without one counts as unanswered."""

    def __init__(self, replies: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__("recorded", "http://127.0.0.1:9", retries=0)
        self._replies = replies

    def ask(self, claim: str, paper: Abstract) -> Opinion:
        """The recorded opinion, which quotes its whole sentence where no quotation was recorded."""
        reply = self._replies.get(make_prompt(claim, paper))
        if reply is None:
            raise ChatUnanswered("No reply was recorded.")
        place = reply.get("sentence", 0)
        whole = paper.sentences[place - 1] if isinstance(place, int) and 0 < place <= len(paper.sentences) else ""
        try:
            opinion = Opinion.model_validate({**reply, "quote": reply.get("quote") or whole})
        except ValidationError:
            raise ChatUnanswered("The recorded reply is not in the requested format.") from None
        if fault := check_opinion(opinion, paper):
            raise ChatUnanswered(fault)
        return opinion
