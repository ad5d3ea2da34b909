"""What a cue negates."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nli.text.cues import find_cues
from nli.text.scope import negation_scopes
from retrieval.core.values import Cue, Sentence


def sentence(text: str, start: int = 0) -> Sentence:
    cues = tuple(Cue(cue.name, cue.start + start, cue.end + start) for cue in find_cues(text))
    return Sentence("1", 0, start, start + len(text), text, cues)


@pytest.mark.parametrize(
    ("text", "scopes"),
    [
        ("There was no increase in mortality.", {"no": "increase in mortality"}),
        ("There was no change in pain, but sleep improved.", {"no": "change in pain"}),
        ("It did not help although it was safe.", {"not": "help"}),
        ("It was not reduced in women; it was in men.", {"not": "reduced in women"}),
        ("A benefit for survival is unlikely.", {"unlikely": "A benefit for survival is"}),
        ("Cancer was ruled out in all.", {"was ruled out": "Cancer"}),
        ("Neither A nor B helped.", {"Neither": "A nor B helped", "nor": "B helped"}),
        ("It didn't reduce pain!", {"didn't": "reduce pain"}),
        ("It didn’t reduce pain (p = 0.3).", {"didn’t": "reduce pain (p = 0.3)"}),
        ("There was no evidence of harm.", {"no evidence of": "harm"}),
        ("It was not only safe; it never failed to help…", {"never": "failed to help", "failed to": "help"}),
        ("The answer was no.", {}),
        ("It helped.", {}),
    ],
)
def test_scopes(text: str, scopes: dict[str, str]) -> None:
    found = negation_scopes(sentence(text))
    assert {text[s.cue.start : s.cue.end]: text[s.scope_start : s.scope_end] for s in found} == scopes


def test_offsets_count_in_the_abstract() -> None:
    abstract = "It was safe. It did not help."
    [scope] = negation_scopes(sentence(abstract[13:], start=13))
    assert (abstract[scope.cue.start : scope.cue.end], abstract[scope.scope_start : scope.scope_end]) == ("not", "help")


def test_a_sentence_that_is_a_table_has_no_scopes() -> None:
    assert negation_scopes(sentence("no effect " * 150_000)) == ()


def test_pytorch_is_not_loaded_for_a_scope_and_can_be_had_afterwards() -> None:
    code = (
        "import sys; from nli.text.cues import find_cues; from nli.text.scope import negation_scopes; "
        "from retrieval.core.values import Sentence; text = 'There was no harm.'; "
        "scopes = negation_scopes(Sentence('1', 0, 0, len(text), text, tuple(find_cues(text)))); "
        "assert len(scopes) == 1 and 'torch' not in sys.modules; import torch; print(torch.ones(1).item())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert (told.stdout, told.returncode) == ("1.0\n", 0), told.stderr


def test_another_thread_gets_pytorch_meanwhile() -> None:
    code = (
        "import sys, threading; from retrieval.runtime.without_torch import without_torch\n"
        "def other():\n    import torch\n"
        "with without_torch():\n"
        "    try:\n        import torch\n        print('loaded')\n"
        "    except ImportError:\n        print('not here')\n"
        "    thread = threading.Thread(target=other); thread.start(); thread.join()\n"
        "print('torch' in sys.modules, len([one for one in sys.meta_path if 'NotFor' in repr(one)]))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert told.stdout.splitlines() == ["not here", "True 0"], told.stderr
