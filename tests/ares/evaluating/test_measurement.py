import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairspace.ares.evaluating.evaluate import Evaluation, evaluate, write_measurement
from fairspace.ares.evaluating.measurement import FILE, model_sha256, read_measurement
from fairspace.builders.errors import BuildError


@pytest.fixture(scope="module")
def model(tiny_ares: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(tiny_ares, tmp_path_factory.mktemp("measured") / "ares"))


@pytest.fixture(scope="module")
def found(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    return evaluate(model, "drawn:60", tmp_path_factory.mktemp("out"), device="cpu")


def test_what_was_measured_is_read_again_with_its_counts(model: Path, found: Evaluation) -> None:
    written = write_measurement(model, found, "2026-05-01")
    read = read_measurement(model)
    assert read == written
    assert read.sha256 == written.sha256
    assert read.date == "2026-05-01"
    assert read.data.revision == "drawn:60, seed 0"
    assert read.model.sha256 == model_sha256(model)
    for name, attribute in read.attributes.items():
        counts = attribute.overall
        assert counts.matrix == found.attributes[name].overall.matrix
        assert sum(map(sum, counts.matrix)) + sum(counts.abstained) == 60
        for group in attribute.groups.values():
            assert sum(sum(map(sum, part.matrix)) + sum(part.abstained) for part in group.values()) == 60
    assert "groups" in json.loads((model / FILE).read_text("utf-8"))["attributes"]["age"]


def test_another_model_s_measurement_is_refused(model: Path, found: Evaluation, tmp_path: Path) -> None:
    write_measurement(model, found, "2026-05-01")
    other = Path(shutil.copytree(model, tmp_path / "other"))
    config = json.loads((other / "config.json").read_text("utf-8"))
    (other / "config.json").write_text(json.dumps(config | {"escalation": 0.1}), encoding="utf-8")
    with pytest.raises(BuildError, match=r"MEASUREMENT_INVALID.*measurement of"):
        read_measurement(other)
    with pytest.raises(BuildError, match=r"MEASUREMENT_INVALID.*an evaluation of"):
        write_measurement(other, found, "2026-05-01")


def set_in(data: Any, *path: Any, value: Any) -> None:
    for key in path[:-1]:
        data = data[key]
    data[path[-1]] = value


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda d: set_in(d, "attributes", "gender", "overall", "matrix", 0, 0, value=-1), "greater than or equal"),
        (lambda d: set_in(d, "attributes", "gender", "overall", "matrix", value=[[1]]), "2 by 2"),
        (lambda d: set_in(d, "attributes", "gender", "overall", "abstained", value=[0]), "2 by 2"),
        (lambda d: set_in(d, "attributes", "age", "overall", "matrix", value=[[0] * 3] * 3), "more images"),
        (lambda d: set_in(d, "attributes", "gender", "labels", value=["male", "female"]), "labels of"),
        (lambda d: d["attributes"].pop("age"), "attributes"),
        (lambda d: set_in(d, "date", value="yesterday"), "date|isoformat"),
        (lambda d: set_in(d, "date", value="2026-5-1"), "date|isoformat"),
        (lambda d: set_in(d, "model", "sha256", value="ab"), "pattern"),
        (lambda d: set_in(d, "note", value="x"), "note"),
        (lambda d: d.pop("data"), "data"),
    ],
)
def test_a_measurement_that_breaks_its_schema_is_refused(
    model: Path, found: Evaluation, spoil: Callable[[Any], object], said: str
) -> None:
    write_measurement(model, found, "2026-05-01")
    data = json.loads((model / FILE).read_text("utf-8"))
    spoil(data)
    (model / FILE).write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(BuildError, match=rf"(?i)MEASUREMENT_INVALID.*({said})"):
        read_measurement(model)


@pytest.mark.parametrize("text", [None, "", "{", "[]", "null"])
def test_no_measurement_is_said_so(model: Path, text: str | None) -> None:
    (model / FILE).unlink(missing_ok=True)
    if text is not None:
        (model / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(BuildError, match="MEASUREMENT_INVALID"):
        read_measurement(model)
