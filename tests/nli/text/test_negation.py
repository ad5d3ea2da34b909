"""Negation cues: the list itself, and that what is found is where it is said to be."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.nli.text.negation import find_cues, find_cues_by_sentence, load_cue_list, negation_scopes
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.retrieval.core.values import Cue, Sentence

FORMS = {form: entry.name for entry in load_cue_list().cues for form in entry.forms}


def found(text: str) -> list[str]:
    return [text[cue.start : cue.end] for cue in find_cues(text)]


def test_there_are_23_cues_each_with_its_source_and_no_form_twice() -> None:
    cues = load_cue_list().cues
    assert len(cues) == len({cue.name for cue in cues}) == 23
    assert {cue.source for cue in cues} <= {"negex", "negex+", "ours"}
    assert all(cue.forms and cue.direction in ("after", "before") for cue in cues)
    assert len(FORMS) == sum(len(cue.forms) for cue in cues)
    assert not FORMS.keys() & set(load_cue_list().pseudo)
    assert all(form == form.lower() and "’" not in form for form in FORMS)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_found_whole_whatever_its_case(form: str) -> None:
    for spelled in (form, form.capitalize(), form.replace("'", "’")):
        text = f"İt is, {spelled} (so) in 12 men."
        [cue] = find_cues(text)
        assert (cue.name, text[cue.start : cue.end]) == (FORMS[form], spelled)


@pytest.mark.parametrize(
    "text",
    [
        "nobody noted another piano knot",
        "no-reflow, non-smokers and a cannot-do",
        "no\u2011reflow no\u2010show",
        "no\u0301 with an accent of its own",
        "no_value not_a_word",
        "not only this", "whether or not", "it is not necessarily so", "no doubt", "without doubt",
        "NO synthase raises NO.", "the NOR group",
        "trial registration no. NCT0123", "congeners No. 47 and no. 5", "(registration no.: 12)",
    ],
)  # fmt: skip
def test_what_is_no_cue(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        # NegEx calls these pseudo-negations; in an abstract they are what contradicts.
        ("There was no increase, no change; it did not cause harm.", ["no", "no", "not"]),
        ("no further benefit, not certain if it helps", ["no", "not"]),
        ("in the absence of pain", ["in the absence of"]),
        ("It was ruled out.", ["was ruled out"]),
        ("not only but also not", ["not"]),
        ("no—or none?", ["no", "none"]),
        ("failed\u00a0to help, rather\u2009than harm", ["failed\u00a0to", "rather\u2009than"]),
        ("NO did NOT rise", ["NOT"]),
        ("neither A nor B", ["neither", "nor"]),
    ],
)
def test_what_is_a_cue(text: str, cues: list[str]) -> None:
    assert found(text) == cues


surroundings = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("İßŉǰ\u0301\u0307\u00adΣ’-. ")), max_size=12)


@given(st.lists(st.tuples(surroundings, st.sampled_from([*FORMS, *load_cue_list().pseudo])), max_size=4), surroundings)
def test_offsets_slice_back_to_a_form_whatever_surrounds_it(parts: list[tuple[str, str]], tail: str) -> None:
    text = "".join(before + form for before, form in parts) + tail
    cues = find_cues(text)
    for cue in cues:
        spelled = text[cue.start : cue.end]
        for typeset, typed in (("’", "'"), ("\u00a0", " "), ("\u2009", " "), ("\u202f", " "), ("\u2010", "-")):
            spelled = spelled.replace(typeset, typed)
        assert FORMS[spelled.lower()] == cue.name
    assert all(left.end <= right.start for left, right in pairwise(cues))
    placed = find_cues_by_sentence(text, spans := sentence_spans(text))
    assert all(spans[i][0] <= cue.start < cue.end <= spans[i][1] for i, cue in placed)


def sentence(text: str, start: int = 0) -> Sentence:
    cues = tuple(Cue(cue.name, cue.start + start, cue.end + start) for cue in find_cues(text))
    return Sentence("1", 0, start, start + len(text), text, cues)


@pytest.mark.parametrize(
    ("text", "scopes"),
    [
        ("There was no increase in mortality.", {"no": "increase in mortality"}),
        ("There was no change in pain, but sleep improved.", {"no": "change in pain"}),
        ("A benefit for survival is unlikely.", {"unlikely": "A benefit for survival is"}),
        ("Cancer was ruled out in all.", {"was ruled out": "Cancer"}),
        ("Neither A nor B helped.", {"Neither": "A nor B helped", "nor": "B helped"}),
        ("It didn’t reduce pain (p = 0.3).", {"didn’t": "reduce pain (p = 0.3)"}),
        ("There was no evidence of harm.", {"no evidence of": "harm"}),
        ("It was not only safe; it never failed to help…", {"never": "failed to help", "failed to": "help"}),
        ("The answer was no.", {}),
    ],
)
def test_scopes(text: str, scopes: dict[str, str]) -> None:
    found = negation_scopes(sentence(text))
    assert {text[s.cue.start : s.cue.end]: text[s.scope_start : s.scope_end] for s in found} == scopes


def test_pytorch_is_not_loaded_for_a_scope_and_can_be_had_afterwards() -> None:
    code = (
        "import sys; from counterpoint.nli.text.negation import find_cues, negation_scopes; "
        "from counterpoint.retrieval.core.values import Sentence; text = 'There was no harm.'; "
        "scopes = negation_scopes(Sentence('1', 0, 0, len(text), text, tuple(find_cues(text)))); "
        "assert len(scopes) == 1 and 'torch' not in sys.modules; import torch; print(torch.ones(1).item())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert (told.stdout, told.returncode) == ("1.0\n", 0), told.stderr
