"""The words with which titles are parsed and reversed (eval.claims.titles), and their forms."""

from __future__ import annotations

import re

# Each verb, and the verb that says the opposite about the same object ("" where none is safe).
OPPOSITES = {
    "abolish": "", "accelerate": "delay", "affect": "", "aggravate": "improve", "alleviate": "worsen", "alter": "",
    "ameliorate": "worsen", "attenuate": "increase", "augment": "reduce", "blunt": "increase", "cause": "prevent",
    "confer": "", "contribute": "", "correlate": "", "decrease": "increase", "delay": "accelerate", "determine": "",
    "diminish": "increase", "disrupt": "", "downregulate": "upregulate", "elevate": "lower", "eliminate": "",
    "enhance": "reduce", "exacerbate": "improve", "facilitate": "hinder", "impair": "improve", "improve": "worsen",
    "increase": "reduce", "induce": "prevent", "influence": "", "inhibit": "increase", "lead": "", "lower": "raise",
    "mediate": "", "modify": "", "modulate": "", "outperform": "", "potentiate": "reduce", "predict": "", "prevent": "cause",
    "produce": "", "prolong": "shorten", "promote": "inhibit", "protect": "", "provide": "", "raise": "lower",
    "reduce": "increase", "regulate": "", "relieve": "worsen", "require": "", "restore": "impair", "result": "",
    "reverse": "", "shorten": "prolong", "stimulate": "inhibit", "suppress": "increase", "upregulate": "downregulate",
    "worsen": "improve",
}  # fmt: skip
# Words that follow the verb and can be swapped for one another there.
SWAPS = {
    "increased": "reduced", "reduced": "increased", "decreased": "increased", "elevated": "reduced", "higher": "lower",
    "lower": "higher", "greater": "smaller", "smaller": "greater", "more": "less", "less": "more", "fewer": "more",
    "better": "worse", "worse": "better", "poorer": "better", "poor": "good", "good": "poor", "longer": "shorter",
    "shorter": "longer", "faster": "slower", "slower": "faster", "superior": "inferior", "inferior": "superior",
    "improved": "worse", "effective": "ineffective", "ineffective": "effective", "necessary": "unnecessary",
    "unnecessary": "necessary", "positively": "negatively", "negatively": "positively", "inversely": "positively",
    "earlier": "later", "later": "earlier",
}  # fmt: skip
COMPARATIVES = {"more", "less", "fewer", "higher", "lower", "greater", "smaller", "better", "worse", "longer", "shorter"}
AS_MUCH = {"similar", "comparable", "different", "equal", "identical", "both"}
BE = {"is", "are", "was", "were"}
HAVE = {"has": "does not have", "have": "do not have", "had": "did not have"}
DO = {"does", "do", "did"}
NO_FINDING = {"may", "might", "could", "would", "should", "must", "will", "shall"}
FINITE = BE | HAVE.keys() | DO | NO_FINDING | {"can", "cannot"}
# A verb after one of these belongs to another clause.
SUBORDINATE = set("that which who whom whose where when whether how why what if because although while whereas than as".split())
QUESTIONS = {"is", "are", "was", "were", "does", "do", "did", "can", "has", "have", "should", "will", "how", "which", "who"}
QUESTIONS |= {"what", "why", "when", "where", "whether", "if"}
PREPOSITIONS = set(
    "of in and or after during for with to on from following between by at among as versus vs are is was were".split()
)
# Verb forms that are also nouns.
NOUNS = {"increase", "decrease", "cause", "result", "influence", "delay", "lead", "reverse"}
NO_ADVERBS = {"family", "elderly", "early", "only", "assembly", "supply", "daily", "weekly", "monthly", "anomaly", "likely"}
NO_ADVERBS |= {"yearly", "costly", "friendly", "unlikely"}
KEPT_ADVERBS = SWAPS.keys() | {"equally"}
ADJECTIVES = ("ive", "al", "ic", "able", "ous")
BETWEEN = {"also", "still", "further"}
ALSO_FINITE = set(
    "persists regresses varies occurs exists remains appears seems differs depends becomes shows fails offers plays".split()
)
SECOND = {"control", "maintain", "preserve", "limit", "support", "show", "allow", "permit", "keep"}
# Words that limit a finding: negating it would hardly contradict the title, if at all.
HALF = re.compile(
    r"\b(some|many|most|few|several|certain|subsets?|half|often|sometimes|occasionally|frequently|usually|commonly|generally"
    r"|potentially|possibly|probably|partly|partially|mainly|mostly|predominantly|primarily|rarely|hardly|seldom|barely|nearly"
    r"|almost|always|necessarily|entirely|merely|simply|just|even|appears?|seems?|not|cannot|no|none|nor|neither|never|but|only"
    r"|without|unless|except|although|though|while|whereas|however|despite|regardless|irrespective|independent|independently"
    r"|rather|instead|multiple|every|all|any|each|lacks?|fails?|either|yet|equivalent|equal)\b",
    re.IGNORECASE,
)
STRESSED = {"significantly", "substantially", "markedly", "appreciably", "statistically", "clinically", "greatly"}
DENIED_NOUNS = set("effect effects impact influence benefit advantage role association relationship relation correlation".split())
PLURALS = {"children", "women", "men", "people", "data", "criteria", "bacteria", "mice"}
SUBTITLE = re.compile(r":\s|\s[-–—]{1,2}\s|--|—|(?<=[a-z)]{3})\.\s+(?=[A-Z])|;\s")
WORD = re.compile(r"[^\W_].*[^\W_]|[^\W_]")
HOW = re.compile(r"\s(?:by (?!means\b)\w+ing|via|through)\b.*$")


def plain_word(word: str) -> str:
    """The word in lower case, without punctuation."""
    match = WORD.search(word)
    return match.group().lower() if match else ""


def third_person(verb: str) -> str:
    """The third person singular of a verb."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


THIRD = {third_person(verb): verb for verb in OPPOSITES}


def past_tense(verb: str) -> str:
    """The past tense of a regular verb."""
    if verb.endswith("y"):
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def article(word: str) -> str:
    """The indefinite article before a word."""
    return "an" if word[0].lower() in "aeiou" else "a"


def is_plural(word: str) -> bool:
    """Whether a word looks like a noun in the plural."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def is_adverb(word: str) -> bool:
    """Whether a word is an adverb in -ly."""
    return word.islower() and word.endswith("ly") and word not in NO_ADVERBS


def of_a_noun(next_word: str) -> bool:
    """Whether a word that may be verb or noun is a noun, judging by what follows: "increases in", "increase associated with"."""
    return next_word in PREPOSITIONS or next_word.endswith("ed")
