"""History, saved claims and alerts as lines for a terminal."""

from __future__ import annotations

import shlex

from service.memory.schemas import AlertOut, HistoryOut, KeptPaper, SavedOut


def entry_line(entry: HistoryOut) -> str:
    """An entry of the history in one line."""
    return f"{entry.id}  {_minute(entry.at)}  {entry.text}"


def saved_line(claim: SavedOut) -> str:
    """A saved claim in one line, with how many papers stand on each side."""
    against = sum(one.stance == "contradict" for one in claim.papers)
    sides = f"{against} against, {len(claim.papers) - against} for"
    return f"{claim.id}  {_minute(claim.at)}  {sides}  {claim.text}{f'  ({claim.note})' if claim.note else ''}"


def entry_lines(entry: HistoryOut | SavedOut) -> list[str]:
    """A whole entry: what was asked, what was listed, where that came from, and how to ask it again."""
    source = entry.provenance
    lines = [entry.text]
    if isinstance(entry, SavedOut) and entry.note:
        lines.append(f"Note: {entry.note}")
    lines += [entry.summary, *map(_paper_line, entry.papers)]
    lines += [f"Asked {_minute(entry.at)} (UTC), index {source.index}, {source.config} with the profile {source.profile}"]
    lines += [f"Model {role}: {name}" for role, name in source.models.items()]
    return [*lines, f"Again: {_command(entry)}", f"On the page: /{entry.link}", *entry.changed]


def alert_lines(alert: AlertOut) -> list[str]:
    """An alert: when it came, what changed, the claim and the sentence."""
    lines = [f"{_minute(alert.at)}  {alert.detail}", f"    Claim: {alert.claim}"]
    if alert.paper.sentence:
        lines.append(f"    “{alert.paper.sentence}”")
    return [*lines, f"    Document {alert.paper.pmid}, index {alert.index}, alert {alert.id}"]


def _paper_line(paper: KeptPaper) -> str:
    facts = ", ".join(str(one) for one in (paper.journal, paper.year, paper.pmid) if one)
    side = "against" if paper.stance == "contradict" else "for"
    return f"  {side:<8}{paper.score:.2f}  {paper.title or '(no title)'} ({facts}){' RETRACTED' if paper.retracted else ''}"


def _command(entry: HistoryOut | SavedOut) -> str:
    source = entry.provenance
    name = "ground" if entry.mode == "claim" else "answer"
    words = ["counterpoint", name, entry.text, "--index", "DIR", "--profile", source.profile]
    words += ["--config" if entry.mode == "claim" else "--answers", source.config]
    if entry.mode == "claim" and entry.question:
        words += ["--question", entry.question]
    if entry.known_pmids:
        words += ["--known", ",".join(entry.known_pmids)]
    return shlex.join(words)


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")
