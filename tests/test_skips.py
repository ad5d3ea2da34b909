"""Where no skip may pass for a test that ran: `--skips-fail`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.missing import is_accounted_for, missing

ROOT = Path(__file__).parent.parent
TESTS = """
import pytest
from tests.helpers.missing import missing

@pytest.mark.skipif(True, reason="no browser here")
def test_by_mark(): pass

def test_by_call(): pytest.skip("no reason at all")

@pytest.mark.skipif(True, reason=missing("the moon", "it sets"))
def test_rightly(): pass

@pytest.mark.xfail(reason="known")
def test_known(): assert False

def test_that_runs(): pass
"""
WHOLE = "import pytest\npytest.importorskip('no_such_package')\n"


def run(folder: Path, *options: str) -> str:
    (folder / "test_some.py").write_text(TESTS)
    (folder / "test_whole.py").write_text(WHOLE)
    alone = ["-p", "tests.conftest", "--rootdir", str(folder), "-c", "/dev/null", "--continue-on-collection-errors"]
    command = [sys.executable, "-m", "pytest", "-q", *alone, *options, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    return done.stdout


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_skip_without_a_reason_that_counts_fails_where_that_is_asked(tmp_path: Path, processes: str) -> None:
    told = run(tmp_path, "--skips-fail", "-n", processes)
    assert "This test was skipped (no browser here)" in told and "This test was skipped (no reason at all)" in told
    assert "could not import 'no_such_package'" in told
    assert "1 failed, 1 passed, 1 skipped, 1 xfailed, 2 errors" in told
    assert "the moon" not in told


def test_elsewhere_a_skip_is_a_skip(tmp_path: Path) -> None:
    assert "1 passed, 4 skipped, 1 xfailed" in run(tmp_path, "-n", "0")


def test_a_reason_names_what_is_missing_and_why() -> None:
    assert is_accounted_for(missing("the data sets at ../data", "they are not ours to pass on"))
    assert not is_accounted_for("the data sets are not there")
    assert not is_accounted_for("Missing: the data sets.")
