"""Who judges citations: the profile's stance model and, where the profile's judge is a language model, that model too."""

from __future__ import annotations

from dataclasses import dataclass

from eval.answers.report import NamedJudge
from nli.judges.chat import ChatJudge
from nli.judges.judge import CachingJudge, Judge
from retrieval.runtime.chat import UsageCounter
from service.configuration.config import Profile, load_profile
from service.configuration.defaults import PROFILE
from service.configuration.models import load_judge

JUDGE = "sentences"
"""The judge's name in every profile."""
STANCE, LANGUAGE = "stance", "language model"


@dataclass(frozen=True, slots=True)
class Judges:
    """The judges by key, what a report says about each, and what the language model was asked, where one of them is one."""

    by_key: dict[str, Judge]
    named: tuple[NamedJudge, ...]
    usage: UsageCounter | None = None


def load_judges(profile: Profile) -> Judges:
    """The profile's judge. A language model is asked only where the shipped stance model is undecided (nli.judges.chat), so the
    stance model's own figures are reported beside it."""
    judge = load_judge(JUDGE, profile)
    if not isinstance(judge, ChatJudge):
        return Judges({STANCE: CachingJudge(judge)}, (NamedJudge(STANCE, judge.name),))
    small = load_judge(JUDGE, load_profile(PROFILE))
    return Judges(
        {STANCE: CachingJudge(small), LANGUAGE: CachingJudge(judge)},
        (NamedJudge(STANCE, small.name), NamedJudge(LANGUAGE, judge.name, prefix="llm.", title="LLM: ")),
        judge.usage,
    )
