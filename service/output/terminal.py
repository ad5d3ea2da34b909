"""Results, papers, indexes and what is remembered, as a terminal shows them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from counterpoint.retrieval.cluster.client import show_place
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.store.manifest import Manifest, TextPart
from counterpoint.service.grounding.coverage import describe_usage
from counterpoint.service.grounding.reasons import describe_contrasts, describe_direction
from counterpoint.service.grounding.weigh import SIDES, Side
from counterpoint.service.memory.schemas import AlertOut, HistoryOut, KeptPaper, SavedOut

if TYPE_CHECKING:
    from counterpoint.service.answering.schemas import AnswerResponse, CitationOut, PaperFindingOut, RowOut
    from counterpoint.service.evidence.schemas import EvidenceResponse
    from counterpoint.service.grounding.schemas import EvidenceOut, GroundResponse, PapersOut, VerdictOut
    from counterpoint.service.schemas import FollowUpOut, SentenceOut

_SIDES = (("contradicting", "contradicts", "red"), ("supporting", "supports", "green"), ("uncertain", "uncertain", "yellow"))
_WRAPPED = ("title", "journal")


def print_grounding_table(response: GroundResponse) -> None:
    """Print one paper per line: side, score, PMID, year, title; then how much was checked."""
    console = Console(highlight=False)
    rows = [
        (
            Text(side, style=colour),
            Text(f"{one.score:.2f}"),
            Text(one.pmid),
            Text(str(one.year or "")),
            mark_retracted(one.title, one.retracted),
        )
        for field, side, colour in _SIDES
        for one in getattr(response, field)
    ]
    console.print(Text(response.claim.text, style="bold"))
    print_rows(console, ("side", "score", "PMID", "year", "title"), rows)
    console.print(Text(response.summary))
    if used := describe_usage(response.usage):
        console.print(Text(used, style="dim"))


def print_rows(console: Console, columns: Sequence[str], rows: Sequence[Sequence[Text]]) -> None:
    """Print a table that cuts no word; where it is too wide for that, print each row as a line that may wrap."""
    table = Table(*(Column(name, no_wrap=name not in _WRAPPED) for name in columns))
    for row in rows:
        table.add_row(*row)
    endless = console.options.update(width=sum(len(cell) + len(columns) for row in rows for cell in row) + 1000)
    if rows and Measurement.get(console, endless, table).minimum <= console.width:
        console.print(table)
        return
    for row in rows:
        print_whole_words(console, Text(" · ").join(cell for cell in row if cell.plain))


def print_whole_words(console: Console, text: Text) -> None:
    """Print a text that wraps only between words: an id that is wider than the terminal can still be copied."""
    longest = max((cell_len(word) for word in text.plain.split()), default=1)
    for line in text.wrap(console, max(console.width, longest)):
        console.print(line, soft_wrap=True)


def mark_retracted(title: str, retracted: bool) -> Text:
    """The title of a paper, with its retraction."""
    text = Text(title or "(no title)")
    return text.append(" RETRACTED", style="bold red") if retracted else text


_HEADINGS = (
    ("contradicting", "Contradicting", "red"),
    ("supporting", "Supporting", "green"),
    ("uncertain", "Uncertain (judge for yourself)", "yellow"),
)


_COLOURS = {"contradict": "red", "support": "green"}
_CELLS: dict[Side, tuple[str, str]] = {
    "contradict": ("█", "red"), "uncertain": ("▒", "yellow"), "support": ("▓", "green"), "silent": ("░", "dim"),
}  # fmt: skip
_BAR = 40


def print_grounding(response: GroundResponse) -> None:
    """Both sides of a claim, contradictions first, with each sentence's negation cues marked."""
    console = Console(highlight=False)
    console.print(Text(response.claim.text, style="bold"))
    console.print(Text(response.weighed.text, style=f"bold {_COLOURS.get(response.weighed.outcome, 'yellow')}"))
    if any(getattr(response.weighed.papers, side) for side in SIDES):
        console.print(_draw_bar(response.weighed.papers))
    console.print(Text(f"{response.weighed.certain} {response.weighed.detail}".strip(), style="dim"))
    for field, heading, colour in _HEADINGS:
        evidence: list[EvidenceOut] = getattr(response, field)
        if field == "uncertain" and not evidence:
            continue
        console.print()
        console.print(Text(f"{heading}: {len(evidence) or 'none'}", style=f"bold {colour}"))
        for one in evidence:
            _print_evidence(one, console, colour, f"may {one.stance}" if field == "uncertain" else "")
    console.print()
    if differing := describe_contrasts(response.contrasts):
        console.print(Text(differing))
    console.print(response.summary)
    _print_follow_ups(console, response.follow_ups)
    checked = response.checked
    looked_at = (
        f"Checked: {format_count(checked.documents, 'document')} found, {checked.read:,} read, "
        f"{format_count(checked.sentences, 'sentence')}."
    )
    lines = (looked_at, _describe_models(response), describe_usage(response.usage))
    console.print(Text("\n".join(filter(None, lines)), style="dim"))


def _draw_bar(papers: PapersOut) -> Text:
    """Draw the papers as a bar about forty cells wide, each segment in its colour and with its sign."""
    total, bar = sum(getattr(papers, side) for side in SIDES), Text()
    for side in SIDES:
        sign, colour = _CELLS[side]
        bar.append(sign * round(_BAR * getattr(papers, side) / total), style=colour)
    return bar


def _describe_models(response: GroundResponse) -> str:
    source = response.provenance
    models = ", ".join(f"{role} {name}" for role, name in source.models.items()) or "no models"
    return f"Configuration {source.config}, profile {source.profile} ({models}), index {source.index}."


def _print_evidence(evidence: EvidenceOut, console: Console, colour: str, says: str) -> None:
    title = Text(f"{evidence.rank}. ", style=colour)
    title.append(evidence.title or "(no title)", style="bold")
    standing = "" if evidence.standing == "plain" else evidence.standing.upper()
    trial = evidence.trial and f"one of several reports of {evidence.trial}"
    facts = [says, _first_author(evidence.authors), evidence.pmid, str(evidence.year or ""), evidence.journal, trial, standing]
    title.append(f"  [{' · '.join(fact for fact in facts if fact)}]", style="dim")
    print_whole_words(console, title)
    if evidence.sentence:
        console.print(Padding(marked_sentence(evidence, styled=console.is_terminal), (0, 0, 0, 3)))
        for sentence, says in ((evidence.sentence, ""), (evidence.other, "but its full text says")):
            if sentence and sentence.location:
                quoted = f"{says}: “{sentence.text}” " if says else ""
                console.print(Padding(Text(f"{quoted}{_locate(sentence)}", style="dim"), (0, 0, 0, 3)))
    console.print(Padding(Text(_reason(evidence), style="dim"), (0, 0, 0, 3)))


def _locate(sentence: SentenceOut | None) -> str:
    """Where a sentence stands in a full text, in brackets; "" for one of an abstract."""
    return f"({sentence.location.text})" if sentence and sentence.location else ""


def _first_author(authors: list[str]) -> str:
    author = authors[0].partition(",")[0] if authors else ""
    return f"{author} et al." if len(authors) > 1 else author


def _reason(evidence: EvidenceOut) -> str:
    """Say why the paper is listed, and by which model; its score is the probability that `why` gives, and is not repeated."""
    if evidence.verdict.of == "document":
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
    counts, place = manifest.counts, show_place(folder)
    lines = [
        f"Index {place}, version {manifest.version}, built {manifest.created}",
        f"  documents        {counts.documents:,} ({counts.retracted:,} marked as retracted)",
        f"  sentences        {counts.sentences:,}, of which {counts.cue_sentences:,} contain a negation cue",
        f"  negation cues    {counts.cues:,}",
        f"  texts (sha256)   {manifest.corpus_sha256}",
        f"  size             {f'{sum(manifest.files.values()) / 1e6:,.1f} MB' if manifest.files else 'kept by the cluster'}",
        f"  BM25             k1 {manifest.settings['bm25']['k1']}, b {manifest.settings['bm25']['b']}, stop words kept",
        f"  analyzer         {manifest.analyzer}",
        f"  vectors          {_describe_vectors(folder, manifest)}",
        *(_describe_texts(manifest.texts) if manifest.texts else ()),
        "  made with        " + ", ".join(f"{name} {version}" for name, version in manifest.versions.items()),
        *([f"  description      {manifest.description}"] if manifest.description else []),
        "  sources",
    ]
    for source in manifest.sources:
        left_out = {"bad": source.bad, "without abstract": source.without_abstract, "repeated": source.repeated}
        reasons = ", ".join(f"{count:,} {why}" for why, count in left_out.items() if count)
        lines.append(
            f"    {source.path} ({source.format}, "
            f"{format_count(source.records, 'record')}{f'; left out: {reasons}' if reasons else ''})"
        )
    return lines


_MOST_LICENCES = 5
_LICENCE_LETTERS = 80


def _describe_texts(part: TextPart) -> list[str]:
    """Describe the full texts: how many of which format, their passages, and the licences that most of them have."""
    formats = ", ".join(f"{count:,} {name.upper()}" for name, count in part.formats.items())
    own = f"; {part.own_records:,} made a record of their own" if part.own_records else ""
    lines = [
        f"  full texts       {part.texts:,} ({formats}{own})",
        f"  passages         {part.passages:,}, of {format_count(part.sentences, 'sentence')}",
        f"  their sha256     {part.sha256}",
    ]
    if part.pictures:
        lines.append(f"  picture tables   {part.pictures:,}, which cannot be read")
    shown = list(part.licences.items())[:_MOST_LICENCES]
    words = [f"{count:,} {(name or 'none named')[:_LICENCE_LETTERS]}" for name, count in shown]
    more = len(part.licences) - len(shown)
    return [*lines, f"  licences         {'; '.join(words)}{f'; {more:,} others' if more else ''}"]


def _describe_vectors(folder: Path, manifest: Manifest) -> str:
    """Describe the dense part in one line."""
    part = manifest.dense
    command = f"`counterpoint index dense {show_place(folder)}`"
    if part is None:
        return f"none ({command} makes them)"
    size = sum(manifest.files.get(name, 0) for name in (part.vectors, part.ids)) / 1e6
    kept = f"{part.factory}, {part.view}, by {part.encoder}"
    description = f"{part.documents:,}, {part.width} wide, {f'{size:,.1f} MB, ' if size else ''}{kept}"
    return description if manifest.vectors_fit else f"{description}; for an earlier version ({command} updates them)"


def _print_follow_ups(console: Console, follow_ups: Sequence[FollowUpOut]) -> None:
    if follow_ups:
        console.print(Text("\nAsk next", style="bold"))
    for one in follow_ups:
        print_whole_words(console, Text(f"- {one.text}"))


def print_answer(response: AnswerResponse) -> None:
    """Print the answer with its citation numbers, the sentence behind each citation, what contradicts it and what was removed."""
    console = Console(highlight=False)
    console.print(Text(response.topic.question, style="bold"))
    console.print()
    # Where no generator wrote, the sentences only repeat the table.
    tabled = bool(response.rows) and response.drafted is None
    if not tabled:
        console.print(Text(response.text or response.note))
    if response.text and response.note and not (tabled and response.note.startswith("This answer is extractive")):
        console.print(Text(response.note, style="dim"))
    _print_findings(response, console)
    if response.sentences and not tabled:
        console.print(Text("\nEvidence", style="bold green"))
        # The verdict cites what a later sentence quotes: each sentence of a paper is shown once, as it was checked first.
        cited: dict[tuple[int, int, str], CitationOut] = {}
        for citation in (one for sentence in response.sentences for one in sentence.citations):
            cited.setdefault((citation.number, citation.sentence.start, _locate(citation.sentence)), citation)
        for citation in cited.values():
            console.print(Text(f"[{citation.number}] “{citation.sentence.text}” {_locate(citation.sentence)}".rstrip()))
            console.print(Padding(Text(citation.checked, style="dim"), (0, 0, 0, 4)))
    if response.conflicts:
        console.print(Text("\nContradicting", style="bold red"))
        for conflict in response.conflicts:
            one = conflict.evidence
            print_whole_words(console, Text(f"against sentence {conflict.sentence + 1}: {one.title} [{one.pmid}]"))
            console.print(Padding(marked_sentence(one, styled=console.is_terminal), (0, 0, 0, 3)))
            if one.sentence and one.sentence.location:
                console.print(Padding(Text(_locate(one.sentence), style="dim"), (0, 0, 0, 3)))
    documents = [document for document in response.documents if document.cited and not tabled]
    if documents:
        console.print(Text("\nDocuments", style="bold"))
        for document in documents:
            facts = " · ".join(str(fact) for fact in (document.pmid, document.year, document.journal) if fact)
            print_whole_words(console, Text(f"[{document.number}] {document.title or '(no title)'}  [{facts}]"))
    if response.removed:
        console.print(
            Text(
                f"\n{format_count(len(response.removed), 'sentence')} "
                f"{'was' if len(response.removed) == 1 else 'were'} removed by the check",
                style="bold",
            )
        )
        for removal in response.removed:
            console.print(Padding(Text(f"“{removal.text}” ({removal.reason})", style="dim"), (0, 0, 0, 3)))
    _print_follow_ups(console, response.follow_ups)
    console.print(Text(f"\n{_describe_usage(response)}", style="dim"))


def _print_findings(response: AnswerResponse, console: Console) -> None:
    """Print what papers found to be an answer to an open question, then what the others on its subject found."""
    if response.rows:
        console.print(Text(response.heading, style="bold green"))
    before = ""
    for row in response.rows:
        if row.answer != before:
            console.print(Text(f"\n{row.answer}", style="bold"))
        before = row.answer
        if row.evidence.verdict.quote:
            console.print(Padding(Text(_describe_row(row, row.evidence.verdict)), (0, 0, 0, 3)))
        _print_finding(row.evidence, row.evidence.trial, console)
    if response.others:
        console.print(Text(f"\n{'Other papers' if response.rows else 'Papers'} on this subject", style="bold"))
    for one in response.others:
        _print_finding(one, "", console)


def _describe_row(row: RowOut, verdict: VerdictOut) -> str:
    """What a language model found: what the paper says of the statement, its condition, and what else it read."""
    one, details = row.evidence, verdict.details
    says = describe_direction(one.side, one.stance, one.standing)
    more = (details.people, details.number, details.effect) if details else ()
    return " · ".join(filter(None, (f"{says}: {row.statement}", row.condition, *more)))


def _print_finding(paper: EvidenceOut | PaperFindingOut, trial: str, console: Console) -> None:
    sentence = f"“{paper.sentence.text}” {_locate(paper.sentence)}".rstrip() if paper.sentence else "(no abstract)"
    console.print(Padding(Text(sentence), (0, 0, 0, 3)))
    reports = trial and f"one of several reports of {trial}"
    facts = " · ".join(str(fact) for fact in (paper.design.text, paper.pmid, paper.year, paper.journal, reports) if fact)
    print_whole_words(console, Text(f"   {paper.title or '(no title)'}  [{facts}]", style="dim"))


def _describe_usage(response: AnswerResponse) -> str:
    source, usage = response.provenance, describe_usage(response.usage)
    made = f"configuration {source.config}, profile {source.profile}, index {source.index}."
    return "\n".join(filter(None, (f"{format_count(response.words, 'word')} by {response.generated_by}; {made}", usage)))


def print_chosen(response: EvidenceResponse) -> None:
    """Print the sentences with their rank, where they stand, their stance and the reason for it."""
    console = Console(highlight=False)
    console.print(Text(response.hypothesis, style="bold"))
    if response.source.title:
        console.print(mark_retracted(response.source.title, response.source.retracted))
    console.print(response.text)
    colours = {"support": "green", "contradict": "red", "neutral": "dim"}
    for one in response.evidence:
        line = Text(f"\n{one.rank}  ", style="bold")
        line.append(f"{one.location.text} · relevance {one.relevance:.1f}", style="dim")
        line.append(f" · {one.stance.label} {getattr(one.stance, one.stance.label):.2f}", style=colours[one.stance.label])
        console.print(line)
        if one.context:
            console.print(Padding(Text(one.context, style="dim"), (0, 0, 0, 3)))
        console.print(Padding(Text(one.quotation), (0, 0, 0, 3)))
        console.print(Padding(Text(one.why, style="dim"), (0, 0, 0, 3)))
    console.print(Text(f"\n{format_count(response.read, 'sentence')} read.", style="dim"))


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
