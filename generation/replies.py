"""From a language model's reply to draft sentences, and the faults of a sentence that show by its words alone.

What surrounds a reply is removed, its citation marks are read, it is split. The prompts ask for square brackets: [1], [1,2],
[1, 2-4], [Doc 1], 【1】. Models also write superscripts, round brackets, footnotes and PMIDs. The looser styles are read only in
a text without square brackets, since "(2)" and "cm²" are often not citations.

A small model that loses its way says the same thing again and again, answers the worked example in its prompt instead of the
question, recites its instructions, or copies a document's title or background. Such a sentence may well be true and cited, so no
check of citations would find it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from generation.draft import CitedSource, DraftSentence, Source
from generation.grammar import load_words
from retrieval.core.values import Span
from retrieval.runtime.replies import find_json
from retrieval.words.forms import make_third_person

Splitter = Callable[[str], Sequence[Span]]

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
    pmids = {source.number: source.document.pmid for source in sources}
    text = clean_reply(text)
    marks = find_marks(text, numbers)
    marked_text = _BEHIND.sub(lambda match: f"{match.group(2)}{match.group(1)}", _replace_marks(text, marks, pmids))
    sentences = [one for block in marked_text.split("\n") for one in _parse_block(block, split, marks)]
    return [one for one in sentences if one.cited or len(one.text.split()) >= _FEWEST]


def _replace_marks(text: str, marks: Sequence[Mark], pmids: dict[int, str]) -> str:
    """The text with each mark replaced by its number; marks that stand for a paper also leave its PMID in their place."""
    parts, at = [], 0
    for place, mark in enumerate(marks):
        stretch = text[at : mark.start]
        parts.append(stretch)
        line = text[: mark.start].rsplit("\n", 1)[-1]
        noun = _IN_PAPER.search(line) or (_BEFORE_NOUN.search(line) and _AFTER_NOUN.match(text[mark.end :]))
        cited_pmids = [pmids[number] for number in mark.numbers if number in pmids]
        if noun and cited_pmids:
            parts.append(" and ".join(f"PMID {pmid}" for pmid in cited_pmids) + f"{_OPEN}{place}{_CLOSE}")
        else:
            parts.append(f" {_OPEN}{place}{_CLOSE}")
        at = mark.end
    return "".join(parts) + text[at:]


def _parse_block(block: str, split: Splitter, marks: Sequence[Mark]) -> Iterator[DraftSentence]:
    for start, end in split(block):
        sentence = block[start:end]
        places = list(_PLACEHOLDER.finditer(sentence))
        text = _tidy(_PLACEHOLDER.sub("", sentence))
        if not re.search(r"\w", text):
            continue
        parts_by_number: dict[int, str] = {}
        for order, match in enumerate(places):
            part = _cut_part(sentence, places, order) if _names_paper(sentence, match) else ""
            for number in marks[int(match.group(1))].numbers:
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
_REFERENCES = re.compile(r"^\W*(?:references|sources|citations|bibliography)\W*$", re.IGNORECASE | re.MULTILINE)
_NEXT_TASK = re.compile(r"^\W*(?:question|user|human|these are the documents)\s*[:.]", re.IGNORECASE | re.MULTILINE)
_TASK_LINE = re.compile(r"^\W*(?:question|narrative|topic)\s*:", re.IGNORECASE)
_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_ANSWER_LABEL = re.compile(r"^\W{0,4}(?:(?:final|corrected)\s+)?(?:answer|response|sentence)\s*:[*_]*\s*", re.IGNORECASE)
_TABLE_ROW = re.compile(r"^\s*\|")
_BULLET = re.compile(r"^\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|>\s+)")
_HEADING = re.compile(r"^\s*(?:#+\s+\S|(?:\*\*|__)[^*_]+(?:\*\*|__):?\s*$)")
_BOLD_LABEL = re.compile(r"^\*\*([^*]{1,60}?):?\*\*:?\s*(?=\S)")
_EMPHASIS = re.compile(r"\*\*|__|`")
_ANY_MARK = re.compile(r"[\[【(]\s*(?:[A-Za-z]+\.?\s*[:#]?\s*)?\d[\d\s,;–-]*[\]】)]")
_STOP = re.compile(r"[.!?][\])”\"'’]*(?:\s*\[[\d\s,;–-]+\])*(?=\s+[A-ZÀ-Þ\d\[“\"(*#-]|\s*$)")
_AUTHOR = r"[A-Z][\w'’-]+(?:\s+(?:et\s+al\.?|(?:and|&)\s+[A-Z][\w'’-]+),?|,)\s+(?:19|20)\d\d[a-z]?"
_AUTHORS = re.compile(rf"\s*[\[(]{_AUTHOR}(?:\s*;\s*{_AUTHOR})*[\])]")
_ADDRESS = re.compile(r"\s*[\[(]?\b(?:https?://|doi:\s*|10\.\d{4,9}/)[^\s\])]+[\])]?", re.IGNORECASE)
_WORDS = re.compile(r"(?:\w+\W+){5}")
"""The least text that can be an answer before an end marker; if there is less, the answer is still to come."""
_ANSWER_KEYS = ("answer", "response", "text", "content", "summary")
"""The keys under which a model that writes code puts its answer."""


def clean_reply(text: str) -> str:
    """The running text of a reply, one block per line, with marks and sentences as they were written."""
    text = _DOCUMENT.sub(" ", _unwrap_json(text))
    text = _FENCE.sub("", text)
    for ending in (_REFERENCES, _NEXT_TASK):
        match = next((one for one in ending.finditer(text) if _WORDS.search(text[: one.start()])), None)
        text = text[: match and match.start()]
    text = _ADDRESS.sub("", _AUTHORS.sub("", _ANSWER_LABEL.sub("", text.strip())))
    return "\n".join(line for one in text.split("\n") if (line := _clean_line(one)))


def _clean_line(line: str) -> str:
    """The line without its list marker; "" for a heading, a row of a table, or words that introduce a list."""
    mark = _ANY_MARK.search(line)
    if _TABLE_ROW.match(line) or _TASK_LINE.match(line) or (_HEADING.match(line) and not mark):
        return ""
    line = _BULLET.sub("", line).lstrip("# ").strip()
    line = _EMPHASIS.sub("", _BOLD_LABEL.sub(_keep_subject, line)).strip()
    line = _ANSWER_LABEL.sub("", line)
    return "" if line.endswith(":") and not mark else line


def _keep_subject(label: re.Match[str]) -> str:
    """ "**Garlic:** lowers …" needs its first word; "**Context:** Fever is …" does not."""
    return f"{label.group(1)} " if label.string[label.end() :][:1].islower() else ""


def _unwrap_json(text: str) -> str:
    """The answer inside a JSON object, or the text as it is."""
    body = _FENCE.sub("", text).strip()
    content = next(find_json(body), None) if body.startswith("{") and body.endswith("}") else None
    known = content if isinstance(content, dict) else {}
    return next((known[key] for key in _ANSWER_KEYS if isinstance(known.get(key), str)), text)


def keep_whole_sentences(text: str) -> str:
    """The text up to the last full stop: what was cut off in mid-sentence is dropped.

    A point inside a number ends no sentence, nor does one after a digit at the very end: what followed it is not known.
    """
    ends = list(_STOP.finditer(text))
    while ends and not text[ends[-1].end() :].strip() and re.search(r"\d\.$", text[: ends[-1].end()]):
        ends.pop()
    return text[: ends[-1].end()] if ends else ""


_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒", "0123456789-,")
_NUMBERS = r"\d{1,4}(?:\s*[-–—]\s*\d{1,4})?(?:\s*(?:[,;&]|and)\s*\d{1,4}(?:\s*[-–—]\s*\d{1,4})?)*"
_LABEL = r"(?:(?:docs?|documents?|sources?|refs?|references?)\.?\s*#?|[\^#])?"
_SQUARE = re.compile(rf"[\[【]\s*{_LABEL}\s*({_NUMBERS})(?:†[^\]】]*)?\s*[\]】]", re.IGNORECASE)
_LABELLED_NUMBERS = re.compile(r"[\[【(]((?:\s*(?:docs?|documents?|sources?|refs?)\.?\s*#?\d+\s*[,;&]?)+)[\]】)]", re.IGNORECASE)
_ROUND = re.compile(rf"(?<=\s)\(\s*{_LABEL}\s*({_NUMBERS})\s*\)(?=\s*(?:[.,;:!?]|$|\n|[A-Z(]))", re.IGNORECASE | re.MULTILINE)
_RAISED_NUMBERS = re.compile(r"(?<=[A-Za-z.,;)%]{2})([⁰¹²³⁴⁵⁶⁷⁸⁹]+(?:[,˒⁻–-]\s?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)*)")
_SUP = re.compile(rf"<sup>\s*\[?({_NUMBERS})\]?\s*</sup>", re.IGNORECASE)
_PMIDS = re.compile(r"[\[【(]\s*((?:PMIDs?\s*:?\s*)[^\])】]{1,200})[\]】)]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[([^\[\]]{1,200})\]")
_BARE_PMIDS = re.compile(r"\s*\d{5,9}(?:\s*[,;&]\s*\d{5,9})*\s*")
_PROSE = re.compile(
    r"(?<![\[【(])\b(?:the\s+)?documents?\s+#?(\d{1,3}(?:(?:,\s*|\s+and\s+)\d{1,3})*)\b(?!\s*[\]】)])", re.IGNORECASE
)
_RANGE = re.compile(r"(\d+)\s*[-–—]\s*(\d+)")
_WORD = re.compile(r"[^\s,;]+")
_UNKNOWN = re.compile(r"\d{5,9}")
_WIDEST = 20


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation mark: half-open offsets into the text, and the numbers that it cites, in its order."""

    start: int
    end: int
    numbers: tuple[int, ...]


def find_marks(text: str, numbers: Mapping[str, int]) -> list[Mark]:
    """Every citation mark of the text in order; `numbers` gives the sources' numbers by PMID.

    Numbers out of range are kept, and so are PMIDs that no source has: a sentence that cites [11] of ten documents, or a paper
    that was not given, has a fault to report, not to overlook. "Document 2 reports" is a mark just as "[2] reports" is.
    """

    def find(pattern: re.Pattern[str], read: Callable[[str], tuple[int, ...]] = _expand_ranges) -> list[Mark]:
        return [Mark(*match.span(), cited) for match in pattern.finditer(text) if (cited := read(match.group(1)))]

    most = max(numbers.values(), default=0)
    by_pmid = {int(pmid): number for pmid, number in numbers.items() if pmid.isdigit() and int(pmid) > most}
    squares = [*find(_SQUARE), *find(_LABELLED_NUMBERS)]
    candidates = [Mark(one.start, one.end, tuple(by_pmid.get(n, n) for n in one.numbers)) for one in squares]
    candidates += find(_PMIDS, lambda listed: _find_numbers(listed, numbers, guess=True))
    candidates += find(_BRACKETS, lambda listed: _find_numbers(listed, numbers, guess=bool(_BARE_PMIDS.fullmatch(listed))))
    candidates += find(_PROSE)
    candidates = (
        candidates
        or find(_SUP)
        or find(_RAISED_NUMBERS, lambda raised: _expand_ranges(raised.translate(_SUPERSCRIPTS)))
        or [mark for mark in find(_ROUND) if all(0 < number <= most for number in mark.numbers)]
    )
    marks: list[Mark] = []
    for one in sorted(candidates, key=lambda mark: (mark.start, -mark.end)):
        if not marks or one.start >= marks[-1].end:
            marks.append(one)
    return marks


def _expand_ranges(text: str) -> tuple[int, ...]:
    """ "1, 2-4" as (1, 2, 3, 4); a range that runs backwards or too far is its two ends."""

    def expand(match: re.Match[str]) -> str:
        first, last = int(match.group(1)), int(match.group(2))
        numbers = range(first, last + 1) if 0 <= last - first <= _WIDEST else (first, last)
        return ",".join(map(str, numbers))

    return tuple(dict.fromkeys(int(number) for number in re.findall(r"\d+", _RANGE.sub(expand, text))))


def _find_numbers(text: str, numbers: Mapping[str, int], guess: bool) -> tuple[int, ...]:
    """The numbers of the sources whose PMIDs are listed; if the list can only be of PMIDs (`guess`), an unknown one stands for
    itself."""
    words = _WORD.findall(text.replace(":", " "))
    candidates = [numbers.get(word) or (int(word) if guess and _UNKNOWN.fullmatch(word) else None) for word in words]
    return tuple(dict.fromkeys(number for number in candidates if number is not None))


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

    def __init__(self, prompt: str, sources: Sequence[Source]) -> None:
        """`prompt` is the part of the prompt that is the same for every task."""
        self._prompt = _runs(_split(prompt))
        self._pmids = {source.document.pmid for source in sources}
        self._findings: list[frozenset[str]] = []
        self._others: list[tuple[frozenset[str], str]] = []
        self._kept: list[frozenset[str]] = []
        for source in sources:
            # Without known findings, only the titles are compared.
            for sentence in source.sentences if source.own_findings is not None else ():
                if sentence.index in (source.own_findings or ()):
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
