"""What a cue negates, by NegEx's rules, using negspacy on a blank spaCy pipeline (no model to download).

NegEx (Chapman et al. 2001): a cue negates what follows it (or, for a few, what precedes it) up to a termination term or the
sentence's end. negspacy finds and cleans the cues and cuts the sentence; the spans between are the scopes. This costs some
0.2 ms per sentence, so it runs only for sentences that are shown.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING

from nli.text.cues import load_cue_list
from retrieval.core.characters import align_characters
from retrieval.core.values import NegationScope, Sentence
from retrieval.runtime.without_torch import without_torch

if TYPE_CHECKING:
    from negspacy.negation import Negex

# spaCy's vocabulary grows as it reads, so only one thread may read at a time.
_lock = threading.Lock()
# A "sentence" as long as this is a table or a list that lost its full stops: marking a scope in it helps no one.
_LONGEST = 10_000
_PUNCTUATION = " .,;:!?…"


def make_termset() -> dict[str, list[str]]:
    """The cue list in the form that negspacy expects."""
    cue_list = load_cue_list()
    return {
        "pseudo_negations": list(cue_list.pseudo),
        "preceding_negations": [form for cue in cue_list.cues if cue.direction == "after" for form in cue.forms],
        "following_negations": [form for cue in cue_list.cues if cue.direction == "before" for form in cue.forms],
        "termination": list(cue_list.termination),
    }


@cache
def _load_negex() -> Negex:
    with without_torch():
        import spacy
        from negspacy.negation import Negex

    return Negex(spacy.blank("en"), "negex", neg_termset=make_termset())


def negation_scopes(sentence: Sentence) -> tuple[NegationScope, ...]:
    """The scope of each stored cue of a sentence, as offsets into the abstract; a cue that NegEx discards has none.

    A scope ends before any punctuation that follows it, and is never empty.
    """
    if not sentence.cues or len(sentence.text) > _LONGEST:
        return ()
    aligned = align_characters(sentence.text)
    with _lock:
        negex = _load_negex()
        doc = negex.nlp(aligned.text)
        if not len(doc):
            return ()
        doc[0].is_sent_start = True
        for token in doc[1:]:
            token.is_sent_start = False
        preceding_cues, following_cues, terminations = negex.process_negations(doc)
        boundaries = negex.termination_boundaries(doc, terminations)
    stretches: list[tuple[int, int, int, int]] = []
    for matches, negates_after in ((preceding_cues, True), (following_cues, False)):
        for _, first, last in matches:
            left, right = next((b for b in boundaries if b[0] <= first < b[1]), (0, len(doc)))
            tokens = doc[last:right] if negates_after else doc[left:first]
            scope_text = tokens.text.rstrip(_PUNCTUATION)
            if scope_text:
                cue_span = doc[first:last]
                scope = aligned.locate(tokens.start_char, tokens.start_char + len(scope_text))
                stretches.append((*aligned.locate(cue_span.start_char, cue_span.end_char), *scope))
    scopes: list[NegationScope] = []
    for cue in sentence.cues:
        start, end = cue.start - sentence.start, cue.end - sentence.start
        # spaCy splits "didn't" into two tokens and matches both; overlap, not equality, decides which match is this cue's.
        own = [s for s in stretches if s[0] < end and start < s[1]]
        if own:
            best = max(own, key=lambda s: (min(s[1], end) - max(s[0], start), s[1] - s[0]))
            scopes.append(NegationScope(cue, sentence.start + best[2], sentence.start + best[3]))
    return tuple(scopes)
