"""The lead: what papers that take sides come to, and how it is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generation.draft import CitedSource, Finding, Source
from generation.leads.denial import is_denial
from generation.leads.lead import write_lead
from generation.leads.question import YesNoQuestion, parse_question
from generation.sentences.findings import write_findings
from nli.decision.document import PLAIN
from nli.judges.judge import Abstract, Reading
from nli.text.roles import find_findings
from nli.text.sentences import split_document
from retrieval.core.answers import Answer
from retrieval.core.values import Claim, Document, Evidence, Grounding, Sentence, Stance, Topic, Verdict
from retrieval.index import Index
from retrieval.store.rows import Entry
from service.answering.answer import Answerer
from service.answering.attribution import describe_check
from service.answering.conflicts import find_conflicts_between_sides
from service.answering.lead import Leads, Studied, make_lead, set_doubtful_aside, weigh_papers, write_lead_sentence
from service.answering.reading import PaperFinding, estimate_meetings, pool_verdicts, read_findings, remove_leaning
from service.answering.relevance import CLEARLY_MEETS, estimate_meeting, is_on_question, list_alternatives, measure_rare_share
from service.answering.schemas import AnswerResponse, numbers_of, running_text
from service.configuration.answers import LeadStep, load_answer_config
from service.grounding.deciding import make_abstract
from service.grounding.ground import Grounder
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fakes import make_index

QUESTION = "Does zeta lower blood pressure?"
TRIAL, REVIEW, CASE = "A randomised trial", "A meta-analysis", "A case report"
DOCUMENTS: list[dict[str, Any]] = [
    {
        "pmid": "1",
        "title": "Zeta: a randomised trial",
        "abstract": "BACKGROUND: Zeta is said not to lower blood pressure. RESULTS: Zeta lowered blood pressure in adults with "
        "hypertension. CONCLUSIONS: Zeta lowers blood pressure in most adults.",
    },
    {
        "pmid": "2",
        "title": "Zeta: a randomised trial",
        "abstract": "BACKGROUND: Zeta lowers blood pressure in dogs of old sailors. CONCLUSIONS: Zeta did not lower blood "
        "pressure in most adults with hypertension at all.",
    },
    {"pmid": "3", "title": "Zeta in mice", "abstract": "RESULTS: Zeta lowered blood pressure in mice fed with salt."},
    {"pmid": "4", "title": "Eta: a trial", "abstract": "CONCLUSIONS: Eta did not lower blood pressure in most adults."},
    *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i} on something else."} for i in range(20)),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("leads"), DOCUMENTS)


def step(**changes: Any) -> LeadStep:
    known = load_answer_config("counterpoint").lead
    assert known is not None
    return known.model_copy(update=changes)


def evidence(pmid: str, stance: Stance, score: float, title: str = TRIAL, year: int | None = None) -> Evidence:
    support, contradict = (score, 1 - score) if stance == "support" else (1 - score, score)
    verdict = Verdict(support, 0.0, contradict, of="document")
    text = "Zeta and blood pressure."
    sentence = Sentence(pmid, 0, 0, len(text), text)
    return Evidence(Document(pmid, title, text, year=year), stance, sentence, 1, score, "reader", verdict)


def verdict_of(*read: Evidence, **changes: Any) -> tuple[str, float, list[str]]:
    rules, turned = step(**changes), parse_question(QUESTION)
    assert turned is not None
    papers = weigh_papers(read, frozenset(), rules)
    lead = make_lead(turned, papers, rules)
    return lead.verdict, lead.certainty, [one.evidence.document.pmid for one in papers]


def test_the_heavier_side_answers() -> None:
    assert verdict_of(evidence("1", "support", 0.9))[0] == "yes"
    assert verdict_of(evidence("1", "contradict", 0.9))[0] == "no"
    assert verdict_of(evidence("1", "support", 0.9), evidence("2", "contradict", 0.8))[0] == "mixed"
    assert verdict_of(evidence("1", "support", 0.4))[0] == "unclear"


def test_a_paper_that_is_nearly_as_probably_on_the_other_side_takes_none() -> None:
    assert verdict_of(evidence("1", "support", 0.7))[0] == "unclear"
    assert verdict_of(evidence("1", "support", 0.7), clear=2.0)[0] == "yes"
    assert verdict_of(evidence("1", "support", 0.7), evidence("2", "contradict", 0.9))[0] == "no"


def test_design_and_age_weigh() -> None:
    assert verdict_of(evidence("1", "support", 0.9, REVIEW), evidence("2", "contradict", 0.9, CASE))[0] == "yes"
    old, new = evidence("1", "support", 0.9, year=1960), evidence("2", "contradict", 0.9, year=2020)
    assert verdict_of(old, new)[0] == "no"
    assert verdict_of(old, new, halves=1000.0)[0] == "mixed"


def test_a_paper_on_less_of_the_question_weighs_less_and_is_in_no_conflict() -> None:
    asked, turned = (evidence("1", "contradict", 0.9), evidence("2", "support", 0.9)), parse_question(QUESTION)
    assert turned is not None
    for met, verdict, conflicts in ((1.0, "mixed", 1), (0.6, "no", 0)):
        papers = weigh_papers(asked, frozenset(), step(), {"1": 1.0, "2": met})
        lead = make_lead(turned, papers, step())
        assert lead.verdict == verdict
        studied = Studied(turned, papers, lead)
        first = write_lead_sentence(QUESTION, studied, 3)
        assert first is not None
        assert len(find_conflicts_between_sides(studied, [first])) == conflicts


@pytest.mark.parametrize(
    ("doubtful", "sided"), [("", "123"), ("2", "13"), ("12", "123"), ("3", "123"), ("23", "13"), ("123", "123")]
)
def test_a_paper_that_may_not_meet_the_question_is_set_aside_if_another_on_its_side_does(doubtful: str, sided: str) -> None:
    read = [evidence("1", "support", 0.9), evidence("2", "support", 0.8), evidence("3", "contradict", 0.9)]
    meets = {pmid: CLEARLY_MEETS - 0.01 if pmid in doubtful else CLEARLY_MEETS for pmid in "123"}
    papers = set_doubtful_aside(weigh_papers(read, frozenset(), step()), meets)
    assert sorted(one.evidence.document.pmid for one in papers if one.takes_side) == list(sided)
    assert [one.evidence.sentence is not None for one in papers] == [one.takes_side for one in papers]
    assert len(papers) == 3, "what is set aside is still among the papers on the question"


@pytest.mark.parametrize(
    ("score", "meets", "sided"), [(0.6, 0.9, True), (0.6, 0.8, False), (0.75, 0.5, True), (0.69, 0.7, False), (0.69, 0.75, True)]
)
def test_a_paper_doubtful_in_two_respects_takes_no_side_but_is_quoted(score: float, meets: float, sided: bool) -> None:
    read = replace(evidence("1", "support", score), verdict=Verdict(score, 1 - score, 0.0, of="document"))
    (paper,) = set_doubtful_aside(weigh_papers([read], frozenset(), step()), {"1": meets})
    assert paper.takes_side is sided
    assert paper.evidence.sentence is not None


@pytest.mark.parametrize(
    ("verdict", "meets", "on_it"),
    [
        (Verdict(0.9, 0.05, 0.05), 0.44, False),
        (Verdict(0.9, 0.05, 0.05), 0.45, True),
        (Verdict(0.05, 0.05, 0.9), 0.3, True),
        (Verdict(0.05, 0.05, 0.9), 0.29, False),
        (Verdict(0.1, 0.1, 0.8), 0.3, False),
        (None, 1.0, True),
    ],
)
def test_a_clear_denial_is_on_the_question_sooner(verdict: Verdict | None, meets: float, on_it: bool) -> None:
    assert is_on_question(verdict, meets) is on_it


def test_opposition_and_doubt_make_a_lead_less_sure() -> None:
    alone = verdict_of(evidence("1", "support", 0.9))[1]
    assert verdict_of(evidence("1", "support", 0.9), evidence("2", "contradict", 0.8, CASE))[1] < alone
    assert verdict_of(evidence("1", "support", 0.6))[1] < alone


def test_a_silent_paper_makes_no_lead_surer() -> None:
    silent = replace(evidence("2", "support", 0.95), sentence=None)
    assert verdict_of(evidence("1", "support", 0.8), silent)[1] == verdict_of(evidence("1", "support", 0.8))[1]


def test_the_papers_that_count_most_stand_first() -> None:
    assert verdict_of(
        evidence("1", "support", 0.9, CASE), evidence("2", "support", 0.9, REVIEW), evidence("3", "support", 0.3, REVIEW)
    )[2] == ["2", "1", "3"]


@pytest.mark.parametrize(
    ("verdict", "certainty", "pro", "contra", "silent", "text"),
    [
        ("yes", 0.9, ["a randomised trial"], [], 0,
         "Yes: zeta lowers blood pressure, by the one paper with a clear finding (a randomised trial)."),
        ("yes", 0.7, ["a randomised trial"] * 2, ["a study"], 0,
         "Probably yes: zeta lowers blood pressure, by 2 of 3 papers with a clear finding (2 randomised trials)."),
        ("no", 0.5, [], ["a study in animals or cells", "a cohort study"], 0,
         "Possibly not: both papers with a clear finding (a study in animals or cells and a cohort study) did not find "
         "that zeta lowers blood pressure."),
        ("mixed", 0.5, ["a study"], ["a randomised trial"] * 2, 0,
         "Mixed: 1 paper (a study) finds that zeta lowers blood pressure, 2 papers (2 randomised trials) do not."),
        ("unclear", 0.5, [], [], 2,
         "Unclear: from the 2 papers found on this, the judge cannot tell for sure whether zeta lowers blood pressure."),
    ],
)  # fmt: skip
def test_how_a_lead_is_said(verdict: Any, certainty: float, pro: list[str], contra: list[str], silent: int, text: str) -> None:
    turned = parse_question(QUESTION)
    assert turned is not None
    assert write_lead(QUESTION, turned, verdict, certainty, pro, contra, silent) == text


def test_a_claim_that_is_no_english_is_not_repeated() -> None:
    unsound = YesNoQuestion("zeta frobnicate gout", "", False)
    for verdict in ("yes", "no", "mixed", "unclear"):
        text = write_lead("Does zeta frobnicate gout?", unsound, verdict, 0.9, ["a study"], ["a study"], 1)
        assert "“Does zeta frobnicate gout?”" in text
        assert "zeta frobnicate gout" not in text.replace("Does zeta frobnicate gout", "")


def source(number: int, text: str, stance: Stance | None = "support") -> Source:
    document = Document(str(number), f"Paper {number}", text)
    spans = split_document(document)
    sentences = tuple(Sentence(document.pmid, i, s, e, text[s:e]) for i, (s, e) in enumerate(spans))
    return Source(number, document, sentences, Finding(len(spans) - 1, stance, "a randomised trial"))


def test_findings_are_told_as_they_stand_or_quoted_and_the_other_side_as_a_contrast() -> None:
    told = list(
        write_findings(
            [
                source(1, "CONCLUSIONS: Zeta lowers blood pressure in most adults with hypertension."),
                source(2, "This trial found that zeta lowers blood pressure."),
                source(3, "Zeta raises the blood pressure of most adults with hypertension.", "contradict"),
            ],
            7,
            170,
        )
    )
    assert [one.text for one in told] == [
        "Zeta lowers blood pressure in most adults with hypertension.",
        "A randomised trial reports: “This trial found that zeta lowers blood pressure”.",
        "By contrast, a randomised trial reports: “Zeta raises the blood pressure of most adults with hypertension”.",
    ]
    assert told[1].cited == (CitedSource(2, "This trial found that zeta lowers blood pressure"),)


def test_a_quotation_says_what_its_acronyms_stand_for() -> None:
    one = source(1, "Zeta band ligation (ZBL) was tried. CONCLUSIONS: ZBL lowers blood pressure in most adults who drink tea.")
    (told,) = write_findings([one], 7, 170)
    quote = "ZBL lowers blood pressure in most adults who drink tea"
    assert told.text == f"A randomised trial reports: “{quote.replace('ZBL', 'ZBL [Zeta band ligation]')}”."
    assert told.cited == (CitedSource(1, quote),)


def test_findings_keep_to_their_room() -> None:
    many = [source(n, f"Zeta number {n} lowers blood pressure in most adults with hypertension.") for n in range(1, 9)]
    assert len(list(write_findings(many, 7, 25))) == 2
    assert len(list(write_findings(many, 3, 170))) == 3


def test_a_long_finding_is_quoted_if_there_is_no_other() -> None:
    long = source(1, f"This trial found that zeta lowers {'blood pressure and ' * 25}blood pressure.")
    assert [one.cited[0].number for one in write_findings([long], 7, 170)] == [1]
    assert [one.cited[0].number for one in write_findings([long, source(2, "Zeta lowers blood pressure.")], 7, 170)] == [2]
    assert not list(write_findings([long], 7, 40))


def test_the_other_side_has_its_place_in_the_answer() -> None:
    many = [source(n, f"Zeta number {n} lowers blood pressure in most adults with hypertension.") for n in range(1, 9)]
    against = source(9, "Zeta raises the blood pressure of most adults with hypertension.", "contradict")
    told = list(write_findings([*many, against], 3, 170))
    assert [one.cited[0].number for one in told] == [1, 2, 9]
    assert told[-1].text.startswith("By contrast, ")


def test_a_denial_is_read_in_the_clause_that_speaks_of_the_outcome() -> None:
    def about(text: str) -> float:
        return float("pressure" in text)

    claim = "zeta lowers blood pressure"
    assert is_denial("Zeta did not lower blood pressure.", claim, about)
    assert is_denial("Although zeta does not lower blood pressure, it tastes well.", claim, about)
    assert not is_denial("Eta has no effect, but zeta lowers blood pressure.", claim, about)
    assert not is_denial("There was no difference in pressure.", "zeta is safe for blood pressure", about)


def quote(entry: Entry, found: PaperFinding) -> Evidence:
    assert found.sentence is not None
    return Evidence(entry.document, found.stance, found.sentence, 1, 0.9, "reader", found.verdict)


class Echo:
    """Reads "did not" as a contradiction and "lower" as support; keeps what it was given."""

    name = "echo@1"
    decision = PLAIN

    def __init__(self) -> None:
        self.read: list[Abstract] = []

    def read_abstracts(self, claim: str, documents: Any) -> Any:
        for one in documents:
            self.read.append(one)
            text = one.sentences[-1]
            verdict = Verdict(0.05, 0.05, 0.9) if "did not" in text else Verdict(0.9, 0.05, 0.05)
            yield Reading(verdict, tuple(verdict for _ in one.sentences))

    def __call__(self, claim: str, premises: Any) -> Any:
        raise AssertionError("a reader reads papers")


def test_a_paper_is_read_for_what_it_found_and_a_title_that_asks_says_nothing(tmp_path: Path) -> None:
    abstract = (
        "BACKGROUND: Zeta is known to lower blood pressure in dogs. METHODS: Adults took zeta for a year. RESULTS: Pressure was "
        "120 mm Hg in both groups. CONCLUSIONS: Zeta did not lower blood pressure in adults."
    )
    held = make_index(tmp_path, [{"pmid": "1", "title": "Does zeta lower blood pressure?", "abstract": abstract}])
    reader, turned = Echo(), parse_question(QUESTION)
    assert turned is not None
    (found,) = read_findings(reader, QUESTION, turned, list(held.entries(["1"])))
    assert found.stance == "contradict"
    assert found.sentence is not None
    assert found.sentence.text == "CONCLUSIONS: Zeta did not lower blood pressure in adults."
    assert {one.title for one in reader.read} == {""}
    assert all("dogs" not in text for one in reader.read[1:] for text in one.sentences), "the introduction is read once, whole"


class Weighing(Echo):
    """Reads each sentence by itself: "not" speaks against the claim, "better" for it; the paper is read as it is told."""

    said = (("not", Verdict(0.02, 0.08, 0.9)), ("better", Verdict(0.6, 0.3, 0.1)))

    def __init__(self, whole: Verdict) -> None:
        super().__init__()
        self.whole = whole

    def read_abstracts(self, claim: str, documents: Any) -> Any:
        for one in documents:
            self.read.append(one)
            own = [next((v for word, v in self.said if word in text), Verdict(0.0, 1.0, 0.0)) for text in one.sentences]
            yield Reading(self.whole, tuple(own))


def told_of(tmp_path: Path, abstract: str, whole: Verdict, question: str = QUESTION) -> str | None:
    held = make_index(tmp_path, [{"pmid": "1", "title": "Zeta and blood pressure", "abstract": abstract}])
    turned = parse_question(question)
    assert turned is not None
    (found,) = read_findings(Weighing(whole), question, turned, list(held.entries(["1"])))
    return found.sentence.text if found.sentence else None


AGAINST, FOR = Verdict(0.05, 0.05, 0.9), Verdict(0.9, 0.05, 0.05)


def test_the_sentence_told_is_the_one_that_the_reader_takes_for_the_papers_side(tmp_path: Path) -> None:
    abstract = (
        "METHODS: Adults took zeta for a year. RESULTS: Zeta and blood pressure were better known after a year. "
        "CONCLUSIONS: Drugs of this class do not help adults."
    )
    assert told_of(tmp_path / "no", abstract, AGAINST) == "CONCLUSIONS: Drugs of this class do not help adults."
    assert told_of(tmp_path / "yes", abstract, FOR) == "RESULTS: Zeta and blood pressure were better known after a year."


def test_no_sentence_speaks_for_a_side_that_the_reader_finds_in_none(tmp_path: Path) -> None:
    assert (
        told_of(tmp_path, "RESULTS: Zeta was given to most adults. CONCLUSIONS: Adults took zeta for blood pressure.", FOR)
        is None
    )


def test_a_weak_finding_on_the_outcome_is_told_rather_than_one_on_another(tmp_path: Path) -> None:
    weak, strong = Verdict(0.22, 0.77, 0.01), Verdict(0.28, 0.71, 0.01)

    class Weak(Weighing):
        said = (("may lower", weak), ("eased", strong))

    abstract = "METHODS: Adults took zeta. RESULTS: Zeta may lower blood pressure in adults. Zeta eased the pain of most adults."
    held = make_index(tmp_path, [{"pmid": "1", "title": "Zeta and blood pressure", "abstract": abstract}])
    turned = parse_question(QUESTION)
    assert turned is not None
    (found,) = read_findings(Weak(FOR), QUESTION, turned, list(held.entries(["1"])))
    assert found.sentence is not None
    assert "may lower" in found.sentence.text


@pytest.mark.parametrize(
    "aside",
    [
        "In a subgroup of smokers zeta was better for blood pressure.",
        "Previous studies have shown that zeta is better for blood pressure.",
        "Three patients withdrew although their blood pressure was better with zeta.",
        "Adverse events were no better with zeta.",
    ],
)
def test_asides_are_not_what_a_paper_found(tmp_path: Path, aside: str) -> None:
    told = told_of(tmp_path, f"RESULTS: {aside} CONCLUSIONS: Zeta is better for most adults.", FOR)
    assert told == "CONCLUSIONS: Zeta is better for most adults."


def test_a_paper_is_read_in_two_views_the_whole_as_the_grounding_reads_it(index: Index) -> None:
    reader, turned = Echo(), parse_question(QUESTION)
    assert turned is not None
    (entry,) = index.entries(["1"])
    (found,) = read_findings(reader, QUESTION, turned, [entry])
    assert reader.read[0] == make_abstract(entry)
    title = entry.document.title
    estimate_meetings(reader, turned.claim, [quote(entry, found)])
    assert [one.title for one in reader.read] == [title, "", "", "", title], "the sentence that is quoted is read with the title"
    assert [len(one.sentences) for one in reader.read] == [len(entry), 2, 1, 1, 1], "its findings, then what may tell them"


def test_a_sentence_that_says_little_with_its_title_or_a_paper_without_the_words_may_not_meet_the_question(index: Index) -> None:
    class Doubtful(Echo):
        """For the claim, but unsure of a sentence that it reads with the title."""

        def read_abstracts(self, claim: str, documents: Any) -> Any:
            for one in documents:
                titled = one.title and len(one.sentences) == 1
                verdict = Verdict(0.45, 0.5, 0.05) if titled else FOR
                yield Reading(verdict, tuple(verdict for _ in one.sentences))

    turned = parse_question(QUESTION)
    assert turned is not None
    entries = list(index.entries(["1"]))
    (sure,), (unsure,) = (read_findings(reader, QUESTION, turned, entries) for reader in (Echo(), Doubtful()))
    assert sure.sentence == unsure.sentence
    quoted = [quote(entries[0], sure)]
    assert estimate_meetings(Doubtful(), turned.claim, quoted)["1"] < estimate_meetings(Echo(), turned.claim, quoted)["1"]
    document = entries[0].document
    whole, part = (measure_rare_share(f"Zeta lowers blood pressure{more}.", document) for more in ("", " in Kenya"))
    assert part < whole
    assert estimate_meeting(part, whole, FOR) < estimate_meeting(part, part, FOR) < estimate_meeting(whole, whole, FOR)


RESULT = "RESULTS: Zeta lowered blood pressure by a tenth in adults."
CONCLUSION = "CONCLUSIONS: Zeta lowered blood pressure in most adults."


@pytest.mark.parametrize(
    ("alone", "told"),
    [
        ({"tenth": Verdict(0.02, 0.96, 0.02), "most": Verdict(0.02, 0.96, 0.02)}, CONCLUSION),
        ({"tenth": Verdict(0.95, 0.04, 0.01), "most": Verdict(0.02, 0.96, 0.02)}, RESULT),
        ({"tenth": Verdict(0.45, 0.01, 0.54), "most": Verdict(0.02, 0.96, 0.02)}, CONCLUSION),
        ({"tenth": Verdict(0.95, 0.04, 0.01), "most": Verdict(0.02, 0.03, 0.95)}, None),
    ],
)
def test_the_next_best_sentence_is_quoted_if_it_alone_says_so(
    tmp_path: Path, alone: dict[str, Verdict], told: str | None
) -> None:
    class Split(Echo):
        """For the claim within the paper; alone, each sentence says what it is told to."""

        def read_abstracts(self, claim: str, documents: Any) -> Any:
            for one in documents:
                self.read.append(one)
                own = next(
                    (verdict for word, verdict in alone.items() if len(one.sentences) == 1 and word in one.sentences[0]), FOR
                )
                yield Reading(own, tuple(FOR for _ in one.sentences))

    silent = {"pmid": "2", "title": "Zeta and moods", "abstract": "METHODS: Adults took zeta. It was given at night."}
    papers = [
        {
            "pmid": "1",
            "title": "Zeta and blood pressure",
            "abstract": f"METHODS: Adults took zeta for a year. {RESULT} {CONCLUSION}",
        },
        silent,
        {"pmid": "3", "title": "Zeta again", "abstract": "CONCLUSIONS: Zeta lowered blood pressure."},
    ]
    turned = parse_question(QUESTION)
    assert turned is not None
    entries = list(make_index(tmp_path, papers).entries(["1", "2", "3"]))
    quotes = [one.sentence.text if one.sentence else None for one in read_findings(Split(), QUESTION, turned, entries)]
    assert quotes == [told, None, "CONCLUSIONS: Zeta lowered blood pressure."]


@pytest.mark.parametrize(
    ("within", "alone", "denies"),
    [
        (Verdict(0.1, 0.6, 0.3), Verdict(0.03, 0.07, 0.9), True),
        (Verdict(0.1, 0.6, 0.3), Verdict(0.1, 0.3, 0.6), False),
        (Verdict(0.1, 0.6, 0.3), Verdict(0.1, 0.8, 0.1), False),
        (Verdict(0.1, 0.7, 0.2), Verdict(0.03, 0.07, 0.9), False),
    ],
)
def test_a_sentence_that_clearly_denies_decides_a_paper_that_was_read_as_silent(
    tmp_path: Path, within: Verdict, alone: Verdict, denies: bool
) -> None:
    class Silent(Echo):
        def read_abstracts(self, claim: str, documents: Any) -> Any:
            for one in documents:
                yield Reading(alone if len(one.sentences) == 1 else within, tuple(within for _ in one.sentences))

    abstract = "METHODS: Adults took it. RESULTS: Adults liked it. CONCLUSIONS: Blood pressure was not lower with zeta."
    held = make_index(tmp_path, [{"pmid": "1", "title": "Zeta and blood pressure", "abstract": abstract}])
    turned = parse_question(QUESTION)
    assert turned is not None
    (found,) = read_findings(Silent(), QUESTION, turned, list(held.entries(["1"])))
    assert found.sentence is not None
    assert (found.verdict.contradict > 0.5) is denies


def test_a_sentence_is_not_quoted_for_the_opposite_of_what_it_says_alone(tmp_path: Path) -> None:
    class Turning(Echo):
        """Against the claim where it reads the paper, for it where it then reads the sentence alone."""

        def read_abstracts(self, claim: str, documents: Any) -> Any:
            verdict = FOR if self.read else AGAINST
            self.read.extend(documents)
            return iter([Reading(verdict, tuple(verdict for _ in one.sentences)) for one in documents])

    abstract = "RESULTS: Zeta lowered blood pressure. CONCLUSIONS: Zeta lowered blood pressure in most adults."
    held = make_index(tmp_path, [{"pmid": "1", "title": "Zeta and blood pressure", "abstract": abstract}])
    turned = parse_question(QUESTION)
    assert turned is not None
    (found,) = read_findings(Turning(), QUESTION, turned, list(held.entries(["1"])))
    assert (found.stance, found.sentence) == ("contradict", None)


def test_a_paper_that_is_read_against_its_own_words_is_believed_neither_way(tmp_path: Path) -> None:
    class Yes(Echo):
        def read_abstracts(self, claim: str, documents: Any) -> Any:
            for one in documents:
                yield Reading(Verdict(0.9, 0.05, 0.05), tuple(None for _ in one.sentences))

    held = make_index(
        tmp_path, [{"pmid": "1", "title": "", "abstract": "CONCLUSIONS: Zeta did not lower blood pressure in adults."}]
    )
    turned = parse_question(QUESTION)
    assert turned is not None
    (found,) = read_findings(Yes(), QUESTION, turned, list(held.entries(["1"])))
    assert found.sentence is None


def test_the_places_of_findings_are_results_and_conclusions() -> None:
    sentences = [
        "The aim of this study was to determine whether zeta lowers blood pressure.",
        "Patients were randomly assigned to zeta or placebo.",
        "Blood pressure was significantly lower with zeta (P<0.01).",
        "We conclude that zeta lowers blood pressure.",
    ]
    assert find_findings(sentences) == [2, 3]
    early = "The results show that zeta is an effective drug for most adults."
    assert find_findings([*sentences[:2], early, "Adults were seen weekly.", *sentences[2:]])[0] == 2
    assert find_findings([]) == []


def test_verdicts_are_pooled_and_levelled() -> None:
    even = pool_verdicts([Verdict(0.8, 0.0, 0.2), Verdict(0.2, 0.0, 0.8)])
    assert even.support == pytest.approx(even.contradict)
    assert pool_verdicts([]).neutral == 1.0
    assert remove_leaning(even, 0.9).contradict > remove_leaning(even, 0.9).support
    back = remove_leaning(remove_leaning(even, 0.9), -0.9)
    assert (back.support, back.contradict) == pytest.approx((even.support, even.contradict))


def reading_answerer(index: Index) -> Answerer:
    """Our own variant with a fake that reads papers, so near that nothing found is left out for being far off."""
    lead = load_answer_config("counterpoint").lead
    assert lead is not None
    made = make_answerer(index, lead={**lead.model_dump(), "near": 0.0})
    made.models.judges["stance"] = Echo()
    return made


def answered(index: Index, question: str = QUESTION) -> Answer:
    return reading_answerer(index).answer(Topic("7", question))


def test_an_answer_begins_with_its_lead_and_counts_no_mice_and_no_other_drug(index: Index) -> None:
    answer = answered(index)
    assert answer.lead is not None
    assert answer.lead.verdict == "mixed"
    assert [one.document.pmid for one in (*answer.lead.supporting, *answer.lead.contradicting)] == ["1", "2"]
    assert answer.sentences[0].text.startswith("Mixed: 1 paper (a randomised trial) finds that zeta lowers blood pressure")
    assert {c.document.pmid for s in answer.sentences for c in s.citations} == {"1", "2"}
    # The answer leads with what paper 2 did not find: to that sentence the trial that did is a contradiction.
    assert [(one.evidence.document.pmid, one.evidence.stance) for one in answer.conflicts] == [("1", "contradict")]
    verdict = answer.conflicts[0].evidence.verdict
    assert verdict is not None
    assert verdict.contradict > verdict.support
    assert verdict.label == "contradict"
    assert min(len(one.citations) for one in answer.sentences) >= 1
    assert answer.words <= 250


def test_only_papers_on_the_question_are_read(index: Index) -> None:
    answerer = reading_answerer(index)
    reader = answerer.models.judges["stance"]
    assert isinstance(reader, Echo)
    answerer.answer(Topic("7", QUESTION))
    read = " ".join(text for one in reader.read for text in one.sentences)
    assert "Zeta lowers blood pressure in most adults." in read
    assert "Eta" not in read
    assert "mice" not in read


def test_of_two_subjects_either_is_enough(index: Index) -> None:
    answer = answered(index, "Does zeta or chlorophenothiazole lower blood pressure?")
    assert answer.lead is not None
    assert {one.document.pmid for one in (*answer.lead.supporting, *answer.lead.contradicting)} == {"1", "2"}
    kinds = list_alternatives("nasal or oral drops"), list_alternatives("zeta, eta or vitamin C"), list_alternatives("zeta")
    assert kinds == (["nasal drops", "oral drops"], ["zeta", "eta", "vitamin C"], ["zeta"])


def test_what_does_better_than_the_subject_takes_no_side(tmp_path: Path) -> None:
    abstract = "CONCLUSIONS: Eta does not cost much, tastes well and is more effective than zeta for blood pressure."
    assert told_of(tmp_path, abstract, AGAINST) is None


def test_papers_on_other_people_are_in_no_conflict(index: Index) -> None:
    adults = evidence("1", "support", 0.9, "Zeta in adults: a randomised trial")
    children = evidence("2", "contradict", 0.8, "Zeta in children: a randomised trial")
    turned = parse_question(QUESTION)
    assert turned is not None
    for other, conflicts in ((children, 0), (replace(children, document=adults.document), 1)):
        papers = weigh_papers([adults, other], frozenset(), step())
        studied = Studied(turned, papers, make_lead(turned, papers, step()))
        lead = write_lead_sentence(QUESTION, studied, 3)
        assert lead is not None
        assert len(find_conflicts_between_sides(studied, [lead])) == conflicts


def test_what_was_checked_of_a_citation_is_said(index: Index) -> None:
    answer = answered(index)
    said = [describe_check(citation) for sentence in answer.sentences for citation in sentence.citations]
    assert all("stand" in one and "in the abstract; by the judge the paper, read as a whole," in one for one in said)
    first = answer.sentences[1].citations[0]
    assert "The words quoted stand in the abstract" in describe_check(first)
    moved = replace(first, sentence=replace(first.sentence, start=first.sentence.start + 1))
    assert describe_check(moved).startswith("The sentence was not found in the abstract")


def test_citations_are_numbered_in_order_of_appearance(index: Index) -> None:
    answer = answered(index)
    numbers = list(numbers_of(answer).values())
    assert numbers == sorted(numbers)
    assert "[1, 2]" in running_text(answer)
    assert running_text(answer).index("[1") < running_text(answer).index("2]")


def test_both_spellings_of_a_question_get_the_same_answer(tmp_path: Path) -> None:
    held = make_index(
        tmp_path,
        [
            {
                "pmid": "1",
                "title": "A randomised trial",
                "abstract": "CONCLUSIONS: Zeta prevents diarrhoea in most adults who travel far.",
            }
        ],
    )
    one, other = (answered(held, f"Does zeta prevent {word}?") for word in ("diarrhoea", "diarrhea"))
    assert one.lead is not None
    assert other.lead is not None
    assert (one.outcome, one.lead.verdict, one.context) == (other.outcome, other.lead.verdict, other.context)
    assert "diarrhoea" in one.sentences[0].text
    assert "diarrhea" in other.sentences[0].text


PAIRS = [
    ("Does ginger ease nausea in anaemic women?", "Does ginger ease nausea in anemic women?"),
    ("Do antibiotics shorten diarrhoea in children?", "Do antibiotics shorten diarrhea in children?"),
    ("Does surgery prevent oesophageal cancer?", "Does surgery prevent esophageal cancer?"),
    ("Does aspirin reduce the risk of ischaemic stroke?", "Does aspirin reduce the risk of ischemic stroke?"),
    ("Do statins cause haemorrhage?", "Do statins cause hemorrhage?"),
    ("Does oestrogen protect women from heart disease?", "Does estrogen protect women from heart disease?"),
    ("Does epidural anaesthesia prolong labour?", "Does epidural anesthesia prolong labor?"),
    ("Do diuretics reduce oedema?", "Do diuretics reduce edema?"),
    ("Does fibre lower cholesterol?", "Does fiber lower cholesterol?"),
    ("Is smoking linked to leukaemia?", "Is smoking linked to leukemia?"),
    ("Does chemotherapy shrink tumours?", "Does chemotherapy shrink tumors?"),
    ("Does folic acid protect the foetus?", "Does folic acid protect the fetus?"),
    ("Does it improve behaviour in paediatric patients?", "Does it improve behavior in pediatric patients?"),
    ("Does hypoglycaemia harm the brain?", "Does hypoglycemia harm the brain?"),
    ("Does salbutamol help in dyspnoea?", "Does salbutamol help in dyspnea?"),
    ("Does sulphasalazine help in colitis?", "Does sulfasalazine help in colitis?"),
    ("Does paracetamol help after a caesarean birth?", "Does paracetamol help after a cesarean birth?"),
    ("Do orthopaedic implants fail in haemophilia?", "Do orthopedic implants fail in hemophilia?"),
    ("Does exercise normalise haemoglobin?", "Does exercise normalize hemoglobin?"),
    ("Does stopping smoking reduce apnoea?", "Does stopping smoking reduce apnea?"),
]


@pytest.mark.parametrize(("british", "american"), PAIRS)
def test_a_question_is_read_the_same_in_either_spelling(
    index: Index, british: str, american: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Claim] = []

    def ground(self: Grounder, claim: Claim, only: Any) -> Grounding:
        asked.append(claim)
        return Grounding(claim, (), (), checked={})

    monkeypatch.setattr(Grounder, "ground", ground)
    grounder = reading_answerer(index).grounder
    assert grounder is not None
    leads = Leads(grounder, step())
    for question in (british, american):
        studied = leads.of(question)
        assert studied is not None
        assert studied.asked == parse_question(question), "shown is what was asked"
    one, other = asked
    assert one == other


def test_what_was_not_studied_is_declined_with_the_nearest_papers(index: Index) -> None:
    answer = answered(index, "Does theta lower blood pressure?")
    assert (answer.outcome, answer.sentences, answer.lead) == ("too little", (), None)
    assert answer.note.startswith("Not studied here, going by the papers' words: none of the ")
    assert "whether theta lowers blood pressure." in answer.note
    assert "Nearest papers: “" in answer.note


def test_the_lead_comes_over_the_wire(index: Index) -> None:
    answerer = reading_answerer(index)
    body = AnswerResponse.of(answerer.answer(Topic("7", QUESTION)), answerer).model_dump(mode="json")
    assert body["lead"]["verdict"] == "mixed"
    assert body["lead"]["word"] in {"sure", "probable", "possible"}
    assert [one["study"] for one in body["lead"]["supporting"]] == ["a randomised trial"]
    assert [one["number"] for one in body["documents"]] == list(range(1, len(body["documents"]) + 1))
