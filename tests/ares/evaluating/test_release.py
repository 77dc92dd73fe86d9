import json
import pickle
import shutil
from pathlib import Path

import pytest

from fairspace.ares.evaluating.measurement import code_files, read_measurement, release_files
from fairspace.builders.errors import BuildError
from fairspace.builders.publishing.artifacts import choose
from fairspace.cards.dataset_card import front_matter
from fairspace.cards.model_card import model_card
from tests.ares.released import released


@pytest.fixture(scope="module")
def model(tiny_ares: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return released(tiny_ares, tmp_path_factory.mktemp("release"))


@pytest.fixture
def copy(model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model, tmp_path / "ares"))


def test_weights_json_code_and_card_are_published(model: Path, tmp_path: Path) -> None:
    (artifact,) = choose(["ares"], tmp_path, model, "fairspace", allow_sample=False)
    files = artifact.files(tmp_path)
    assert {Path(name).suffix for name in files} == {".safetensors", ".json", ".py", ".md"}
    assert {"config.json", "model.safetensors", "measurement.json", "modeling_ares.py"} <= set(files)
    assert (artifact.repo.id, artifact.repo.kind, artifact.repo.gated) == ("fairspace/ares", "model", False)


def test_code_comes_from_this_software_and_never_from_the_folder(copy: Path) -> None:
    (copy / "modeling_ares.py").write_text("raise SystemExit('another code')", encoding="utf-8")
    files = release_files(copy)
    assert files["modeling_ares.py"] in code_files()
    for file in code_files():
        text = file.read_text(encoding="utf-8")
        for package in ("ares", "builders", "submissions", "metrics", "cards"):
            assert f"from {package}" not in text, f"{file.name} could not be loaded from the Hub"
            assert f"import {package}\n" not in text


@pytest.mark.parametrize("name", ["pytorch_model.bin", "x.pt", "router.pkl", "router.joblib", "setup.py", "notes.txt"])
def test_what_could_run_when_it_is_loaded_is_refused(copy: Path, name: str) -> None:
    (copy / name).write_bytes(pickle.dumps({}))
    with pytest.raises(BuildError, match=rf"MODEL_UNSAFE.*{name}"):
        release_files(copy)


def test_a_configuration_that_loads_other_code_is_refused(copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text("utf-8"))
    pipelines = {"image-classification": {"impl": "somebody/else--pipeline.Pipeline", "pt": ["AutoModel"]}}
    auto_map = config["auto_map"] | {"AutoModel": "somebody/else--modeling_ares.AresModel"}
    for change in ({"auto_map": auto_map}, {"custom_pipelines": pipelines}):
        (copy / "config.json").write_text(json.dumps(config | change), encoding="utf-8")
        with pytest.raises(BuildError, match=r"MODEL_UNSAFE.*somebody/else"):
            release_files(copy)


@pytest.mark.parametrize("name", ["config.json", "preprocessor_config.json", "calibration.json", "model.safetensors"])
def test_an_incomplete_model_is_refused(copy: Path, tmp_path: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(BuildError, match="BUILD_INCOMPLETE"):
        choose(["ares"], tmp_path, copy, "fairspace", allow_sample=False)


def test_without_its_error_nothing_is_published(copy: Path, tmp_path: Path) -> None:
    (copy / "measurement.json").unlink()
    with pytest.raises(BuildError, match="MEASUREMENT_INVALID"):
        choose(["ares"], tmp_path, copy, "fairspace", allow_sample=False)


def test_the_card_prints_the_measured_error_of_every_attribute_and_group(model: Path) -> None:
    card = model_card(model, "fairspace/ares")
    measurement = read_measurement(model)
    for name, found in measurement.attributes.items():
        assert f"### {name}" in card
        for label, row in zip(found.labels, found.overall.matrix, strict=True):
            assert f"| {label} | {' | '.join(map(str, row))} | 0 |" in card
        for group, parts in found.groups.items():
            for label in parts:
                assert f"| {group} | {label} | " in card
    assert measurement.date in card
    assert measurement.data.sha256[:16] in card
    front = front_matter(card, "card")
    assert front["library_name"] == "transformers"
    assert front["pipeline_tag"] == "image-classification"
    for heading in ("Forbidden use", "Limits", "How to cite", "Perceived, not true"):
        assert f"## {heading}" in card


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ({"data": "drawn:65", "sample": True}, "trained on drawn:65"),
        ({"data": "iris_classifier_25@0f1e"}, "trained on iris_classifier_25@0f1e"),
        ({"data": "faces", "sample": False, "added": [{"data": "drawn:65", "sample": True}]}, "trained on drawn:65"),
        (None, "data that nothing tells"),
    ],
    ids=["drawings", "earlier version", "added task", "no report"],
)
def test_a_model_that_was_trained_on_a_sample_gets_no_tag_of_a_release(
    copy: Path, tmp_path: Path, report: dict[str, object] | None, said: str
) -> None:
    if report is not None:
        (copy / "training.json").write_text(json.dumps(report), encoding="utf-8")
    with pytest.raises(BuildError, match=rf"TAG_OF_SAMPLE.*{said}.*--tag sample-inaugural"):
        choose(["ares"], tmp_path, copy, "fairspace", False, "inaugural")
    assert choose(["ares"], tmp_path, copy, "fairspace", False, "sample-inaugural")
    assert choose(["ares"], tmp_path, copy, "fairspace", False)
    (copy / "training.json").write_text(json.dumps({"data": "faces", "sample": False}), encoding="utf-8")
    for name, revision in (("drawn faces", "drawn:60, seed 0"), ("iris_classifier_25", "0f1e (sample)")):
        measured_on(copy, name, revision)
        with pytest.raises(BuildError, match=rf"TAG_OF_SAMPLE.*measured on {name}.*--tag sample-inaugural"):
            choose(["ares"], tmp_path, copy, "fairspace", False, "inaugural")
        assert choose(["ares"], tmp_path, copy, "fairspace", False)
    measured_on(copy, "iris_classifier_25", "0f1e")
    assert choose(["ares"], tmp_path, copy, "fairspace", False, "inaugural")


def measured_on(model: Path, name: str, revision: str) -> None:
    data = json.loads((model / "measurement.json").read_text("utf-8"))
    data["data"] |= {"name": name, "revision": revision}
    (model / "measurement.json").write_text(json.dumps(data), encoding="utf-8")


def test_a_sample_and_a_tag_of_a_release_are_refused_together_whatever_is_published(
    model: Path, tmp_path: Path
) -> None:
    for what in ("ares", "metrics", "space", "all"):
        with pytest.raises(BuildError, match=r"TAG_OF_SAMPLE.*leave out --allow-sample"):
            choose([what], tmp_path, model, "fairspace", True, "inaugural")
    assert choose(["ares"], tmp_path, model, "fairspace", True, "sample-inaugural")
