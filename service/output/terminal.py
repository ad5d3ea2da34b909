"""Groundings and indexes as the terminal shows them."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from retrieval.cluster.address import is_address, read_address
from retrieval.store.manifest import Manifest
from service.grounding.schemas import EvidenceOut, GroundResponse, PapersOut
from service.grounding.weigh import COUNTED, Counted
from service.output.tables import print_whole_words

_HEADINGS = (
    ("contradicting", "Contradicting", "red"),
    ("supporting", "Supporting", "green"),
    ("uncertain", "Uncertain (judge for yourself)", "yellow"),
)


_COLOURS = {"contradict": "red", "support": "green"}
_CELLS: dict[Counted, tuple[str, str]] = {
    "contradict": ("█", "red"), "uncertain": ("▒", "yellow"), "support": ("▓", "green"), "silent": ("░", "dim"),
}  # fmt: skip
_BAR = 40


def print_grounding(response: GroundResponse) -> None:
    """Both sides of a claim, contradictions first, with each sentence's negation cues marked."""
    console = Console(highlight=False)
    console.print(Text(response.claim.text, style="bold"))
    console.print(Text(response.balance.says, style=f"bold {_COLOURS.get(response.balance.leans, 'yellow')}"))
    if any(getattr(response.balance.papers, place) for place in COUNTED):
        console.print(_draw_bar(response.balance.papers))
    console.print(Text(response.balance.detail, style="dim"))
    for field, heading, colour in _HEADINGS:
        evidence: list[EvidenceOut] = getattr(response, field)
        if field == "uncertain" and not evidence:
            continue
        console.print()
        console.print(Text(f"{heading}: {len(evidence) or 'none'}", style=f"bold {colour}"))
        for one in evidence:
            _print_evidence(one, console, colour, f"may {one.stance}" if field == "uncertain" else "")
    console.print()
    console.print(response.summary)
    console.print(Text(f"{_tell_checked(response)}\n{_models(response)}", style="dim"))


def _tell_checked(response: GroundResponse) -> str:
    """What was looked at: once where both sides share it, otherwise a side at a time."""
    against, for_it = response.checked.contradict, response.checked.support
    if against == for_it:
        return f"Checked: {against.documents:,} documents found, {against.read:,} read, {against.sentences:,} sentences."
    return (
        f"Checked for contradiction: {against.documents:,} documents, {against.sentences:,} sentences, "
        f"{against.candidates:,} candidates, {against.judged:,} judged. "
        f"For support: {for_it.documents:,} documents, {for_it.sentences:,} sentences, {for_it.judged:,} judged."
    )


def _draw_bar(papers: PapersOut) -> Text:
    """Draw the papers as a bar about forty cells wide, each segment in its colour and with its sign."""
    total, bar = sum(getattr(papers, place) for place in COUNTED), Text()
    for place in COUNTED:
        sign, colour = _CELLS[place]
        bar.append(sign * round(_BAR * getattr(papers, place) / total), style=colour)
    return bar


def _models(response: GroundResponse) -> str:
    source = response.provenance
    models = ", ".join(f"{role} {name}" for role, name in source.models.items()) or "no models"
    return f"Configuration {source.config}, profile {source.profile} ({models}), index {source.index}."


def _print_evidence(evidence: EvidenceOut, console: Console, colour: str, says: str) -> None:
    title = Text(f"{evidence.rank}. ", style=colour)
    title.append(evidence.title or "(no title)", style="bold")
    standing = "" if evidence.standing == "plain" else evidence.standing.upper()
    facts = [says, _first_author(evidence.authors), evidence.pmid, str(evidence.year or ""), evidence.journal, standing]
    title.append(f"  [{' · '.join(fact for fact in facts if fact)}]", style="dim")
    print_whole_words(console, title)
    if evidence.sentence:
        console.print(Padding(marked_sentence(evidence, styled=console.is_terminal), (0, 0, 0, 3)))
    console.print(Padding(Text(_reason(evidence), style="dim"), (0, 0, 0, 3)))


def _first_author(authors: list[str]) -> str:
    author = authors[0].partition(",")[0] if authors else ""
    return f"{author} et al." if len(authors) > 1 else author


def _reason(evidence: EvidenceOut) -> str:
    """Say why the paper is listed, and by which model; its score is the probability that `why` gives, and is not repeated."""
    if evidence.verdict and evidence.verdict.of == "document":
        return f"{evidence.why} (judged by {evidence.scored_by})"
    return f"score {evidence.score:.3f} ({evidence.scored_by}); {evidence.why}"


def marked_sentence(evidence: EvidenceOut, styled: bool) -> Text:
    """Mark the negation cues of the sentence: in colour on a terminal, in [[brackets]] in a file."""
    sentence = evidence.sentence
    assert sentence is not None
    text = Text("“")
    at = sentence.start
    for cue in evidence.negations:
        if cue.start < at:
            continue
        text.append(sentence.text[at - sentence.start : cue.start - sentence.start])
        word = sentence.text[cue.start - sentence.start : cue.end - sentence.start]
        text.append(word if styled else f"[[{word}]]", style="bold red underline")
        at = cue.end
    text.append(sentence.text[at - sentence.start :])
    text.append("”")
    return text


def manifest_lines(folder: Path, manifest: Manifest) -> list[str]:
    """Describe what is in an index, for people."""
    counts, place = manifest.counts, read_address(folder) if is_address(folder) else folder
    lines = [
        f"Index {place}, version {manifest.version}, built {manifest.created}",
        f"  documents        {counts.documents:,} ({counts.retracted:,} marked as retracted)",
        f"  sentences        {counts.sentences:,}, of which {counts.cue_sentences:,} contain a negation cue",
        f"  negation cues    {counts.cues:,}",
        f"  texts (sha256)   {manifest.corpus_sha256}",
        f"  size             {f'{sum(manifest.files.values()) / 1e6:,.1f} MB' if manifest.files else 'kept by the cluster'}",
        f"  BM25             k1 {manifest.settings['bm25']['k1']}, b {manifest.settings['bm25']['b']}, stop words kept",
        f"  vectors          {_vectors(folder, manifest)}",
        "  made with        " + ", ".join(f"{name} {version}" for name, version in manifest.versions.items()),
        *([f"  description      {manifest.description}"] if manifest.description else []),
        "  sources",
    ]
    for source in manifest.sources:
        left_out = {"bad": source.bad, "without abstract": source.without_abstract, "repeated": source.repeated}
        reasons = ", ".join(f"{count:,} {why}" for why, count in left_out.items() if count)
        lines.append(
            f"    {source.path} ({source.format}, {source.records:,} records{f'; left out: {reasons}' if reasons else ''})"
        )
    return lines


def _vectors(folder: Path, manifest: Manifest) -> str:
    """Describe the dense part in one line."""
    part = manifest.dense
    if is_address(folder):
        return "none (dense search needs an embedded index)"
    if part is None:
        return f"none (`counterpoint index dense {folder}` makes them)"
    size = (manifest.files[part.vectors] + manifest.files[part.ids]) / 1e6
    description = f"{part.documents:,}, {part.width} wide, {size:,.1f} MB, {part.factory}, by {part.encoder}"
    if manifest.vectors_fit:
        return description
    return f"{description}; for an earlier version (`counterpoint index dense {folder}` updates them)"
