"""What the document reader learns from: claims with whole abstracts, and short texts where only the sign of a word matters.

Every source yields `Lesson`s. Papers of `pubmed/reserved_pmids.txt`, papers of the fold reserved for measuring, SciFact dev's
papers and the held-out claims of SciFact and HealthVer are left out.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from counterpoint.nli.judge import drop_question
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.nli.training.reader.comparisons import make_claim_lessons, make_sentence_lessons
from counterpoint.nli.training.reader.families import make_family_lessons
from counterpoint.nli.training.reader.lesson import (
    CONTRADICT,
    LABELS,
    NEUTRAL,
    SUPPORT,
    UNLABELLED,
    Lesson,
    make_short,
    measure_leans,
)
from counterpoint.retrieval.index import open_documents
from counterpoint.retrieval.training.bm25 import TextIndex
from counterpoint.retrieval.training.data import read_lines, read_reserved_pmids, read_rows
from counterpoint.retrieval.training.folds import is_held_out, is_held_out_of
from counterpoint.retrieval.words.forms import capitalise
from counterpoint.retrieval.words.terms import split_terms

CLAIMS, LESSONS, REPORTS, FAMILIES = (
    Path(__file__).with_name(f"{name}.jsonl") for name in ("claims", "lessons", "reports", "families")
)
"""Claims about papers, claims labelled for one text each, claims about trial reports, outcome families: all written for this
training."""
NAMES = {"SUPPORT": SUPPORT, "CONTRADICT": CONTRADICT, "NEI": NEUTRAL}
GENERAL = {"negation_nli": 3000, "breaking_nli": 1500, "conjnli": 2500, "fever_symmetric": 1600}
VERIFIED = {"fever_train": 14_000, "snli_counterfactual": 9000, "evidence_inference_v2": 6600}
"""How many texts of each set of general language, and how many claims that others verified, are read, drawn at random."""
FOUND, TAUGHT_PAPERS = 20, 4
"""Of how many papers that BM25 finds for a claim how many are read with a teacher."""
OPEN_CLAIMS = 0.8
"""The share of the claims that a paper leaves open that are read with it: another drug, outcome, population or comparison."""


def read_ordinary(folder: Path, split: str) -> list[dict[str, Any]]:
    """The papers of one split of `stance/ordinary.jsonl.gz`."""
    return [row for row in read_rows(folder, "stance/ordinary.jsonl.gz") if row["split"] == split]


def make_ordinary_lessons(papers: Sequence[dict[str, Any]], leans: dict[str, float], rng: random.Random) -> Iterator[Lesson]:
    """The claims of each paper, and sometimes one of them paired with another paper on the subject that takes no side on it."""
    index = TextIndex([f"{paper['title']} {' '.join(paper['sentences'])}" for paper in papers])
    for number, paper in enumerate(papers):
        sentences, group = tuple(paper["sentences"]), f"ordinary {paper['pmid']}"
        title = paper["title"] if rng.random() < 0.75 else ""
        for name, label in (("true", SUPPORT), ("false", CONTRADICT), ("neutral", NEUTRAL)):
            if label == NEUTRAL and (rng.random() > OPEN_CLAIMS or not paper.get("neutral")):
                continue
            places = None if paper["evidence"] is None else tuple(paper["evidence"])
            evidence = places if label != NEUTRAL else ()
            claim = paper[name]
            yield Lesson(claim, title, sentences, label, evidence, "ordinary", group, leans.get(claim, 0.0))
        claim = paper[rng.choice(("true", "false"))]
        other = next((papers[i] for i in index.top(claim, 4) if i != number), None)
        if other and rng.random() < 0.45:
            yield Lesson(claim, other["title"], tuple(other["sentences"]), NEUTRAL, (), "ordinary_stranger", group)


def make_evidence_lessons(papers: Sequence[dict[str, Any]], leans: dict[str, float], rng: random.Random) -> Iterator[Lesson]:
    """The claims of each paper paired with only its evidence sentences, where these are known: the sign without the search."""
    for paper in papers:
        if not paper["evidence"] or max(paper["evidence"]) >= len(paper["sentences"]):
            continue
        sentences, group = tuple(paper["sentences"][place] for place in paper["evidence"]), f"evidence {paper['pmid']}"
        title = paper["title"] if rng.random() < 0.3 else ""
        for name, label in (("true", SUPPORT), ("false", CONTRADICT), ("neutral", NEUTRAL)):
            claim = paper.get(name)
            if not claim or (label == NEUTRAL and rng.random() < 0.6):
                continue
            evidence = () if label == NEUTRAL else tuple(range(len(sentences)))
            yield Lesson(claim, title, sentences, label, evidence, "evidence", group, leans.get(claim, 0.0))


def make_written_lessons(rows: Sequence[Mapping[str, Any]], leans: Mapping[str, float]) -> Iterator[Lesson]:
    """The lines of `lessons.jsonl` as completed by `read_written`; `from` says where each comes from.

    * searches: a claim with the hits of a search for it, the right paper among them, in one batch; without the held-out fold.
      Most wrongly listed papers are about another drug, outcome or comparison (docs/research/experiments.md).
    * contrasts: claims that an invented `text` supports, contradicts and leaves open.
    * reports (`read_reports`): a claim on what a trial compared and its opposite, read with the abstract and with a passage of
      the text: where the abstract leaves the claim open, the passage decides it.
    * kinds: the same of a real abstract, read twice, the second time without the title. The three claims of a paper share its
      words, so that only their sense tells them apart. Its `kind` is a mistake that a reader makes: harmless (a negation that
      belongs to the good news, "no further attacks"), subgroup (a main result beside a subgroup or secondary outcome that
      differs), pvalue (numbers that differ, but not significantly), sign (a direction that has to be worked out, "required less
      morphine"), title (a title that denies), neighbour (a surrogate or neighbouring outcome, or other people), mention (an aim,
      a hypothesis or background in the words of a finding), null (no effect, or another thing that works), arms (outcomes
      compared between two arms).
    """
    for row in rows:
        claim, source, label = row["claim"], row["from"], LABELS.index(row["label"])
        if source == "searches" and is_held_out(claim):
            continue
        title, sentences, evidence = row["title"], tuple(row["sentences"]), row["evidence"]
        if source == "kinds":
            source = f"kind_{row['kind']}"
        group = f"{source} {claim if source == 'searches' else row['pmid']}"
        lean = 0.0 if label == NEUTRAL else leans.get(claim, 0.0)
        places = None if evidence is None else tuple(evidence)
        lesson = Lesson(claim, title, sentences, label, places, source, group, lean, row.get("pair", ""))
        yield lesson
        if row["from"] == "kinds":
            yield replace(lesson, title="", group=f"{group} without its title")


def read_written(source: Path, folder: Path) -> list[dict[str, Any]]:
    """The lines of such a file as `claims.jsonl`, each with its paper's title and sentences from the data folder.

    `set` names the files in which lines were first kept, as docs/research/experiments.md does (`seventh.jsonl`), from first to
    thirteenth. A line states how many sentences its author counted; where they are split differently now, its evidence is
    unknown. A paper may have several lines; "neutral" may be missing. A line with a doc_id is about a paper of SciFact's corpus,
    not of PubMed; one with a `text` of its own, read without its title, is
    about none.
    """
    rows_by_paper: dict[str, list[dict[str, Any]]] = {}
    papers = []
    for row in read_lines(source):
        if "text" in row:
            papers.append({**row, "title": "", "pmid": " ".join(row["text"]), "sentences": row["text"]})
        else:
            rows_by_paper.setdefault(row.get("pmid") or name_scifact_paper(row["doc_id"]), []).append(row)
    for name, title, sentences in read_papers(folder, rows_by_paper):
        for row in rows_by_paper[name]:
            evidence = row["evidence"] if row["sentences"] == len(sentences) else None
            papers.append({**row, "pmid": name, "title": title, "sentences": sentences, "evidence": evidence})
    return papers


def read_reports(index: Path) -> list[dict[str, Any]]:
    """The lines of `reports.jsonl`, completed alike from an index with the full texts of these trial reports. Those on one part
    of a report stand in pairs, a claim and its opposite."""
    rows_by_report: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read_lines(REPORTS):
        rows_by_report[row["pmcid"]].append(row)
    documents, completed = open_documents(index)[0], []
    for entry in documents.sample(sys.maxsize):
        rows = rows_by_report.get(entry.document.pmcid, ())
        text = documents.full_texts([entry.pmid]).get(entry.pmid) if rows else None
        counts: Counter[int | None] = Counter()
        for row in rows:
            number = row["passage"]
            pair = f"{entry.pmid} {number} {counts[number] // 2}"
            counts[number] += 1
            if number is None:
                sentences = [one.text for one in entry.sentences()]
            elif text and number < len(text.passages):
                sentences = [one.in_context for one in text.passages[number].sentences]
            else:
                continue
            evidence = row["evidence"] if row["sentences"] == len(sentences) else None
            own = {"pmid": entry.pmid, "title": entry.document.title, "sentences": sentences, "evidence": evidence, "pair": pair}
            completed.append({**row, "from": "reports", **own})
    return completed


def name_scifact_paper(doc_id: object) -> str:
    """How a paper of SciFact's corpus is told from one of PubMed: its ids are not PMIDs."""
    return f"scifact {doc_id}"


def read_papers(folder: Path, names: Container[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Name, title and sentences of the papers with these names, from PubMed and from SciFact's corpus."""
    for record in read_rows(folder, "pubmed/abstracts.jsonl.gz"):
        if (name := str(record["pmid"])) in names:
            sentences = [part[start:end] for part in record["abstract"] for start, end in sentence_spans(part)]
            yield name, record["title"] or "", sentences
    for record in read_rows(folder, "scifact/corpus.jsonl.gz"):
        if (name := name_scifact_paper(record["doc_id"])) in names:
            yield name, record["title"], record["abstract"]


def clean_claim(claim: str) -> str:
    """The claim without citation marks, such as CitInt's, and with single spaces."""
    return " ".join(re.sub(r"[\[(]?<\|\w+\|>[\])]?", " ", claim).split()).replace(" .", ".").replace(" ,", ",")


def phrase_claim(claim: str) -> str:
    """The claim as the service reads it: without citation marks, with a capital and a full stop."""
    clean = clean_claim(claim).rstrip(" .")
    return f"{capitalise(clean)}."


def read_labelled(folder: Path, dataset: str) -> Iterator[dict[str, Any]]:
    """The training rows of one labelled set, without the held-out fold."""
    for row in read_rows(folder, "stance/pairs.jsonl.gz"):
        wanted = row["dataset"] == dataset and row["split"] == "train" and row["label"] in NAMES
        if wanted and not is_held_out_of(dataset, row["claim"]):
            yield row


def make_general_lessons(folder: Path, dataset: str) -> Iterator[Lesson]:
    """The first evidence sentences of each row of a labelled set, each as a text of its own."""
    for row in read_labelled(folder, dataset):
        claim, sentences = clean_claim(row["claim"]), row["sentences"]
        for place in [place for place in row["evidence"] or () if place < len(sentences)][:3]:
            yield make_short(claim, sentences[place], row.get("title") or "", NAMES[row["label"]], dataset)


def make_labelled_lessons(folder: Path, dataset: str) -> Iterator[Lesson]:
    """The rows of one labelled set as whole documents."""
    for row in read_labelled(folder, dataset):
        sentences = tuple(" ".join(sentence.split()) for sentence in row["sentences"] if sentence.strip())
        if sentences:
            label = NAMES[row["label"]]
            places = tuple(place for place in row["evidence"] or () if place < len(sentences))
            evidence = () if label == NEUTRAL else places or None
            yield Lesson(clean_claim(row["claim"]), row.get("title") or "", sentences, label, evidence, dataset)


def make_rival_lessons(folder: Path, per_claim: int, rng: random.Random) -> Iterator[Lesson]:
    """SciFact train claims, each with some of BM25's first ten papers that it does not cite: they match its words alone."""
    corpus = list(read_rows(folder, "scifact/corpus.jsonl.gz"))
    index = TextIndex([f"{document['title']} {' '.join(document['abstract'])}" for document in corpus])
    for row in read_rows(folder, "scifact/claims_train.jsonl.gz"):
        if not is_held_out(row["claim"]):
            cited = {*map(int, row["cited_doc_ids"]), *map(int, row["evidence"])}
            rivals = [corpus[place] for place in index.top(row["claim"], 10) if int(corpus[place]["doc_id"]) not in cited]
            for document in rng.sample(rivals, min(per_claim, len(rivals))):
                yield Lesson(row["claim"], document["title"], tuple(document["abstract"]), NEUTRAL, (), "scifact_bm25")


def read_literature(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """(name, title, sentences) of PubMed's and SciFact's papers that may be used for training, named as `read_papers` does."""
    reserved_pmids = read_reserved_pmids(folder)
    claims = list(read_rows(folder, "scifact/claims_dev.jsonl.gz"))
    gold = {int(doc) for claim in claims for doc in [*claim["evidence"], *claim["cited_doc_ids"]]}
    gold_titles = set()
    for document in read_rows(folder, "scifact/corpus.jsonl.gz"):
        if int(document["doc_id"]) in gold:
            gold_titles.add(" ".join(split_terms(document["title"])))
        else:
            yield name_scifact_paper(document["doc_id"]), document["title"], document["abstract"]
    for record in read_rows(folder, "pubmed/abstracts.jsonl.gz"):
        pmid, title = str(record["pmid"]), record["title"] or ""
        if pmid in reserved_pmids or is_held_out(pmid) or (title and " ".join(split_terms(title)) in gold_titles):
            continue
        yield pmid, title, [section[start:end] for section in record["abstract"] for start, end in sentence_spans(section)]


_TITLE = "TITLE: "


def make_verified_lessons(folder: Path, rng: random.Random) -> Iterator[Lesson]:
    """Claims that others verified (`verification/`, whose README names licences): the train splits of `VERIFIED`.

    They show what the biomedical sets have little of: which way a sentence turns when one word changes. The claims on one premise
    are in one batch.
    """
    for name, most in VERIFIED.items():
        rows = [row for row in read_rows(folder, f"verification/{name}.jsonl.gz") if row["split"] == "train"]
        for row in sorted(rng.sample(rows, min(most, len(rows))), key=lambda row: row["sentences"]):
            first = int(row["sentences"][0].startswith(_TITLE))
            sentences, label = tuple(row["sentences"][first:]), NAMES[row["label"]]
            if not sentences:
                continue
            places = tuple(place - first for place in row["evidence"] or () if first <= place < len(sentences) + first)
            evidence = () if label == NEUTRAL else places or (None if len(sentences) > 1 else (0,))
            group = f"{name} {row['title']} {sentences[0]}"
            yield Lesson(row["claim"], row["title"], sentences, label, evidence, name, group)


def read_claims(source: Path) -> list[str]:
    """The true and false claims of `claims.jsonl`, each once."""
    return sorted({phrase_claim(line[name]) for line in read_lines(source) for name in ("true", "false")})


def make_taught_lessons(folder: Path, claims: Sequence[str], most: int, rng: random.Random) -> Iterator[Lesson]:
    """At most `most` of the claims, each with papers that a search finds for it; what they say is left to a teacher."""
    papers = [(title, sentences) for _, title, sentences in read_literature(folder) if sentences]
    index = TextIndex([f"{title} {' '.join(sentences)}" for title, sentences in papers])
    for claim in rng.sample(claims, min(most, len(claims))):
        hits = index.top(claim, FOUND)
        for place in rng.sample(hits, min(TAUGHT_PAPERS, len(hits))):
            title, sentences = papers[place]
            yield Lesson(claim, drop_question(title), tuple(sentences), UNLABELLED, None, "taught")


Part = TypeVar("Part")


def make_lessons(folder: Path, claims: Path, rng: random.Random, reports: Path | None = None) -> list[Lesson]:
    """All labelled lessons; those of trial reports only with an index of the reports."""
    papers, own_papers, written = read_ordinary(folder, "train"), read_written(claims, folder), read_written(LESSONS, folder)
    claim_pairs = [(paper["true"], paper["false"]) for paper in (*papers, *own_papers)]
    written += read_reports(reports) if reports else []
    for _, rows in groupby((one for one in written if one["from"] in ("contrasts", "reports")), key=lambda row: row["pmid"]):
        said = list(rows)
        sides = ([one["claim"] for one in said if one["label"] == side] for side in ("support", "contradict"))
        claim_pairs += zip(*sides, strict=False)
    leans = measure_leans([true for true, _ in claim_pairs], [false for _, false in claim_pairs])
    literature = [(title, sentences) for _, title, sentences in read_literature(folder)]
    rng.shuffle(literature)

    def draw(some: Iterable[Part], most: int) -> list[Part]:
        every = list(some)
        return rng.sample(every, min(most, len(every)))

    def draw_share(some: Sequence[Part]) -> list[Part]:
        return rng.sample(some, round(0.6 * len(some)))

    return [
        # Short texts.
        *(lesson for dataset, most in GENERAL.items() for lesson in draw(make_general_lessons(folder, dataset), most)),
        *make_labelled_lessons(folder, "citint"),
        *make_family_lessons(read_lines(FAMILIES), 12_000, rng),
        *make_verified_lessons(folder, rng),
        # Whole abstracts, and their evidence alone.
        *make_ordinary_lessons(papers, leans, rng),
        *make_ordinary_lessons(own_papers, leans, rng),
        *make_evidence_lessons(draw_share([*papers, *own_papers]), leans, rng),
        *make_written_lessons(written, leans),
        *make_labelled_lessons(folder, "scifact"),
        *make_rival_lessons(folder, 3, rng),
        *make_labelled_lessons(folder, "check_covid"),
        *make_labelled_lessons(folder, "healthver"),
        *make_claim_lessons(draw_share(own_papers)),
        *make_sentence_lessons(draw_share(literature), rng),
    ]
