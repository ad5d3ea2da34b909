"""README.md: its commands run as they are written, what it shows is what they print, and they leave nothing to commit."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from typer.main import get_command

from counterpoint.eval import cli
from counterpoint.retrieval.index import Index
from counterpoint.service.cli.commands import app
from counterpoint.service.cli.usage import complete_dense
from tests.helpers.missing import missing
from tests.helpers.ready import wait_until_ready
from tests.helpers.served import over_fakes

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = [block.splitlines() for block in re.findall(r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL)]
SHOWN = [line for block in BLOCKS for line in block if not line.startswith(("$", "    ", "…"))]
APART = ("make ", "curl ", "counterpoint index fetch ", "counterpoint --install-completion")
"""What needs a network or a running service, serves, or changes the user's shell."""


def commands() -> list[str]:
    """The commands of the README in their order; one that goes on in the next line is one command."""
    text = "\n".join("\n".join(block) for block in BLOCKS).replace("\\\n", " ")
    return [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]


def ours() -> list[str]:
    return [line for line in commands() if line.startswith("counterpoint ")]


def test_every_kind_of_command_is_in_the_readme() -> None:
    assert cli.eval_app
    names = {line.split()[1] for line in ours()}
    assert names >= {"ground", "index", "answer", "check", "evidence", "search", "show", "run", "check-run"}
    assert len(SHOWN) > 10


@pytest.mark.parametrize("line", ours())
def test_a_command_is_one_that_the_command_line_takes(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERPOINT_INDEX", "my-index")
    words = complete_dense(shlex.split(line, comments=True)[1:])
    command, context = get_command(app), None
    while subcommands := getattr(command, "commands", None):
        if words[0].startswith("-"):
            assert words[0] in {name for one in command.params for name in one.opts}
            return
        name, *words = words
        command = subcommands[name]
        context = name
    assert command.make_context(context, words).params


def test_the_share_of_claims_that_are_right_is_that_of_the_measurements() -> None:
    page = (ROOT / "docs" / "measurements.md").read_text("utf-8")
    rows = re.findall(r"^\| `[\w/]*ordinary-\d+\.csv`[^|]*\| ([\d.]+) %[^|]*\| ([\d.]+) %", page, re.MULTILINE)
    shares = [sorted({round(float(row[place])) for row in rows}) for place in (0, 1)]
    (said,) = re.findall(r"Of everyday claims [^.]*", " ".join(README.split()))
    ends = [end for share in shares for end in dict.fromkeys((share[0], share[-1]))]
    assert [int(figure) for figure in re.findall(r"\b(\d+)(?= to|(?: %))", said)] == ends


def test_the_files_that_commands_read_are_in_the_repository() -> None:
    files = {word for line in ours() for word in shlex.split(line, comments=True) if word.startswith("examples/")}
    assert len(files) == 4 and all((ROOT / file).is_file() for file in files)
    listed = set(re.findall(r"`([\w.]+)`", (ROOT / "examples" / "README.md").read_text("utf-8")))
    assert listed == {Path(file).name for file in files} == {one.name for one in (ROOT / "examples").iterdir()} - {"README.md"}


def test_the_request_is_one_that_the_service_answers(demo_index: Index) -> None:
    (line,) = [line for line in commands() if line.startswith("curl ")]
    words = shlex.split(line)
    with TestClient(over_fakes(demo_index.folder), base_url="http://localhost:8000") as client:
        wait_until_ready(client)
        url = next(word for word in words if word.startswith("localhost"))
        answer = client.post(f"http://{url}", json=json.loads(words[words.index("-d") + 1]))
    assert answer.status_code == 200 and answer.json()["claim"]["text"] == "Beta-carotene reduces the risk of lung cancer."
    assert "deprecation" not in answer.headers


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(
    not (Path(sys.prefix) / "bin" / "activate").is_file(),
    reason=missing("a virtual environment", "README's commands begin with one, and a container installs without"),
)
def test_every_command_runs_in_a_fresh_clone_and_leaves_nothing_to_commit(tmp_path: Path) -> None:
    clone = tmp_path / "counterpoint"
    shutil.copytree(ROOT / "examples", clone / "examples")
    shutil.copytree(ROOT / "indexes" / "demo", clone / "indexes" / "demo")
    shutil.copy(ROOT / ".gitignore", clone)
    (clone / ".venv").symlink_to(sys.prefix)
    subprocess.run("git init -q && git add -A", shell=True, cwd=clone, check=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COUNTERPOINT_", "COLUMNS"))}
    environment |= {"HOME": str(tmp_path), "COUNTERPOINT_STATE": "off", "PYTHONPATH": str(ROOT)}
    python = "\n".join(re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL))
    first = ["source .venv/bin/activate", "counterpoint index build indexes/demo/corpus.jsonl --out indexes/built/demo --dense"]
    lines = [*first, *(line for line in commands() if not line.startswith(APART)), f"python -c {shlex.quote(python)}"]
    run = subprocess.run(
        ["bash", "-ec", "\n".join(lines)], cwd=clone, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    printed = {alike(line) for line in run.stdout.splitlines()}
    assert {alike(line) for line in SHOWN} - printed == set()
    assert (clone / "checked.html").is_file() and (clone / "run.jsonl").is_file()
    untracked = ["git", "ls-files", "--others", "--modified", "--exclude-standard"]
    left = subprocess.run(untracked, cwd=clone, capture_output=True, text=True, check=True)
    assert left.stdout == ""


def alike(line: str) -> str:
    """A line without what may differ between processors: a probability's last digit."""
    return re.sub(r"\d%", "%", line.strip())
