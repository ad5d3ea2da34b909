"""Train the model that tells statements, questions and mere names apart: `python -m counterpoint.nli.training.forms --data DIR`.

Statements are claims written for the training of the readers, and of public sets; questions are of the same sources. Names are
titles, the fields of doctors' prompts about trials, and what people type into a search field: some written for this
(queries.txt), most made of titles and fields, whole or in part, in any order. A title may itself be a statement or a question:
what a model trained on other texts takes it for, it is (`sort_titles`).
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from counterpoint.nli.text.forms import FORMS, FORMS_MODEL, WIDTH, Form, FormModel, split_tokens
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.nli.training.roles import read_arguments, write_model
from counterpoint.nli.training.turning import has_finite_verb
from counterpoint.retrieval.core.word_list import read_sections
from counterpoint.retrieval.training.data import read_lines, read_reserved_pmids, read_rows
from counterpoint.retrieval.words.forms import make_third_person

READER = Path(__file__).parent / "reader"
QUERIES = Path(__file__).with_name("queries.txt")
RAREST, SIZE, SIGNS, PARTS = 30, 16, 48, 5
"""The fewest texts that a part of a word must occur in, the numbers that stand for it, the signs that the model looks for, and
the most parts of a word."""
ROUNDS, BATCH, RATE = 4, 256, 0.005
NAMED = 4.0
"""The log odds, before training, that a text without any sign names things."""
UNSEEN = 0.15
"""The share of words that are known in training by their endings alone, as words are that nobody has used before."""
CLAIMS, OFTEN, BRIEF = 80_000, 3, 3
"""How many claims are used, in how many a verb must occur, and the most words of the fields that short claims are made of."""
FOLDS, CLEAR, SORTING, LONGEST = 2, 0.8, 60_000, 60
"""Into how many parts titles are split to be sorted, and the probability from which on one is sorted; how many other texts
help to sort them; the most characters of a prompt's treatment."""
_SETS = ("scifact", "citint", "check_covid", "clinifact")
"""The sets of stance/pairs whose claims are whole sentences, and whose licence allows it."""
_GLUE = frozenset(
    "a an the of in on at for to with by from and or as is are was were be been its their this that these than vs versus after "
    "during between among using does do did can".split()
)
_COPULAS = frozenset("a an the is are was were".split())
_STATISTICS = (
    " (OR 1.4, 95% CI 1.2 to 1.6)", " (p < 0.001)", " (HR 0.71; 95% CI 0.58-0.86; P = 0.002)", " [1]", " [2, 4-6]", " (RR = 0.8)",
    " (Smith et al., 2010)", " (n = 120)", " (12% vs 18%)", ": OR 0.8", ", P=0.03", " (mean difference -3.2 mmHg)",
)  # fmt: skip
_WORD = re.compile(r"[^\W_](?:[^\s,;:()]*[^\W_])?")
_AUXILIARY = re.compile(r"(.{3,90}?) (is|are|was|were|can|could|may|does|do|did|has|have|will|should) (?:not )?(.+)")
_WHICH = ("what", "which drugs", "which patients", "why", "how", "when", "who", "which treatment", "how often", "how many people")
_BREAK = re.compile(r"\s*[:;.]\s+|\s[—–-]\s|,\s+")
_BEHIND = re.compile(r"\b(?:do|does|did|can|could|may|might|will|would) (?:not )?([a-z]{3,})\b(?! by\b)")
Example = tuple[str, Form]


def list_claims(data: Path) -> Iterator[str]:
    """The claims that were written for the readers, and those of public sets."""
    for name in ("claims", "lessons"):
        for row in read_lines(READER / f"{name}.jsonl"):
            yield from (row[key] for key in ("true", "false", "neutral", "claim") if isinstance(row.get(key), str))
    for row in read_lines(READER / "families.jsonl"):
        for key in ("better", "worse", "same", "neutral"):
            yield from (one.replace("{X}", "zeta").replace("{Y}", "omega") for one in row.get(key, ()) if isinstance(one, str))
    for row in read_rows(data, "stance/pairs.jsonl.gz"):
        if row["dataset"] in _SETS and row["split"] == "train":
            yield row["claim"]
    for row in read_rows(data, "stance/ordinary.jsonl.gz"):
        if row["split"] == "train":
            yield from (row[key] for key in ("true", "false", "neutral") if row[key])
    for name in ("factcheck_gpt", "covid_contradictory_roam"):
        yield from (row["claim"] for row in read_rows(data, f"verification/{name}.jsonl.gz"))
    for row in read_rows(data, "relevance/pubmedqa.jsonl.gz"):
        for text in (*row["CONTEXTS"], row["LONG_ANSWER"]):
            yield from (text[start:end] for start, end in sentence_spans(text))


def list_questions(data: Path) -> Iterator[str]:
    """The open questions written for the readers, and PubMedQA's."""
    for name in ("answers.jsonl", "found.jsonl"):
        yield from (row["question"] for row in read_lines(READER / "answers" / name))
    yield from (row["QUESTION"] for row in read_rows(data, "relevance/pubmedqa.jsonl.gz"))


def find_verbs(claims: Iterable[str]) -> list[str]:
    """The verbs that stand behind an auxiliary in at least `OFTEN` claims, in their base form."""
    found = Counter(word for claim in claims for word in _BEHIND.findall(claim))
    return sorted(word for word, count in found.items() if count >= OFTEN and not word.endswith(("ly", "ing", "ed")))


def invent_claims(fields: Sequence[tuple[str, str, str]], verbs: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Short statements with any verb, whatever they say: rare verbs, and those that are nouns as well, are verbs here."""
    frames = read_sections(QUERIES)["subjects"]
    for outcome, treatment, other in fields:
        subject, verb = rng.choice(frames).format(treatment=treatment, other=other, outcome=outcome), rng.choice(verbs)
        is_plural = subject.endswith("s") or " and " in subject or subject.split()[0] in {"Effects", "Patients", "High", "Drugs"}
        stated = verb if is_plural else make_third_person(verb)
        rest = rng.choice((outcome, other, f"the {outcome}", f"{outcome} in women", ""))
        yield f"{subject} {stated} {rest}".strip()


def ask_claims(claims: Iterable[str], rng: random.Random) -> Iterator[str]:
    """Questions that ask for a claim's yes or no, or for its subject, where it has an auxiliary."""
    for claim in claims:
        if match := _AUXILIARY.fullmatch(claim.rstrip(".")):
            first, auxiliary, rest = match.groups()
            lead, comma, subject = first.rpartition(", ")
            asked = f"{auxiliary} {subject} {rest}" if rng.random() < 0.7 else f"{rng.choice(_WHICH)} {auxiliary} {rest}"
            yield f"{lead}{comma}{asked}"


def list_titles(data: Path) -> list[str]:
    """The titles of PubMed's papers, without those that are reserved."""
    reserved = read_reserved_pmids(data)
    rows = read_rows(data, "pubmed/abstracts.jsonl.gz")
    return [row["title"].strip("[]. ") for row in rows if row["title"] and row["pmid"] not in reserved]


def shorten_claims(claims: Iterable[str], rng: random.Random) -> Iterator[str]:
    """The claims, some as telegrams do, some with statistics or references."""
    for claim in claims:
        way = rng.random()
        words = claim.rstrip(".").split()
        if way < 0.12:
            yield " ".join(word for word in words if word.lower() not in _COPULAS)
        elif way < 0.3:
            yield " ".join(words) + rng.choice(_STATISTICS)
        else:
            yield claim


def fill(name: str, fields: Sequence[tuple[str, str, str]], rng: random.Random) -> Iterator[str]:
    """Forms of a section of queries.txt, filled with an outcome, a treatment and another: statements without a verb and orders,
    questions that no claim answers, or pairs of names."""
    forms = read_sections(QUERIES)[name]
    for outcome, treatment, other in fields:
        yield rng.choice(forms).format(outcome=outcome, treatment=treatment, other=other)


def make_queries(texts: Sequence[str], rng: random.Random) -> Iterator[str]:
    """What may be typed to find papers of these titles: parts of them, without glue, in any order, joined by operators."""
    additions = read_sections(QUERIES)["additions"]
    for text in texts:
        part = rng.choice([one for one in _BREAK.split(text) if one] or [text])
        words = [word for word in _WORD.findall(part) if word.lower() not in _GLUE]
        kept = words[(start := rng.randrange(max(1, len(words) - 2))) : start + rng.randint(2, 6)]
        way = rng.random()
        if way < 0.25:
            yield part
        elif way < 0.5:
            yield " ".join(kept)
        elif way < 0.7:
            yield " ".join(rng.sample(kept, len(kept)))
        elif way < 0.8:
            yield rng.choice((" AND ", " OR ", " NOT ", ", ", "; ", " vs ", " and ", "/", " + ", "[MeSH] AND ")).join(kept[:3])
        else:
            yield rng.choice(additions).replace("{}", " ".join(kept[:4]))


class Network(torch.nn.Module):
    """The same as `FormModel`, for training."""

    def __init__(self, parts: int) -> None:
        super().__init__()
        self.parts = torch.nn.Embedding(parts + 2, SIZE)
        self.signs = torch.nn.Linear(WIDTH * SIZE, SIGNS)
        self.weights = torch.nn.Linear(SIGNS, len(FORMS))
        self.speaks = torch.tensor([[float(form != "phrase")] for form in FORMS])

    def weigh(self) -> torch.Tensor:
        """[forms, signs]: signs speak for statements and questions; a text without any names things."""
        return torch.nn.functional.softplus(self.weights.weight) * self.speaks

    def forward(self, places: torch.Tensor) -> torch.Tensor:
        """[texts, forms] from the places of the parts [texts, words, parts of a word], both ends included."""
        rows = self.parts(places).sum(dim=2)
        windows = rows.unfold(1, WIDTH, 1).transpose(2, 3).flatten(2)
        inside = (places[:, WIDTH // 2 : -(WIDTH // 2), :1] != places.new_tensor(self.parts.num_embeddings - 2)).float()
        found = torch.relu(self.signs(windows)) * inside
        clearest = torch.nn.functional.dropout(found.amax(dim=1), 0.2, self.training)
        return torch.nn.functional.linear(clearest, self.weigh(), self.weights.bias)


def fit(examples: Sequence[Example], seed: int = 0) -> FormModel:
    """Train the network on texts in random order."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    split = [split_tokens(text) for text, _ in examples]
    counts = Counter(part for words in split for part in {part for parts in words for part in parts})
    words = {word: place for place, word in enumerate(sorted(word for word, count in counts.items() if count >= RAREST))}
    network = Network(len(words))
    end, none = len(words), len(words) + 1
    with torch.no_grad():
        network.parts.weight.mul_(0.3)
        network.weights.weight.sub_(2)
        network.weights.bias.copy_(torch.tensor([-NAMED * float(form != "phrase") for form in FORMS]))
        network.parts.weight[none] = 0
    encoded = [np.array([encode(parts, words, none) for parts in one]) for one in split]
    labels = torch.tensor([FORMS.index(form) for _, form in examples])
    steps = ROUNDS * (len(examples) // BATCH + 1)
    optimizer = torch.optim.AdamW(network.parameters(), RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for _ in range(ROUNDS):
        order = sorted(rng.permutation(len(encoded)).tolist(), key=lambda row: len(encoded[row]) // 4)
        batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        for place in rng.permutation(len(batches)).tolist():
            packed = pack([encoded[row] for row in batches[place]], end, none, rng)
            loss = torch.nn.functional.cross_entropy(network(packed), labels[batches[place]])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            with torch.no_grad():
                network.parts.weight[none] = 0
    layers = (network.parts.weight[:-1], network.signs.weight.T, network.signs.bias, network.weigh().T, network.weights.bias)
    return FormModel(words, *(layer.detach().numpy() for layer in layers))


def encode(parts: Sequence[str], words: Mapping[str, int], none: int) -> list[int]:
    """The places of a word's parts, `PARTS` of them; the word's own comes first, `none` where it is not known."""
    places = [words.get(part, none) for part in parts[:PARTS]]
    return places + [none] * (PARTS - len(places))


def pack(texts: Sequence[NDArray[np.int64]], end: int, none: int, rng: np.random.Generator) -> torch.Tensor:
    """[texts, words, parts] of one length, with ends; a word's own part, which stands first, is left out now and then."""
    edge = WIDTH // 2
    packed = np.full((len(texts), max(map(len, texts)) + 2 * edge, PARTS), none)
    packed[:, :, 0] = end
    for row, text in enumerate(texts):
        packed[row, edge : edge + len(text)] = text
    left_out = (rng.random(packed.shape[:2]) < UNSEEN) & (packed[:, :, 1] != none)
    packed[left_out, 0] = none
    return torch.from_numpy(packed)


def sort_titles(titles: Sequence[str], examples: Sequence[Example]) -> list[Example]:
    """Each title with what it surely is to a model trained on the others as names, and on other texts."""
    told: list[Example] = []
    for half in range(FOLDS):
        rest = [title for row, title in enumerate(titles) if row % FOLDS != half]
        names: list[Example] = [(title, "phrase") for title in rest if not has_finite_verb(title)]
        model = fit([*examples, *names])
        scores = ((title, model.score(title)) for title in titles[half::FOLDS])
        told += [(title, form) for title, score in scores for form in FORMS if score[form] >= CLEAR]
    return told


def read_examples(data: Path, rng: random.Random) -> list[Example]:
    """Every text that the model is trained on."""
    claims, questions = (list(dict.fromkeys(ways(data))) for ways in (list_claims, list_questions))
    rows = read_rows(data, "trials/prompts.jsonl.gz")
    fields = [(row["outcome"], row["intervention"], row["comparator"]) for row in rows if len(row["intervention"]) < LONGEST]
    rng.shuffle(claims)
    verbs, brief = find_verbs(claims), [one for one in fields if all(len(text.split()) <= BRIEF for text in one)]
    stated = [
        *shorten_claims(claims[:CLAIMS], rng),
        *fill("statements", fields, rng),
        *invent_claims(brief * 5, verbs, rng),
    ]
    asked = [*questions * 3, *ask_claims(claims[::3], rng), *fill("questions", fields[::4], rng)]
    named = [
        *read_sections(QUERIES)["queries"] * 5,
        *fill("pairs", fields, rng),
        *(text for one in fields[1::3] for text in one),
    ]
    examples: list[Example] = [*((text, "statement") for text in stated), *((text, "question") for text in asked)]
    examples += [(text, "phrase") for text in named]
    titles = sort_titles(list(dict.fromkeys(list_titles(data))), rng.sample(examples, SORTING))
    names = [text for text, form in titles if form == "phrase"]
    return [*examples, *titles, *((text, "phrase") for text in make_queries(names * 2, rng))]


def main() -> None:
    """Train the model and write it."""
    arguments = read_arguments("forms", FORMS_MODEL)
    examples = read_examples(arguments.data, random.Random(0))
    print(f"{len(examples):,} texts: {dict(Counter(form for _, form in examples))}")
    model = fit(examples)
    arrays = {name: getattr(model, name) for name in ("parts", "signs", "bias", "weights", "shares")}
    write_model(arguments.out, model.words, **arrays)


if __name__ == "__main__":
    main()
