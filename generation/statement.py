"""From an open question and an answer to the statement that they make, and to its opposite.

"What lowers blood pressure?" and "verapamil" make "Verapamil lowers blood pressure.", with the opposite "Verapamil raises blood
pressure." A question that puts its subject in question keeps its words ("Which drugs …", "What causes …"), one that asks how
names what the answer serves ("How can X be prevented?" makes "X can be prevented with …"), and one that names a kind of thing
asks for a frame (generation/frames.txt). The opposite has the opposite verb (retrieval/words/opposites.txt) or, where there is
none, a "not".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from counterpoint.generation.grammar import ARTICLES, AUXILIARIES, BE, DO, HAVE, MODAL, load_finite_forms, load_words
from counterpoint.retrieval.core.word_list import read_sections
from counterpoint.retrieval.words.forms import OPPOSITES, capitalise, inflect_verb, load_irregular, make_third_person

_FRAMES = Path(__file__).with_name("frames.txt")
ANSWER = "{a}"
"""Where the answer stands in a statement."""


@dataclass(frozen=True, slots=True)
class Statements:
    """What a question asks to be found of an answer, and the opposite, each with `ANSWER` in the answer's place.

    `sure` is False if the question only names a kind of thing ("… is among the benefits of X"): a reader that knows what a paper
    is on takes much for one of that kind.
    """

    statement: str
    opposite: str
    sure: bool = True

    def state(self, answer: str) -> tuple[str, str]:
        """Statement and opposite for an answer."""
        return _write(self.statement, answer), _write(self.opposite, answer)


_ASKS = re.compile(
    r"^(?:(?:please|could you|can you) )*(?:(?:list|name|give|mention|tell|show)(?: me| us)?(?: of)?(?= )"
    r"|(?:what|which|who)(?:'s|’s| is| are| was| were)(?= ))"
    r"(?: (?:the|some|any|all|an?|as many|known|main|major|\d+|two|three|four|five|possible|potential|current|currently|new"
    r"|(?:most )?(?:common|frequent|important|effective|typical)|best|various|different|examples of)(?= ))*\s+",
    re.IGNORECASE,
)
"""What stands before the name of a kind of thing."""
_BEST = re.compile(r"^(?:(?:the|best|good|new|effective|safest|(?:most )?(?:effective|common)) )+", re.IGNORECASE)
_ASIDE = re.compile(
    r"^(?:as of|before|since|until|in) \d{4}, "
    r"|(?:,| -)? (?:and when should|and why|if any|as of \d+|compared with|compared to|especially)\b.*$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\b(?:you|we|I) (?:need|should|have|do|find)\b")
_WITHIN = re.compile(
    r"^(?P<before>(?!what|which|who|list)\w[\w -]*? (?:in|of|to|with)) (?:which|what) (?P<rest>.+)$", re.IGNORECASE
)
_BEHIND = re.compile(r" (?=(?:in|for|from|after|during|among|when|if|while|before|without|following)\b)")
_HOW = re.compile(
    r"^how (?:best )?(?P<modal>can|could|should|may|might) (?:you |we |one |i )?(?:best )?(?P<rest>.+)$", re.IGNORECASE
)
_WH = {"what", "which", "who"}
_RELATIVE = re.compile(r"^(?P<kind>\w[\w-]* (?:[\w -]+? )?|\w[\w-]+ )(?:that|which|who) (?P<rest>.+)$", re.IGNORECASE)
_PARTICIPLE = re.compile(
    r"^(?P<kind>[\w -]+?) (?P<rest>(?:\w+(?:ed|ught|ven|wn))\b (?:with|to|by|in|for|from|as|against)\b.+)$", re.IGNORECASE
)


def state_question(question: str) -> Statements | None:
    """What a question asks to be found of any answer to it; None where no rule is sure."""
    text = _ASIDE.sub("", " ".join(question.split()).strip(' "“”?.!'))
    if not text or _ADDRESS.search(text):
        return None
    return _state_how(text) or _state_within(text) or _state_kind(text) or _state_subject(text)


def _state_how(text: str) -> Statements | None:
    """ "How can X be prevented" as "X can be prevented with …"; "How can you prevent X" as "… can prevent X"."""
    match = _HOW.match(text)
    if match is None:
        return None
    modal, rest = match["modal"].lower(), match["rest"]
    words = rest.split()
    before, passive, after = rest.partition(" be ")
    if passive:
        means, *behind = _BEHIND.split(after, maxsplit=1)
        done = " ".join([means, "with", ANSWER, *behind])
        return Statements(f"{before} {modal} be {done}", f"{before} {modal} not be {done}")
    if words[0].lower() in load_words("verbs"):
        return _with_opposite(ANSWER, [modal, *words])
    return _with_opposite(ANSWER, [modal, "help", *words]) if _find_base(words) else None


def _state_within(text: str) -> Statements | None:
    """ "Mutations in which genes cause X" as "mutations in … cause X"."""
    match = _WITHIN.match(text)
    place = _find_finite(match["rest"].split()) if match else None
    return _with_opposite(f"{match['before']} {ANSWER}", match["rest"].split()[place:]) if match and place else None


def _state_kind(text: str) -> Statements | None:
    """ "Side effects of X" as "X causes …"; "drugs that lower X" as "… lowers X"."""
    asked, first = _ASKS.match(text), text.split()[0].lower()
    named = _BEST.sub("", text[asked.end() :] if asked else text)
    if not asked and first in _WH | {"how", "why", "when", "where", "in"}:
        return None
    for pattern, statement, opposite in _load_frames():
        if match := pattern.match(named):
            put = {"x": match["x"].rstrip(), "a": ANSWER}
            return Statements(statement.format(**put), opposite.format(**put))
    words, prepositions = named.split(), load_words("prepositions")
    if match := _RELATIVE.match(named):
        kind, rest = match["kind"].lower().split(), match["rest"]
        if kind[0] in prepositions:
            return None
        if kind[-1] not in prepositions:
            return _state_verb(rest.split())
        return Statements(f"{rest} {kind[-1]} {ANSWER}", f"it is not so that {rest} {kind[-1]} {ANSWER}")
    if first in _WH and len(words) > 1 and _is_participle(words[0].lower()) and words[1].lower() in prepositions | {"to"}:
        return _with_opposite(ANSWER, ["is", *words])
    if match := _PARTICIPLE.match(named):
        return _with_opposite(ANSWER, ["is", *match["rest"].split()])
    if not asked or len(words) < 2:
        return None
    among = "among the" if first not in _WH or "are" in asked[0].lower().split() else "the"
    return Statements(f"{ANSWER} is {among} {named}", f"{ANSWER} is not {among} {named}", sure=False)


def _state_subject(text: str) -> Statements | None:
    """ "Which drugs lower X" as "… lowers X"; "What does X cause" as "X causes …"."""
    wh, *words = text.split()
    if wh.lower() not in _WH or len(words) < 2:
        return None
    if words[0].lower() in DO:
        return _state_object(words)
    place = _find_finite(words)
    return None if place is None else _state_verb(words[place:])


def _state_object(words: list[str]) -> Statements | None:
    """ "Does X cause" as "X causes …", "does X do to Y" as "… is an effect of X on Y"."""
    place = _find_base(words[1:])
    if not place:
        return None
    subject, verb, rest = words[1 : place + 1], words[place + 1].lower(), words[place + 2 :]
    if verb != "do":
        return _with_opposite(" ".join(subject), [make_third_person(verb), ANSWER, *rest])
    where = ["on" if rest[0] in ("to", "for") else "", *rest[1:]] if rest else []
    named = f"an effect of {' '.join([*subject, *where])}"
    return Statements(f"{ANSWER} is {named}", f"{ANSWER} is not {named}", sure=False)


def _state_verb(words: list[str]) -> Statements | None:
    """A predicate about the answer, its verbs in the form for one thing; None if it is about something else ("is X approved")."""
    said, verbs, place = list(words), load_words("verbs"), _skip_adverbs(words)
    verb = words[place].lower()
    if verb in BE and not _begins_predicate(words[place + 1 :]):
        return None
    said[place] = {"are": "is", "were": "was", "have": "has"}.get(verb, make_third_person(verb) if verb in verbs else verb)
    for at in range(place + 1, len(words) if verb in verbs else 0):
        if words[at - 1].lower() in {"and", "or"} and words[at].lower() in verbs - load_words("also nouns"):
            said[at] = make_third_person(words[at].lower())
    return _with_opposite(ANSWER, said)


def _begins_predicate(words: list[str]) -> bool:
    """Whether something is said behind "is": not "is zanubrutinib approved for", nor "are there for"."""
    low = words[0].lower() if words else ""
    known = load_words("predicates") | load_words("prepositions") | {"among", "not"}
    return low != "there" and (low in known or low.endswith(("ly", "ing")) or _is_participle(low))


def _with_opposite(subject: str, predicate: list[str]) -> Statements:
    """The statement with its opposite: the opposite verb if the list has one, otherwise its denial."""
    opposites, turned, place = _load_opposites(), list(predicate), _skip_adverbs(predicate)
    verb = predicate[place].lower()
    if verb in AUXILIARIES:
        later = next((at for at in range(place + 1, min(place + 4, len(predicate))) if predicate[at].lower() in opposites), None)
        if later is None or verb in BE or "be" in predicate[place:later]:
            turned[place : place + 1] = [predicate[place], "not"]
        else:
            turned = _turn_verbs(predicate, later)
    elif verb in opposites:
        turned = _turn_verbs(predicate, place)
    else:
        turned[place : place + 1] = ["does not", load_finite_forms().get(verb, (verb, ""))[0]]
    return Statements(f"{subject} {' '.join(predicate)}", f"{subject} {' '.join(turned)}")


def _turn_verbs(predicate: list[str], place: int) -> list[str]:
    """The predicate with the verb at this place, and those joined to it, turned: "lowers X and prevents Y"."""
    opposites, turned = _load_opposites(), list(predicate)
    turned[place] = opposites[predicate[place].lower()]
    if "down" in predicate[place + 1 : place + 2]:
        turned[place + 1] = "up"  # "slow down": "speed up"
    for at in range(place + 1, min(place + 3, len(predicate) - 1)):
        if predicate[at].lower() in {"or", "and"} and (other := opposites.get(predicate[at + 1].lower())):
            turned[at + 1] = other
    return turned


def _skip_adverbs(words: Sequence[str]) -> int:
    return next((at for at, word in enumerate(words) if not word.lower().endswith("ly")), 0)


def _find_finite(words: list[str]) -> int | None:
    """The place of the verb of a subject question, behind "what" or "which" and the kind of thing asked for."""
    verbs, finite = load_words("verbs"), load_finite_forms()
    found, maybe = None, None
    for place, word in enumerate(words):
        low, before = word.lower().strip(","), words[place - 1].lower() if place else ""
        if before in load_words("prepositions") | ARTICLES:
            continue
        if low in BE | MODAL | HAVE:
            found = place
            break
        if low in verbs or low in finite:
            if place and finite.get(low, (low,))[0] in load_words("also nouns"):
                maybe = place if maybe is None else maybe
                continue
            found = place if maybe is None else maybe
            break
    found = maybe if found is None else found
    while found and words[found - 1].lower().endswith("ly"):
        found -= 1
    return found


def _find_base(words: list[str]) -> int:
    """The place of the first verb in its base form behind a subject; 0 for none."""
    verbs, before = load_words("verbs") | {"do"}, {"the", "of", "in"}
    places = (at for at in range(1, len(words)) if words[at].lower() in verbs and words[at - 1].lower() not in before)
    return next(places, 0)


def _is_participle(word: str) -> bool:
    return word.endswith("ed") or word in {been for _, _, been in load_irregular().values()}


def _write(template: str, answer: str) -> str:
    text = template.replace(ANSWER, answer)
    return f"{capitalise(text)}."


@cache
def _load_frames() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    lines = (line.rsplit(" | ", 2) for line in read_sections(_FRAMES)["frames"])
    return tuple((re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE), said, turned) for pattern, said, turned in lines)


@cache
def _load_opposites() -> Mapping[str, str]:
    """Each verb that has an opposite, in every form, with the opposite in the same form."""
    sections, found = read_sections(OPPOSITES), dict[str, str]()
    for line in (*sections["asked"], *sections["verbs"]):
        near, far = (side.split() for side in line.split("/"))
        for some, others in ((near, far), (far, near)):
            forms = inflect_verb(others[0])
            for verb in some:
                found = dict(zip(inflect_verb(verb), forms, strict=True)) | found
    return found
