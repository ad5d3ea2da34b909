"""The documentation: every link leads somewhere, and every page that code names is there."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")[:-1]
PAGES = sorted(name for name in FILES if name.endswith(".md") and (ROOT / name).is_file())
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    """A page without its code."""
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("docs/") or LINK.search(prose(ROOT / name))])
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for link in LINK.findall(prose(page)):
        target, _, anchor = link.partition("#")
        if ":" in target:
            continue
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{link}: no such file"
        if anchor:
            assert anchor in anchors(file), f"{link}: no such heading"


def test_pages_that_code_names_are_there() -> None:
    code = [
        name
        for name in FILES
        if not name.startswith("tests/golden") and name.endswith((".py", ".md", ".yaml", ".toml", "Makefile"))
    ]
    texts = [(name, (ROOT / name).read_text("utf-8")) for name in code if (ROOT / name).is_file()]
    named = {page for name, text in texts for page in re.findall(r"\bdocs/[\w/-]+\.md\b", text) if name != "tests/test_docs.py"}
    assert {page for page in named if not (ROOT / page).is_file()} == set()
    assert "docs/models.md" in named


def test_every_page_for_users_is_in_the_readme() -> None:
    linked = set(LINK.findall((ROOT / "README.md").read_text("utf-8")))
    pages = {name for name in PAGES if re.fullmatch(r"docs/[\w-]+\.md", name)}
    assert pages <= {link.partition("#")[0] for link in linked}


def test_files_that_pages_for_users_name_are_there() -> None:
    folders = "|".join(
        sorted({name.partition("/")[0] for name in FILES if name.endswith("/__init__.py")} | {"configs", "deploy"})
    )
    pages = [name for name in PAGES if re.fullmatch(r"docs/[\w-]+\.md|\w+\.md", name)]
    named = {
        (page, path) for page in pages for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", (ROOT / page).read_text("utf-8"))
    }
    assert {(page, path) for page, path in named if not (ROOT / path).exists()} == set()
    assert len(named) > 20


def test_the_architecture_names_every_folder() -> None:
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    packages = {name.removesuffix("/__init__.py") for name in FILES if re.fullmatch(r"(?!tests)\w+(/\w+)?/__init__\.py", name)}
    assert {one for one in packages if f"`{one}`" not in page} == set()


def test_the_licence_of_every_package_that_the_product_needs_is_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = {tuple(one.split("==")) for one in (*project["dependencies"], *extras["cluster"], *extras["mcp"])}
    listed = re.findall(r"^\| ([\w.-]+) \| ([\d.]+) \| \w[^|]*\|$", (ROOT / "docs/licences.md").read_text("utf-8"), re.MULTILINE)
    assert set(listed) == needed
