"""The watch end to end: the demo index gains a contradicting paper, a notice that retracts a supporting one, and one on something
else; two alerts come of it, once each, however often the watch is killed on the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from indexes.update import update

ROOT = Path(__file__).parent.parent.parent.parent
CLAIM = "Encainide and flecainide increase mortality after myocardial infarction."
OTHER_CLAIM = "Beta-carotene reduces the risk of lung cancer."
SUPPORTING = "demo-antiarrhythmic-cast-1991"

ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><Journal><JournalIssue><PubDate>
<Year>2025</Year></PubDate></JournalIssue><Title>An Invented Journal</Title></Journal>
<ArticleTitle>{title}</ArticleTitle><Abstract><AbstractText>{abstract}</AbstractText></Abstract><PublicationTypeList><PublicationType>{type}</PublicationType></PublicationTypeList></Article>
{notice}</MedlineCitation></PubmedArticle>"""
NOTICE = """<CommentsCorrectionsList><CommentsCorrections RefType="RetractionOf"><RefSource>An Invented Journal</RefSource>
<PMID>{}</PMID></CommentsCorrections></CommentsCorrectionsList>"""

AGAINST = ARTICLE.format(
    pmid="new-against",
    title="Encainide and flecainide after myocardial infarction: an invented randomized trial",
    abstract="We randomly assigned 2400 patients with ventricular ectopy after myocardial infarction to encainide or "
    "flecainide or to placebo. After two years 61 patients had died in the encainide and flecainide groups and 118 "
    "in the placebo group. Encainide and flecainide did not increase mortality after myocardial infarction; they reduced it.",
    type="Randomized Controlled Trial",
    notice="",
)
# Its words deny the claim, too: a notice must not be taken for evidence.
RETRACTING = ARTICLE.format(
    pmid="new-notice",
    title="Retraction: encainide or flecainide after myocardial infarction",
    abstract="The report that encainide and flecainide increase mortality after myocardial infarction is retracted. Encainide "
    "and flecainide do not increase mortality.",
    type="Retraction of Publication",
    notice=NOTICE.format(SUPPORTING),
)
IRRELEVANT = ARTICLE.format(
    pmid="new-other",
    title="Wound dressings after heart surgery: an invented trial",
    abstract="We compared two wound dressings in 300 patients after heart surgery. Silver dressings did not reduce "
    "wound infection.",
    type="Randomized Controlled Trial",
    notice="",
)

# The command line, killed as by `kill -9` in the n-th transaction that moves a claim on: before its COMMIT, or right after it.
KILLED = """
import os, signal, sys
from contextlib import contextmanager
from service.memory.database import Database
moment, left = sys.argv.pop(1), int(sys.argv.pop(1))
whole = Database.change
die = lambda: os.kill(os.getpid(), signal.SIGKILL)

@contextmanager
def change(self):
    global left
    left -= 1
    with whole(self) as connection:
        yield connection
        if not left and moment == "before":
            die()
    if not left:
        die()

Database.change = change
from service.cli.commands import main
main()
"""


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_three_new_papers_make_two_alerts_once_each_whenever_the_watch_is_killed(demo_folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    shutil.copytree(demo_folder, index)
    environment = {**os.environ, "COUNTERPOINT_STATE": str(tmp_path / "state"), "PYTHONPATH": str(ROOT)}

    def run(*command: object, code: str = "from service.cli.commands import main; main()", expected: int = 0) -> Any:
        argv = [sys.executable, "-c", code, *map(str, command)]
        done = subprocess.run(argv, capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert done.returncode == expected, done.stderr
        return done

    def alerts() -> list[tuple[str, str]]:
        told = json.loads(run("watch", "--json").stdout)["alerts"]
        return sorted((one["kind"], one["paper"]["pmid"]) for one in told)

    for claim in (CLAIM, OTHER_CLAIM):
        run("saved", "add", claim, "--index", index)
    [first] = [one for one in json.loads(run("saved", "--json").stdout) if one["text"] == CLAIM]
    assert [(one["pmid"], one["stance"]) for one in first["papers"]] == [(SUPPORTING, "support")]

    news = tmp_path / "news.xml"
    news.write_text(f"<PubmedArticleSet>{AGAINST}{RETRACTING}{IRRELEVANT}</PubmedArticleSet>", "utf-8")
    update(index, [news])

    watch = ("watch", "run", "--index", index)
    # Killed before the first claim is kept: nothing is told, nothing lost.
    run("before", 1, *watch, code=KILLED, expected=-signal.SIGKILL)
    assert alerts() == []
    # Killed right after: its alerts are there, the second claim is still to come.
    run("after", 1, *watch, code=KILLED, expected=-signal.SIGKILL)
    expected = [("first contradiction", "new-against"), ("support retracted", SUPPORTING)]
    assert alerts() == expected
    # Killed in the midst of the second.
    run("before", 1, *watch, code=KILLED, expected=-signal.SIGKILL)
    assert alerts() == expected
    assert "1 saved claim grounded again, 1 up to date, 0 new alerts." in run(*watch).stderr
    assert "0 saved claims grounded again, 2 up to date, 0 new alerts." in run(*watch).stderr
    assert alerts() == expected
    shown = run("watch", "--since", "2020-01-01").stdout
    assert "A paper contradicts this claim for the first time: Encainide and flecainide after myocardial infarction" in shown
    assert "A paper that supports this claim was retracted: CAST (1991)" in shown
    assert "No alerts since 2999-01-01." in run("watch", "--since", "2999-01-01").stderr
