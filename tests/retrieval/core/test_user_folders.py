"""Where a user's cache and memory lie, and a user id for whom there is no such place."""

from __future__ import annotations

import logging
import os
import pwd
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from counterpoint.retrieval.core import result_cache, user_folders
from counterpoint.retrieval.core.user_folders import find_user_folder
from counterpoint.service.operating.settings import Settings
from tests.helpers.served import opened, over_fakes

OWN = ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "COUNTERPOINT_CACHE", "COUNTERPOINT_STATE")
SAID = "This user has no home folder to write to: nothing is cached or remembered"


def has_no_entry(number: int) -> NoReturn:
    """What `pwd.getpwuid` does for a user id that the system does not list."""
    raise KeyError(f"getpwuid(): uid not found: {number}")


@pytest.fixture
def without_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user id that the system does not list, and no HOME, as with Kubernetes' runAsUser or `env -i`."""
    for variable in OWN:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", has_no_entry)
    monkeypatch.setattr(result_cache, "_chosen", None)
    user_folders._warn_without_home.cache_clear()


@pytest.mark.usefixtures("without_home")
def test_a_user_without_a_home_has_no_folders_and_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "counterpoint"):
        assert find_user_folder("cache") is None and find_user_folder("state") is None
        assert result_cache.open_cache("vectors") is None and result_cache.open_cache("verdicts") is None
        assert Settings().state_folder(shared=False) is None
    [line] = caplog.messages
    assert line.startswith(SAID)


@pytest.mark.usefixtures("without_home")
def test_a_home_that_cannot_be_written_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "home"))
    assert find_user_folder("cache") is None and find_user_folder("state") is None
    [line] = caplog.messages
    assert line.startswith(SAID)


@pytest.mark.usefixtures("without_home")
def test_a_folder_that_is_named_is_used_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert find_user_folder("cache") == tmp_path / "xdg" / "counterpoint"
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path / "named"))
    monkeypatch.setenv("COUNTERPOINT_STATE", str(tmp_path / "state"))
    assert result_cache.get_cache_folder() == tmp_path / "named"
    assert Settings().state_folder(shared=False) == tmp_path / "state"


def test_a_user_with_a_home_keeps_both_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in OWN:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in (find_user_folder("cache"), find_user_folder("state")):
        assert folder is not None and folder.is_dir() and tmp_path in folder.parents


@pytest.mark.usefixtures("without_home")
def test_the_service_starts_without_a_home_and_remembers_nothing(demo_folder: Path) -> None:
    with opened(over_fakes(demo_folder, Settings())) as client:
        assert client.post("/v1/ground", json={"claim": "Beta-carotene reduces the risk of lung cancer."}).status_code == 200
        assert client.get("/v1/memory").json()["on"] is False


WITHOUT_ENTRY = """
import pwd, sys
def has_no_entry(number): raise KeyError(number)
pwd.getpwuid = has_no_entry
from counterpoint.service.cli.commands import main
main()
"""


def test_a_command_answers_without_a_home_and_says_so_in_one_line(demo_folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in OWN}
    asked = ["ground", "Beta-carotene reduces the risk of lung cancer.", "--index", str(demo_folder), "--profile", "fast"]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ENTRY, *asked], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "Contradicting: " in done.stdout, done.stderr
    [line] = done.stderr.splitlines()
    assert line.startswith(SAID)
    remembered = subprocess.run(
        [sys.executable, "-c", WITHOUT_ENTRY, "history"], env=environment, capture_output=True, text=True, check=False
    )
    assert remembered.returncode == 2 and "name a folder with COUNTERPOINT_STATE." in remembered.stderr
    assert "Traceback" not in remembered.stderr
