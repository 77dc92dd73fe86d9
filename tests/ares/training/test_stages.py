import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fairspace.ares.configuration_ares import DECISIONS
from fairspace.ares.evaluating.measurement import code_files
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel, escalation_file, expert_name
from fairspace.ares.training.stages import CALIBRATION, METRICS, REPORT, train
from fairspace.builders.errors import BuildError
from tests.ares.quick import ACCESSORIES, quick_config
from tests.builders.builds import Killed, files

DATA = "drawn:120"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return quick_config(tmp_path_factory.mktemp("config") / "quick.toml")


@pytest.fixture(scope="module")
def trained(config: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained")
    train(config, DATA, out)
    return out


def test_a_trained_folder_is_a_model_without_pickles(trained: Path) -> None:
    model = AresModel.from_pretrained(trained).eval()
    assert set(model.escalation) == {"age_gender"}
    assert model.config.decisions == DECISIONS
    assert 0.1 <= model.config.task("skin_tone")["slope"] <= 100
    assert AresImageProcessor.from_pretrained(trained).image_size == 32
    names = {file.name for file in trained.iterdir()}
    assert {REPORT, METRICS, CALIBRATION, "model.safetensors"} <= names
    assert {Path(name).suffix for name in names} == {".json", ".jsonl", ".safetensors", ".py"}
    assert {file.name for file in code_files()} <= names
    answer = model.answers(model.decide(torch.rand(2, 3, 32, 32)))[0]
    assert set(answer.labels) == {"age", "gender", "skin_tone"}


def test_the_report_says_what_was_trained_on_what(trained: Path) -> None:
    report = json.loads((trained / REPORT).read_text())
    assert {"config_sha256", "data_sha256", "seed", "versions", "threads", "upstream"} <= set(report)
    assert report["upstream"] == {}
    stages = [expert_name(t, k) for t in ("age_gender", "skin_tone") for k in ("clip", "dinov2", "convnext")]
    stages += ["fusion_skin_tone", "fast", "escalation_age_gender"]
    assert list(report["stages"]) == stages
    for task, attributes in (("age_gender", {"age": 3, "gender": 2}), ("skin_tone", {"skin_tone": 3})):
        test = report["test"][task]
        assert test["images"] == sum(test["routes"].values()) == 60
        for attribute, size in attributes.items():
            matrix = np.array(test["attributes"][attribute]["confusion"])
            assert matrix.shape == (size, size)
            assert matrix.sum() == 60
            assert np.trace(matrix) / 60 == pytest.approx(test["attributes"][attribute]["accuracy"])


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_bytes(config: Path, trained: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed"
    for kill in (2, 9, 14, 17):

        def stop(event: Mapping[str, Any], kill: int = kill) -> None:
            if len((out / ".training" / METRICS).read_text().splitlines()) >= kill:
                raise Killed

        with pytest.raises(Killed):
            train(config, DATA, out, progress=stop)
    assert not (out / REPORT).exists()
    train(config, DATA, out)
    assert files(out) == files(trained)


def test_a_finished_folder_is_taken_as_it_is_and_another_run_refused(
    config: Path, trained: Path, tmp_path: Path
) -> None:
    before = files(trained)

    def fail(event: Mapping[str, Any]) -> None:
        raise AssertionError(event)

    assert train(config, DATA, trained, progress=fail)["name"] == "quick"
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        train(config, "drawn:180", trained)
    assert files(trained) == before
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        train(config, DATA, tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["notes.txt"]


def test_an_added_attribute_leaves_all_others_as_they_are(trained: Path, tmp_path: Path) -> None:
    config = quick_config(tmp_path / "accessories.toml", ("seed = 0", "seed = 5"), tasks=ACCESSORIES)
    before = files(trained)
    report = train(config, "drawn:60", tmp_path / "wider", base=trained)
    assert files(trained) == before
    old, new = AresModel.from_pretrained(trained).eval(), AresModel.from_pretrained(tmp_path / "wider").eval()
    weights, wider = old.state_dict(), new.state_dict()
    assert all(torch.equal(weights[name], wider[name]) for name in weights)
    assert all("accessories" in name for name in set(wider) - set(weights))
    pixels = torch.rand(21, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    first, second = old.decide(pixels), new.decide(pixels)
    for name, found in first.items():
        assert np.array_equal(found.label, second[name].label)
        assert np.array_equal(found.probability, second[name].probability)
        assert np.array_equal(found.value, second[name].value, equal_nan=True)
        assert found.route == second[name].route
    file = escalation_file("age_gender")
    assert files(trained)[file] == files(tmp_path / "wider")[file]
    assert set(second["accessories"].label) <= {0, 1}
    assert "accessories" in new.escalation
    assert [task["name"] for task in new.config.tasks] == ["age_gender", "skin_tone", "accessories"]
    assert report["added"][0]["test"]["accessories"]["images"] == 60
    calibration = json.loads((tmp_path / "wider" / CALIBRATION).read_text())["tasks"]
    assert list(calibration) == ["age_gender", "skin_tone", "accessories"]
    assert calibration["skin_tone"] == json.loads((trained / CALIBRATION).read_text())["tasks"]["skin_tone"]


def test_a_configuration_that_does_not_fit_the_model_is_refused(trained: Path, config: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"CONFIG_INVALID.*age_gender, which the model has"):
        train(config, DATA, tmp_path / "out", base=trained)
    other = quick_config(tmp_path / "other.toml", ("shared = 1", "shared = 0"), tasks=ACCESSORIES)
    with pytest.raises(BuildError, match=r"CONFIG_INVALID.*experts.dinov2.shared"):
        train(other, DATA, tmp_path / "out", base=trained)
