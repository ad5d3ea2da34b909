"""Reading shipped word lists: remarks and blank lines are left out, headings make sections, a lost file is one clear error."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.core.word_list import read_sections, read_word_list


def test_sections_are_the_lines_below_a_heading(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("[verbs]\n# a remark\nhelp work\n[nouns]\ntrial\ncohort\n", "utf-8")
    assert read_sections(path) == {"verbs": ["help work"], "nouns": ["trial", "cohort"]}


@pytest.mark.parametrize("text", ["help\n[verbs]\nwork\n", "[verbs]\nhelp\n[verbs]\nwork\n"])
def test_an_entry_without_a_heading_and_a_heading_twice_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "words.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(ModelUnusable, match=r"words\.txt should have a new heading in place of '(help|\[verbs\])'"):
        read_sections(path)


def test_a_list_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable, match=r"gone\.txt cannot be read .* reinstall the package"):
        read_word_list(tmp_path / "gone.txt")
