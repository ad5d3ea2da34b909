"""Configurations and profiles: the shipped ones load, a wrong one is told in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.core.errors import BadConfig
from service.configuration.config import load_config, load_profile, shipped
from service.configuration.models import load_models


@pytest.mark.parametrize("name", shipped("configs"))
def test_shipped_configurations_load(name: str) -> None:
    assert load_config(name).name == name


@pytest.mark.parametrize("name", shipped("configs.profiles"))
def test_shipped_profiles_load(name: str) -> None:
    assert load_profile(name).name == name


def test_v5_is_the_papers() -> None:
    config = load_config("v5")
    assert (config.support.retrieve.k, config.contradict.retrieve.k) == (100, 1000)
    assert config.contradict.filter == "negex"
    assert config.contradict.select.rule == "first"
    assert (config.support.select.n, config.contradict.select.n) == (3, 3)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("k: 1000", "depth: 1000"), "contradict.retrieve"),
        (("filter: negex", "fliter: negex"), "unknown key 'fliter' in contradict; the keys known there are retrieve"),
        (("k: 1000", "k: many"), "contradict.retrieve.k"),
        (("rule: first", "rule: last"), "contradict.select.rule"),
        (("rule: first, label: contradict", "rule: top"), "contradict: the rules first, likeliest and penalised go by a judge"),
        (("name: v5", "nom: v5"), "name"),
        (("contradict:", "contradict: ["), "not YAML"),
    ],
)
def test_a_wrong_configuration_is_told(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    text = (Path(__file__).parents[2] / "configs" / "v5.yaml").read_text("utf-8")
    assert change[0] in text
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace(*change, 1))
    with pytest.raises(BadConfig, match=r"mine\.yaml") as error:
        load_config(str(path))
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(BadConfig, match=r"v5"):
        load_config("v6")
    with pytest.raises(BadConfig, match="embedded"):
        load_profile("big")
    with pytest.raises(BadConfig, match=r"no configuration file nowhere\.yaml"):
        load_config("nowhere.yaml")


@pytest.mark.parametrize(
    ("profile", "told"),
    [
        ("name: x\nrerankers: {}\njudges: {stance: {kind: t5}}", "no reranker called 'relevance'"),
        ("name: x\nrerankers: {relevance: {kind: best}}\njudges: {}", "known kinds are embedded"),
        ("name: x\nrerankers: {relevance: {kind: embedded, colour: red}}\njudges: {}", "unknown option 'colour'"),
        ("name: x\nmodels: {}", "unknown key 'models'"),
        ("name: x\nrerankers: {relevance: {kind: cross-encoder}}\njudges: {}", "lacks model"),
    ],
)
def test_a_wrong_profile_is_told(tmp_path: Path, profile: str, told: str) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text(profile)
    with pytest.raises(BadConfig, match=told):
        load_models(load_config("v5"), load_profile(str(path)))
