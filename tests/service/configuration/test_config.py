"""Configurations and profiles: the shipped ones load, a wrong one is told in one sentence."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.service.assembly import load_config
from counterpoint.service.baseline.config import BaselineConfig
from counterpoint.service.configuration.config import GroundingConfig, load_answer_config, load_profile
from counterpoint.service.configuration.files import list_shipped
from counterpoint.service.configuration.kinds import KINDS, options_of
from counterpoint.service.configuration.models import load_models


@pytest.mark.parametrize("name", list_shipped("counterpoint.configs"))
def test_shipped_configurations_load(name: str) -> None:
    assert load_config(name).name == name


def test_v5_is_the_papers() -> None:
    config = load_config("v5")
    assert isinstance(config, BaselineConfig)
    assert (config.support.retrieve.k, config.contradict.retrieve.k) == (100, 1000)
    assert config.contradict.filter == "negex"
    assert config.contradict.rule == "first"
    assert (config.support.n, config.contradict.n) == (3, 3)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("k: 1000", "depth: 1000"), "unknown key 'depth' in contradict.retrieve; the known keys are sources, k, query"),
        (("k: 1000", "k: many"), "contradict.retrieve.k should be a whole number, not the text 'many'."),
        ((", k: 1000", ""), "the key 'contradict.retrieve.k' is missing."),
        (("rule: first", "rule: top"), "contradict: the rules first and penalised need a judge"),
        (
            ("name: v5", "nom: v5"),
            "unknown key 'nom'; the known keys are name, description, budget, text_budget, contradict, support.",
        ),
        (("contradict:", "contradict: ["), "not YAML"),
    ],
)
def test_a_wrong_configuration_is_told(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    text = (Path(__file__).parents[3] / "configs" / "v5.yaml").read_text("utf-8")
    assert change[0] in text
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace(*change, 1))
    with pytest.raises(BadConfig, match=r"mine\.yaml") as error:
        load_config(str(path))
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_an_answer_asks_for_no_more_papers_than_are_read_for_a_claim(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "configs" / "answers" / "counterpoint.yaml").read_text("utf-8")
    assert "papers: 7}" in text
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace("papers: 7}", "papers: 21}"))
    with pytest.raises(BadConfig, match=r"verdict\.papers should be at most 20"):
        load_answer_config(str(path))


JUDGE = "judges: {{stance: {{kind: t5, model: m, {}}}}}"


@pytest.mark.parametrize(
    ("models", "told"),
    [
        (JUDGE.format('batch_size: "16"'), "judges.stance.batch_size should be a whole number, not the text '16'."),
        ("judges: {stance: t5}", "judges.stance should be keys and values, not the text 't5'."),
        ("judges: [t5]", "judges should be keys and values, not ['t5']."),
        (JUDGE.format("batch_size:"), "judges.stance.batch_size should be a whole number, not an empty value."),
        (JUDGE.format("precision: half"), "judges.stance.precision should be auto, float32 or bfloat16, not the text"),
        ("judges: {stance: {kind: t5}}", "the key 'judges.stance.model' is missing."),
        ("judges: {stance: {model: m}}", "the key 'judges.stance.kind' is missing; it names the kind of model."),
        (
            "rerankers: {relevance: {kind: best}}",
            "relevance has the unknown kind 'best'; known kinds are embedded, cross-encoder.",
        ),
        (
            "generators: {writer: {kind: chat, model: m, stop: END}}",
            "generators.writer.stop should be a list, not the text 'END'.",
        ),
        ("models: {}", "unknown key 'models'; the known keys are name, description, skim, rerankers,"),
    ],
)
def test_a_wrong_profile_is_told_when_it_is_read(tmp_path: Path, models: str, told: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"name: mine\n{models}\n")
    with pytest.raises(BadConfig) as error:
        load_profile(str(path))
    assert str(error.value).startswith(f"The profile {path} cannot be used: ")
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_model_that_the_profile_lacks_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("name: x\njudges: {stance: {kind: t5, model: m}}")
    with pytest.raises(BadConfig, match="The profile x has no reranker called 'relevance'; it has none"):
        load_models(load_config("v5"), load_profile(str(path)))


@pytest.mark.parametrize("name", list_shipped("counterpoint.configs.profiles"))
def test_a_profile_is_written_down_as_it_was_read(name: str) -> None:
    read = yaml.safe_load(files("counterpoint.configs.profiles").joinpath(f"{name}.yaml").read_text("utf-8"))
    written = json.loads(load_profile(name).model_dump_json())
    # As text: 120 must not become 120.0, nor the keys change places, in what runs and reports say.
    assert json.dumps({key: written[key] for key in read}) == json.dumps(read)
    assert all(not written[key] for key in written.keys() - read.keys())


@pytest.mark.parametrize(("section", "kind"), [(section, kind) for section, kinds in KINDS.items() for kind in kinds])
def test_every_kind_has_options_that_a_file_can_hold(section: str, kind: str) -> None:
    options = options_of(section, kind)
    required = {name: "m" for name, field in options.model_fields.items() if field.is_required() and name != "kind"}
    assert options.model_validate({"kind": kind, **required}).list_options() == required
    # A judge is made by the code alone, and a reranker is named; a path is text.
    assert "small" not in options.model_fields
    for name in {"folder", "reranker"} & set(options.model_fields):
        read = options.model_validate({"kind": kind, **required, name: "somewhere"})
        assert str(read.list_options()[name]) == "somewhere"


@pytest.mark.parametrize(
    ("gate", "judges"), [("relevance sentences", {"stance"}), ("sentences", {"stance", "sentences"}), ("relevance", {"stance"})]
)
def test_a_profile_without_a_small_reader_has_something_that_chooses(gate: str, judges: set[str]) -> None:
    config = load_config("counterpoint")
    assert isinstance(config, GroundingConfig)
    config = config.model_copy(update={"path": config.path.model_copy(update={"gate": gate.split()})})
    models = load_models(config, load_profile("fast"))
    assert set(models.judges) == judges and set(models.rerankers) == set(gate.split()) - {"sentences"}
