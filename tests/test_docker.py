"""No container engine runs here: the files are held to the Makefile, to the package and to the settings instead."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from counterpoint.service.operating.settings import PREFIX, Settings
from tests.helpers.missing import missing

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
HADOLINT = shutil.which("hadolint", path=Path(sys.executable).parent)
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))


def lines(instruction: str) -> list[str]:
    return re.findall(rf"^{instruction} +(.*)$", DOCKERFILE, re.MULTILINE)


def test_both_stages_are_pinned_and_the_last_runs_without_privileges() -> None:
    images = [line.split()[0] for line in lines("FROM")]
    assert len(images) == 2 and set(images) == {"python:3.11.7-slim-bookworm"}
    assert lines("USER") == ["10001:10001"]
    assert DOCKERFILE.rindex("USER ") > DOCKERFILE.rindex("RUN "), "nothing is installed by the user that serves"


@pytest.mark.skipif(HADOLINT is None, reason=missing("hadolint", "it has no wheel for this machine"))
def test_the_linter_finds_nothing_in_it_and_would() -> None:
    assert HADOLINT

    def told(text: str) -> str:
        return subprocess.run([HADOLINT, "-"], input=text, capture_output=True, text=True, check=False).stdout

    text = (ROOT / "Dockerfile").read_text("utf-8")
    assert told(text) == ""
    assert "DL3007" in told(text.replace("python:3.11.7-slim-bookworm", "python:latest"))


def test_every_package_is_copied_and_none_that_is_not_there() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]["find"]["include"]
    copied = {word for line in lines("COPY") if "--from" not in line for word in line.split()[:-1]}
    assert {package.removesuffix("*") for package in packages} <= copied
    assert all((ROOT / one).exists() for one in copied)


def test_it_installs_and_builds_as_the_makefile_does() -> None:
    for step in ("-m venv", "--constraint constraints.txt --editable", "index build indexes/demo/corpus.jsonl --out"):
        assert step in MAKEFILE and step in DOCKERFILE


def test_what_is_set_exists_and_the_health_check_asks_where_it_listens() -> None:
    (environment,) = lines("ENV")
    image = dict(re.findall(r"(\w+)=(\S+)", environment))
    for name in (*image, *COMPOSE["services"]["counterpoint"]["environment"]):
        assert not name.startswith(PREFIX) or name.removeprefix(PREFIX).lower() in Settings.model_fields
    assert f"127.0.0.1:{image['COUNTERPOINT_PORT']}/health" in lines("HEALTHCHECK")[0]
    assert Settings(port=int(image["COUNTERPOINT_PORT"])).shutdown_seconds < 340


def test_the_services_are_read_only_and_unprivileged() -> None:
    for service in COMPOSE["services"].values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
        assert all(volume.endswith(":ro") for volume in service["volumes"])
    own = COMPOSE["services"]["counterpoint"]
    assert own["stop_grace_period"] == "340s"
    assert own["ports"] == ["127.0.0.1:${PORT:-8000}:8000"], "nobody else is let in unless somebody says so"
    assert COMPOSE["services"]["llm"]["profiles"] == ["llm"]
