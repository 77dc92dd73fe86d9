import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairspace.ares.classifying_ares import ClassifiedInput
from fairspace.ares.deciding_ares import Answer
from fairspace.ares.evaluating.evaluate import Evaluation, evaluate, write_measurement
from fairspace.ares.evaluating.measurement import FILE, MeasuredGate, Measurement, model_sha256, read_measurement
from fairspace.ares.evaluating.nonfaces import measure_gate, rows
from fairspace.ares.fates_ares import Fate
from fairspace.ares.training.nonfaces import KINDS
from fairspace.builders.errors import BuildError
from fairspace.cards.model_card import model_card
from tests.ares.released import released


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


FACES = np.full((4, 32, 32, 3), 200, np.uint8)


def label(images: Iterable[Any]) -> Iterator[ClassifiedInput]:
    """Labels images of one colour; sees several faces in dark images and none in others."""
    for image in images:
        several = Answer("abstained", "several_faces", {"gender": ""})
        dark = several if image.mean() < 100 else Answer("no_face", "no_face", faces=0)
        yield ClassifiedInput(Fate("ok"), [Answer("ok", "", {"gender": "male"}) if image.std() == 0 else dark])


def test_outcomes_are_counted_per_kind_and_together() -> None:
    gate = measure_gate(label, FACES, ["noise"], 3)
    assert gate.faces == {"ok": 4}
    assert gate.kinds["upside_down"] == {"ok": 3}
    assert "ok" not in gate.kinds["noise"]
    assert "noise" not in gate.held_out
    by = {shown: (share, words) for shown, _, share, words in rows(gate)}
    assert (by["faces"][0].right, by["faces"][0].images) == (4, 4)
    share, words = by["all kinds held out"]
    assert share.images == 3 * (len(KINDS) - 1) == sum(words.values())
    assert share.right == sum(gate.kinds[kind].get("ok", 0) for kind in gate.held_out)
    assert share.ends is not None
    assert share.ends[1] < share.right / share.images < share.ends[2]


def test_a_measurement_without_a_gate_has_the_hash_that_it_had_before_there_were_gates() -> None:
    sha256, counts = "0" * 64, {"matrix": [[1, 0], [0, 1]], "abstained": [0, 0]}
    error = {"labels": ["female", "male"], "overall": counts, "groups": {}, "calibration_error": None}
    document = {
        "format": 1,
        "date": "2026-05-01",
        "model": {"name": "ares", "sha256": sha256, "arbiter": ""},
        "data": {"name": "faces", "revision": "1", "sha256": sha256, "images": {"gender": 2}},
        "attributes": {"gender": error},
    }
    before = Measurement.model_validate(document)
    assert before.sha256 == "3c9a8fcf19621051c3dc1e492c1f440dfef21e87f44e0ff277521727525c799c"
    gate = MeasuredGate(faces={"ok": 2}, kinds={"noise": {"no_face": 2}}, held_out=[])
    assert Measurement.model_validate({**document, "gate": gate}).sha256 != before.sha256


@pytest.mark.slow
def test_the_card_prints_the_measured_error_of_the_gate(trained_ares: Path, tmp_path: Path) -> None:
    card = model_card(released(trained_ares, tmp_path), "fairspace/ares")
    part = card.split("### What is no face")[1].split("## Perceived")[0]
    assert all(kind.replace("_", " ") in part for kind in KINDS)
    assert "| ovals (held out) | 20 |" in part
    assert "all kinds trained on" in part
