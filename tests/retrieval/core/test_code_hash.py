"""The hash of code: it follows imports and data files, and ignores docstrings."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterpoint.retrieval.core.code_hash import hash_code


@pytest.mark.parametrize(
    ("source", "same"),
    [
        ('"""Others."""\nX = (1)  # so\n\n"""How many."""\ndef f() -> int:\n    "New."\n    return X', True),
        ("X = 2\ndef f() -> int:\n    return X", False),
        ('X = 1\ndef f() -> str:\n    return "X"', False),
    ],
)
def test_an_edited_docstring_changes_no_hash_and_edited_code_does(
    source: str, same: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "module.py"
    monkeypatch.setattr("counterpoint.retrieval.core.code_hash._find_source", lambda _: path)
    hashes = []
    for text in ('"""Some."""\nX = 1\ndef f() -> int:\n    """Old."""\n    return X', source):
        path.write_text(text)
        hashes.append(hash_code(["counterpoint.eval.module"]))
    assert (hashes[0] == hashes[1]) is same


def test_edited_data_beside_the_code_change_its_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "module.py"
    path.write_text("X = 1\n")
    monkeypatch.setattr("counterpoint.retrieval.core.code_hash._find_source", lambda _: path)
    hashes = {hash_code(["counterpoint.nli.module"])}
    for name in ("words.txt", "words.tsv", "prompt.md", "rules.yaml"):
        (tmp_path / name).write_text("BP\tblood pressure\n")
        hashes.add(hash_code(["counterpoint.nli.module"]))
    assert len(hashes) == 5
