from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairspace.ares.classifying_ares import ClassifiedInput
from fairspace.ares.deciding_ares import Answer
from fairspace.ares.evaluating.measurement import MeasuredGate, Measurement
from fairspace.ares.evaluating.nonfaces import measure_gate, rows
from fairspace.ares.fates_ares import Fate
from fairspace.ares.training.nonfaces import KINDS

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
    from fairspace.cards.model_card import model_card
    from tests.ares.released import released

    card = model_card(released(trained_ares, tmp_path), "fairspace/ares")
    part = card.split("### What is no face")[1].split("## Perceived")[0]
    assert all(kind.replace("_", " ") in part for kind in KINDS)
    assert "| ovals (held out) | 20 |" in part
    assert "all kinds trained on" in part
