"""From a language model's running text to draft sentences, and the faults of a sentence that show by its words alone.

Models whose replies are JSON need none of the marks: the paper's variants and models that run here write running text, with the
marks that their prompts ask for, [1], [1, 2-4], [Doc 1], 【1】 or [PMID 123]. What surrounds the text is removed, it is split.

A small model that loses its way says the same thing again and again, answers the worked example in its prompt instead of the
question, recites its instructions, or copies a document's title or background. Such a sentence may well be true and cited, so no
check of citations would find it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from counterpoint.generation.draft import CitedSource, DraftSentence, Source
from counterpoint.generation.grammar import load_words
from counterpoint.retrieval.core.values import Span
from counterpoint.retrieval.words.forms import capitalise, make_third_person

Splitter = Callable[[str], Sequence[Span]]

_MARK = re.compile(
    r"[\[【](?P<numbers>(?:(?:documents?|docs?\.?|sources?|references?|refs?\.?|and|[\s,;&#^–—-]|\d++))++)(?:†[^\]】]*)?[\]】]"
    r"|[\[【(]\s*(?P<pmids>PMIDs?[^\])】]{1,200})[\]】)]",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d+)\s*[-–—]\s*(\d+)")
_WIDEST = 20
# A mark is carried through the splitting as its number in the list of marks, between two private-use characters.
_OPEN, _CLOSE = "\ue000", "\ue001"
_PLACEHOLDER = re.compile(rf"\s*{_OPEN}(\d+){_CLOSE}")
_BEHIND = re.compile(rf"([.?!][”\"’')]?)((?:\s*{_OPEN}\d+{_CLOSE})+)(?=\s*(?:$|[A-Z0-9À-ÖØ-Þ“\"(]))", re.MULTILINE)
# After these words, or at the beginning, a mark stands for the paper itself: "[1] reports that …, while [2] found no …".
_BEFORE_NOUN = re.compile(
    r"(?:^|[.;:!?]\s+|\b(?:while|whereas|although|though|but|and|or|in|by|from|per|to|of|with|against|unlike|that)\s+)$",
    re.IGNORECASE,
)
_AFTER_NOUN = re.compile(r"\s*(?:,\s*)?[a-z]")
_IN_PAPER = re.compile(r"\b(?:in|by|from|per|to)\s+$", re.IGNORECASE)
"""Before a mark that a sentence cannot do without, wherever it stands: "as shown in [1]."."""
_REPORTS = re.compile(
    r"^[\s,:]*(?:(?:also|however)\s+)?(?:(?:and|with)\s+)?(?:report|find|found|show|suggest|observe|note|conclude|indicate|demonstrate|state|describe)"
    r"(?:s|ed|d|n)?\b\s*(?:that\b)?\s*",
    re.IGNORECASE,
)
_TAIL = re.compile(r"[\s,;:]*\b(?:while|whereas|although|though|but|and|in contrast to|unlike)?[\s,;:]*$", re.IGNORECASE)
_FEWEST = 3
"""A line of fewer words and without a citation is taken for a heading."""


def parse_sentences(text: str, split: Splitter, sources: Sequence[Source]) -> list[DraftSentence]:
    """The sentences of a reply with the sources that each cites; `split` gives the sentences' offsets in a text."""
    numbers = {source.document.pmid: source.number for source in sources}
    pmids = {number: pmid for pmid, number in numbers.items()}
    marks: list[tuple[int, ...]] = []

    def carry(match: re.Match[str]) -> str:
        """A mark as its number; one that stands for a paper also leaves its PMID in its place."""
        if not (cited := _read_mark(match, numbers)):
            return match[0]
        marks.append(cited)
        named = [f"PMID {pmids[number]}" for number in cited if number in pmids] if _is_noun(match) else []
        return f"{' and '.join(named) or ' '}{_OPEN}{len(marks) - 1}{_CLOSE}"

    marked = _BEHIND.sub(lambda match: f"{match[2]}{match[1]}", _MARK.sub(carry, clean_reply(text)))
    sentences = [one for block in marked.split("\n") for one in _parse_block(block, split, marks)]
    return [one for one in sentences if one.cited or len(one.text.split()) >= _FEWEST]


def drop_marks(text: str) -> str:
    """A sentence without citation marks; where one stands for a paper, "one paper" or "another paper" does instead."""
    named = iter(["one paper"])
    text = _MARK.sub(lambda match: next(named, "another paper") if _is_noun(match) else "", text.strip())
    text = _tidy(_ADDRESS.sub("", _AUTHORS.sub("", text)))
    return capitalise(text) if text.startswith(("one paper", "another paper")) else text


def _read_mark(match: re.Match[str], numbers: Mapping[str, int]) -> tuple[int, ...]:
    """The numbers that a mark cites; a PMID that no source has stands for itself, and so does a number out of range."""
    if match["pmids"]:
        words = re.findall(r"[^\s,;:]+", match["pmids"])
        found = [numbers.get(word) or (int(word) if re.fullmatch(r"\d{5,9}", word) else 0) for word in words]
        return tuple(dict.fromkeys(filter(None, found)))

    def expand(span: re.Match[str]) -> str:
        first, last = int(span[1]), int(span[2])
        return ",".join(map(str, range(first, last + 1) if 0 <= last - first <= _WIDEST else (first, last)))

    given = re.findall(r"\d+", _RANGE.sub(expand, match["numbers"]))
    most = max(numbers.values(), default=0)
    return tuple(dict.fromkeys(numbers.get(one, int(one)) if int(one) > most else int(one) for one in given))


def _is_noun(match: re.Match[str]) -> bool:
    """Whether a mark stands for the paper."""
    line = match.string[: match.start()].rsplit("\n", 1)[-1]
    return bool(_IN_PAPER.search(line) or (_BEFORE_NOUN.search(line) and _AFTER_NOUN.match(match.string[match.end() :])))


def _parse_block(block: str, split: Splitter, marks: Sequence[tuple[int, ...]]) -> Iterator[DraftSentence]:
    for start, end in split(block):
        sentence = block[start:end]
        places = list(_PLACEHOLDER.finditer(sentence))
        text = _tidy(_PLACEHOLDER.sub("", sentence))
        if not re.search(r"\w", text):
            continue
        parts_by_number: dict[int, str] = {}
        for order, match in enumerate(places):
            part = _cut_part(sentence, places, order) if _names_paper(sentence, match) else ""
            for number in marks[int(match.group(1))]:
                parts_by_number.setdefault(number, part)
        yield DraftSentence(text, tuple(CitedSource(number, part) for number, part in parts_by_number.items()))


def _names_paper(sentence: str, match: re.Match[str]) -> bool:
    """Whether the mark stands for the paper, its PMID being written out before it."""
    return re.search(r"PMID \S+$", sentence[: match.start()]) is not None


def _cut_part(sentence: str, places: Sequence[re.Match[str]], order: int) -> str:
    """What the sentence reports of the paper: its words up to the next paper, without the reporting verb."""
    for place in range(order, len(places)):
        end = next((m.start() for m in places[place + 1 :] if _names_paper(sentence, m)), len(sentence))
        clause = re.sub(r"PMID \S+\s*$", "", _PLACEHOLDER.sub("", sentence[places[place].end() : end]))
        clause = _TAIL.sub("", _REPORTS.sub("", clause))
        if len(clause.split()) >= _FEWEST:
            return _tidy(clause)
    return ""


def _tidy(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\(\s*\)", "", re.sub(r"\s+([.,;:!?])", r"\1", text)).strip()


_DOCUMENT = re.compile(r"<document\b.*?(?:</document>|\Z)", re.DOTALL | re.IGNORECASE)
_BEHIND_ANSWER = re.compile(
    r"^\W*(?:(?:references|sources|citations|bibliography)\W*$|(?:question|user|human|these are the documents)\s*[:.])",
    re.IGNORECASE | re.MULTILINE,
)
_NO_ANSWER = re.compile(
    r"^\s*(?:\||```|(?:question|narrative|topic)\s*:|#+\s+\S|(?:\*\*|__)[^*_]+(?:\*\*|__):?\s*$)", re.IGNORECASE
)
"""A line that is no part of the answer unless it cites: a table's row, a fence, the task, a heading."""
_LABEL = re.compile(
    r"^(?:[-*•#>\s]+\s|\d{1,2}[.)]\s+)*(?:\*\*[^*]{1,60}:\*\*\s*)?"
    r"(?:\W{0,4}(?:(?:final|corrected)\s+)?(?:answer|response|sentence)\s*:[*_]*\s*)?",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"\*\*|__|`")
_STOP = re.compile(r"[.!?][\])”\"'’]*(?:\s*\[[\d\s,;–-]+\])*(?=\s+[A-ZÀ-Þ\d\[“\"(*#-]|\s*$)")
_AUTHOR = r"[A-Z][\w'’-]+(?:\s+(?:et\s+al\.?|(?:and|&)\s+[A-Z][\w'’-]+),?|,)\s+(?:19|20)\d\d[a-z]?"
_AUTHORS = re.compile(rf"\s*[\[(]{_AUTHOR}(?:\s*;\s*{_AUTHOR})*[\])]")
_ADDRESS = re.compile(r"\s*[\[(]?\b(?:https?://|doi:\s*|10\.\d{4,9}/)[^\s\])]+[\])]?", re.IGNORECASE)
_WORDS = re.compile(r"(?:\w+\W+){5}")
"""The least text that can be an answer before an end marker; if there is less, the answer is still to come."""


def clean_reply(text: str) -> str:
    """The running text of a reply, one block per line, with marks and sentences as they were written."""
    text = _DOCUMENT.sub(" ", text)
    end = next((one.start() for one in _BEHIND_ANSWER.finditer(text) if _WORDS.search(text[: one.start()])), None)
    text = _ADDRESS.sub("", _AUTHORS.sub("", text[:end].strip()))
    return "\n".join(line for one in text.split("\n") if (line := _clean_line(one)))


def _clean_line(line: str) -> str:
    """The line without list marker and label; "" for a heading, a row of a table, or words that introduce a list."""
    if _MARK.search(line) is None and (_NO_ANSWER.match(line) or line.rstrip().endswith(":")):
        return ""
    return _EMPHASIS.sub("", _LABEL.sub("", line)).strip()


def keep_whole_sentences(text: str) -> str:
    """The text up to the last full stop: what was cut off in mid-sentence is dropped.

    A point inside a number ends no sentence, nor does one after a digit at the very end: what followed it is not known.
    """
    ends = list(_STOP.finditer(text))
    while ends and not text[ends[-1].end() :].strip() and re.search(r"\d\.$", text[: ends[-1].end()]):
        ends.pop()
    return text[: ends[-1].end()] if ends else ""


_RUN = 5
"""Words in a row: this many the same are no accident."""
_COPY_SHARE = 0.5
_LOOPS = 3
_REFERS = re.compile(
    r"(?:(?:also|however|thus|therefore|in addition|moreover|furthermore),? )?"
    r"(?:(?:they|this|these|those|such|both|its|their|he|she|his|her)\b|it\b(?! (?:is|was|has been) (?:\w+ ){1,2}that\b))",
    re.IGNORECASE,
)
_PMID = re.compile(r"\bPMIDs?\s*:?\s*(\d{5,9})", re.IGNORECASE)
_SAME = 0.9
"""The share of words in common (Jaccard) from which two sentences are the same."""
_TITLE = "it copies the title of a document, which states no finding"
_BACKGROUND = "it copies the background or aim of a document, not what it found"
_TOKEN = re.compile(r"[\w'-]+|[:;.,?]")
_FINITE = frozenset("is are was were can cannot could may might will should does do did has have".split())
_NO_OBJECT = frozenset("of in for on and or after with from to between at by among during following : ; . , ?".split())
"""What follows "changes" or "benefits" where it is a noun."""
_NOT_PLURAL = ("ss", "us", "is")


class Faults:
    """Checks the sentences of one answer in order; call `remember` for each one that is kept."""

    def __init__(self, prompt: str, sources: Sequence[Source], copies: bool = True) -> None:
        """`prompt` is the part of the prompt that is the same for every task; with `copies` a document's title or background may
        not be copied."""
        self._prompt = _runs(_split(prompt))
        self._pmids = {source.document.pmid for source in sources}
        self._findings: list[frozenset[str]] = []
        self._others: list[tuple[frozenset[str], str]] = []
        self._kept: list[frozenset[str]] = []
        for source in sources if copies else ():
            # Without known findings, only the titles are compared.
            for place, sentence in enumerate(source.sentences if source.own_findings is not None else ()):
                if place in (source.own_findings or ()):
                    self._findings.append(_find_words(sentence.text))
                else:
                    self._others.append((_find_words(sentence.text), _BACKGROUND))
            if not makes_statement(source.document.title):
                self._others.append((_find_words(source.document.title), _TITLE))

    def find(self, sentence: str) -> str:
        """Why the sentence may not stand, as the reason shown to the reader; "" if nothing is wrong with it."""
        words, different = _split(sentence), _find_words(sentence)
        if _loops(words):
            return "it says the same words again and again"
        if unknown := [pmid for pmid in _PMID.findall(sentence) if pmid not in self._pmids]:
            return f"it names PMID {unknown[0]}, which is not one of the documents"
        runs = _runs(words)
        if runs and len(runs & self._prompt) >= _COPY_SHARE * len(runs):
            return "it copies the instructions or their example"
        if any(_are_same(different, other) for other in self._kept):
            return "it repeats an earlier sentence"
        copied = next((fault for other, fault in self._others if _are_same(different, other)), "")
        return "" if copied and any(_are_same(different, other) for other in self._findings) else copied

    def remember(self, sentence: str) -> None:
        """Remember a sentence that is kept, so that no later one repeats it."""
        self._kept.append(_find_words(sentence))

    def remember_only(self, sentences: Iterable[str]) -> None:
        """Remember these sentences and forget all others."""
        self._kept = [_find_words(one) for one in sentences]


def refers_elsewhere(sentence: str) -> bool:
    """Whether a sentence begins with a word that stands for something in another one, so that it cannot be checked alone."""
    return bool(_REFERS.match(sentence))


def makes_statement(title: str) -> bool:
    """Whether a title has a finite verb: "Statins reduce mortality" states something, "Statins and mortality" names a subject.

    Past forms do not count, since they are nearly always participles ("patients treated with"). Of 130 titles of PubMed that were
    read, six were taken for the wrong kind.
    """
    words = [token.lower() for token in _TOKEN.findall(title)]
    verbs, nouns = load_words("verbs"), load_words("also nouns")
    third = {make_third_person(base): base for base in verbs}
    for (before, word), after in zip(pairwise(words), [*words[2:], "."], strict=False):
        if word in _FINITE:
            return True
        if word in third and (third[word] not in nouns or after not in _NO_OBJECT):
            return True
        if word in verbs - nouns and before.endswith("s") and not before.endswith(_NOT_PLURAL):
            return True
    return False


def _split(text: str) -> list[str]:
    return [word.lower() for word in re.findall(r"\w+", text)]


def _find_words(text: str) -> frozenset[str]:
    return frozenset(_split(text))


def _are_same(words: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two sentences have nearly all their words in common."""
    return len(words & others) >= _SAME * len(words | others) > 0


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}


def _loops(words: Sequence[str]) -> bool:
    """Whether a word occurs five times in a row, or a run of two to five words three times."""
    for length in range(1, _RUN + 1):
        need = length * _LOOPS if length > 1 else _RUN
        for at in range(len(words) - need + 1):
            part = words[at : at + need]
            if all(part[i] == part[i % length] for i in range(need)):
                return True
    return False
