"""Replies of a careful reader in a language model's place, kept without the words of papers and put together again from a corpus.

`python -m tests.helpers.recorded CORPUS QUESTIONS OUT FOLDER …` keeps the replies to the questions of a file (one a line). A
folder holds requests (`in/N.json`: their messages) and the replies to them (`out/N.txt`). Words that stand in a paper are kept as
their place in it, and the numbers of papers as PMIDs, so that a request with the papers in another order has its reply too.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from counterpoint.retrieval.runtime.untrusted import strip_markup
from tests.helpers.chat_server import Body, Reply, message
from tests.helpers.chat_server import text as streamed

_NONE: dict[str, Body] = {
    "words": {"words": []}, "titles": {"papers": []}, "names": {"groups": []}, "next": {"questions": []},
    "answers": {"answers": []},
    "reading": {"sentence": 1, "quote": "", "population": False, "intervention": False, "comparison": False, "outcome": False,
                "reason": "It does not say.", "grade": 0}, "contrast": {"differences": []},
    "write": {"sentences": []}, "correct": {"sentences": []}, "check": {"sentences": [], "answering": []},
}  # fmt: skip
"""What is said where nothing was recorded."""
_COPIED = {"quote", "name", "people", "number", "effect", "condition", "words", "first", "second"}
"""Fields whose words are those of a paper."""


@dataclass(frozen=True)
class Corpus:
    """The text of papers by PMID, and their PMIDs by title."""

    texts: Mapping[str, str]
    pmids: Mapping[str, str]

    @classmethod
    def read(cls, file: Path) -> Corpus:
        """From JSON lines."""
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        titles = {row["pmid"]: " ".join(strip_markup(row["title"]).split()) for row in rows}
        texts = {row["pmid"]: f"{titles[row['pmid']]}\n{_join(row['abstract'])}" for row in rows}
        return cls(texts, {title: pmid for pmid, title in titles.items()})


def _join(abstract: str | Sequence[str]) -> str:
    return " ".join(strip_markup(abstract if isinstance(abstract, str) else " ".join(abstract)).split())


@dataclass
class Request:
    """A request: what kind it is, what it is about, and its papers, by their numbers where it numbers them."""

    user: str
    corpus: Corpus
    kind: str = field(init=False)
    about: str = field(init=False)
    papers: dict[int, str] = field(init=False)

    def __post_init__(self) -> None:
        first = self.user.partition("\n")[0]
        tasks = {
            "Task: write": "write",
            "Task: check": "check",
            "Task: correct": "correct",
            "<titles>": "titles",
            "<answers>": "names",
        }
        kind = next((kind for mark, kind in tasks.items() if mark in self.user), "")
        self.about = first.partition(": ")[2].removesuffix(" Answer once more.")
        self.papers = {}
        if kind == "titles":
            found = re.findall(r"^\[(\d+)\] (.*) \([^()]*\)$", self.user, re.MULTILINE)
            self.papers = {int(number): self._find(title) for number, title in found}
        elif kind in ("write", "check", "correct"):
            self.papers = {int(n): pmid for n, pmid in re.findall(r'<document number="(\d+)" pmid="(\w+)">', self.user)}
        elif not kind:
            titles = re.findall(r"^<paper>\nTitle: (.*)\n\[1\] (.*)", self.user, re.MULTILINE)
            self.papers = {number: self._find(*both) for number, both in enumerate(titles, 1)}
            begins = "next" if first.startswith("Asked") else "answers" if first.startswith("Question") else "reading"
            kind = "contrast" if len(titles) > 1 else begins if titles or begins == "next" else "words"
        self.kind = kind

    def _find(self, title: str, sentence: str = "\0") -> str:
        texts = self.corpus.texts.items()
        found = (pmid for pmid, text in texts if (title != "(none)" and title in text) or sentence in text)
        return self.corpus.pmids.get(title) or next(found, "")  # a long title is cut

    @property
    def key(self) -> str:
        """What tells its reply from all others of its kind."""
        papers = self.papers.values() if self.kind in ("answers", "reading", "contrast") else ()
        return " | ".join((self.about, *papers))

    @property
    def listed(self) -> dict[int, str]:
        """The sentences or the names that it numbers."""
        pattern = r"^\[(\d+)\] (.*)$" if self.kind == "names" else r"^Sentence (\d+): (.*)$"
        return {int(number): said for number, said in re.findall(pattern, self.user, re.MULTILINE)}


def keep(request: Request, reply: Body) -> Any:
    """A reply without the words of papers and the numbers of its request."""
    papers, listed = request.papers, request.listed
    match request.kind:
        case "titles":
            return [papers[number] for number in reply["papers"] if number in papers]
        case "names":
            return [[listed[number] for number in group if number in listed] for group in reply["groups"]]
        case "write":
            return [{**one, "documents": [papers[number] for number in one["documents"]]} for one in reply["sentences"]]
        case "correct":
            return {
                listed[one["sentence"]]: {**one, "documents": [papers[number] for number in one["documents"]]}
                for one in reply["sentences"]
            }
        case "check":
            return {
                listed[one["sentence"]]: {
                    "whole": one["whole"],
                    "answers": one["sentence"] in reply["answering"],
                    "citations": {
                        papers[cited["document"]]: _without_words(cited, [papers[cited["document"]]], request.corpus)
                        for cited in one["citations"]
                    },
                }
                for one in reply["sentences"]
            }
    return _without_words(reply, [*papers.values()], request.corpus)


def give(request: Request, kept: Any) -> Body:
    """The reply again, for a request of the same kind on the same thing."""
    numbers = {pmid: number for number, pmid in request.papers.items()}
    places = {said: number for number, said in request.listed.items()}

    def renumber(one: Body, number: int) -> Body:
        pairs = [
            (pmid, part)
            for pmid, part in zip(one["documents"], one.get("parts") or one["documents"], strict=False)
            if pmid in numbers
        ]
        parts = [part for _, part in pairs] if one.get("parts") else []
        return {"sentence": number, "text": one["text"], "documents": [numbers[pmid] for pmid, _ in pairs], "parts": parts}

    match request.kind:
        case "titles":
            return {"papers": [numbers[pmid] for pmid in kept if pmid in numbers]}
        case "names":
            return {"groups": [[places[name] for name in group if name in places] for group in kept]}
        case "write":
            return {"sentences": [renumber(one, number) for number, one in enumerate(kept, 1)]}
        case "correct":
            return {"sentences": [renumber(kept[said], number) for said, number in places.items() if said in kept]}
        case "check":
            said = {number: kept[text] for text, number in places.items() if text in kept}
            return {
                "sentences": [
                    {"sentence": number, "whole": one["whole"], "citations": [
                        {**give_words(cited, request.corpus), "document": numbers[pmid]}
                        for pmid, cited in one["citations"].items() if pmid in numbers
                    ]}
                    for number, one in said.items()
                ],
                "answering": [number for number, one in said.items() if one["answers"]],
            }  # fmt: skip
    found: Body = give_words(kept, request.corpus)
    return found


def _without_words(value: Any, pmids: Sequence[str], corpus: Corpus, name: str = "") -> Any:
    """The same with the words of these papers as their places in them; words that stand in none of them are left out."""
    if isinstance(value, dict):
        return {key: _without_words(one, pmids, corpus, key) for key, one in value.items() if key != "document"}
    if isinstance(value, list):
        return [_without_words(one, pmids, corpus, name) for one in value]
    if name not in _COPIED or not isinstance(value, str) or not pmids or not value:
        return value
    words = " ".join(value.split())
    found = ((pmid, corpus.texts[pmid].find(words)) for pmid in pmids if pmid)
    # A name may be put together of a paper's words; it is no quotation then.
    return next(([pmid, at, at + len(words)] for pmid, at in found if at >= 0), value if name == "name" else "")


def give_words(value: Any, corpus: Corpus) -> Any:
    """The same with the words of papers again."""
    if isinstance(value, dict):
        return {key: give_words(one, corpus) for key, one in value.items()}
    if isinstance(value, list):
        is_place = len(value) == 3 and isinstance(value[0], str) and isinstance(value[1], int)
        return corpus.texts[value[0]][value[1] : value[2]] if is_place else [give_words(one, corpus) for one in value]
    return value


Kept = dict[str, dict[str, Any]]
"""Replies by kind and by what they are about."""


def read_kept(file: Path) -> Kept:
    """The replies in a file."""
    kept: Kept = defaultdict(dict)
    for kind, key, said in map(json.loads, file.read_text("utf-8").splitlines()):
        kept[kind][key] = said
    return kept


def list_papers(kept: Kept) -> list[str]:
    """The PMIDs of the papers that replies are about."""
    chosen = (pmid for said in kept["titles"].values() for pmid in said)
    read = (key.rsplit(" | ", 1)[1] for kind in ("answers", "reading") for key in kept[kind])
    return [*dict.fromkeys((*chosen, *read))]


def replay(kept: Kept, corpus: Corpus) -> Callable[[Body], Reply]:
    """What a server answers with these replies."""

    def reply(body: Body) -> Reply:
        request = Request(body["messages"][-1]["content"], corpus)
        said = kept.get(request.kind, {}).get(request.key)
        content = json.dumps(_NONE[request.kind] if said is None else give(request, said))
        if body.get("stream"):
            return streamed(content, usage=False)
        whole = json.loads(message(content).raw)
        del whole["usage"]  # as if the server counted none: tokens are estimated
        return Reply(json.dumps(whole).encode(), headers={"Content-Type": "application/json"})

    return reply


def _read_folder(folder: Path, corpus: Corpus) -> Iterator[tuple[Request, Body]]:
    for asked in sorted((folder / "in").glob("*.json")):
        said = folder / "out" / f"{asked.stem}.txt"
        if said.exists():
            messages = json.loads(asked.read_text("utf-8"))["messages"]
            yield Request(messages[-1]["content"], corpus), json.loads(said.read_text("utf-8"))


def record(corpus: Corpus, questions: Sequence[str], folders: Sequence[Path]) -> Kept:
    """The replies that belong to these questions; what is judged on a claim belongs to the question of the requests before it."""
    kept: Kept = defaultdict(dict)
    for folder in folders:
        asked = ""
        for request, reply in _read_folder(folder, corpus):
            asked = request.about if request.kind == "words" else asked
            if asked in questions:
                said = keep(request, reply)
                known = kept[request.kind].get(request.key)
                # A draft is checked, and its corrections are checked after it.
                kept[request.kind][request.key] = {**known, **said} if known and request.kind in ("check", "correct") else said
    return kept


def main() -> None:
    """Keep the replies."""
    corpus = Corpus.read(Path(sys.argv[1]))
    questions = Path(sys.argv[2]).read_text("utf-8").splitlines()
    kept = record(corpus, questions, [Path(folder) for folder in sys.argv[4:]])
    lines = (json.dumps([kind, key, said], ensure_ascii=False) for kind, replies in kept.items() for key, said in replies.items())
    Path(sys.argv[3]).write_text("".join(f"{line}\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main()
