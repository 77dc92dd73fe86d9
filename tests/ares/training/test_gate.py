"""The gate keeps the share of faces that it is asked to, and refuses drawn non-faces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairspace.ares.gate_ares import OUTCOMES
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.data import DrawnFaces
from fairspace.ares.training.drawn_nonfaces import KINDS, nonface
from fairspace.ares.training.gate import KEPT, kept_cut

FACES = np.random.RandomState(0).randint(0, 256, (5, 48, 48, 3)).astype(np.uint8)


def test_the_cut_is_the_highest_that_keeps_99_of_100_faces() -> None:
    chances = np.random.RandomState(0).permutation(np.arange(1000) / 1000)
    cut = kept_cut(chances)
    assert (chances >= cut).mean() == pytest.approx(KEPT)
    assert (chances >= cut + 0.001).mean() < KEPT
    assert kept_cut(np.array([0.3, 0.9])) == 0.3


@pytest.mark.parametrize("kind", KINDS)
def test_a_non_face_follows_from_its_number_part_and_seed(kind: str) -> None:
    first = nonface(kind, "train", 3, FACES)
    assert first.shape == (48, 48, 3)
    assert first.dtype == np.uint8
    assert np.array_equal(first, nonface(kind, "train", 3, FACES))
    others = [
        nonface(kind, "train", 4, FACES),
        nonface(kind, "test", 3, FACES),
        nonface(kind, "train", 3, FACES, seed=1),
    ]
    assert not all(np.array_equal(first, other) for other in others)
    assert not any(np.array_equal(first, face) for face in FACES)
    assert KINDS[kind].outcome in OUTCOMES[1:]


@pytest.mark.slow
def test_faces_pass_and_non_faces_do_not(trained_ares: Path) -> None:
    model = AresModel.from_pretrained(trained_ares).eval()
    gate = model.config.gate
    assert gate["trained_on"] == [kind for kind, about in KINDS.items() if not about.held_out]
    assert set(gate["answered"]) == set(KINDS)
    faces = DrawnFaces("fresh", 300, model.config.tasks, model.config.image_size, 0).pixels.permute(0, 2, 3, 1).numpy()
    kept = np.mean([each[0].status == "ok" for each in model.classify(faces)])
    assert kept >= 0.96
    shown = {kind: [nonface(kind, "fresh", number, faces) for number in range(10)] for kind in KINDS}
    labelled = {
        kind: np.mean([each[0].status == "ok" for each in model.classify(images)]) for kind, images in shown.items()
    }
    assert np.mean([labelled[kind] for kind in gate["trained_on"]]) <= 0.06
    assert np.mean([share for kind, share in labelled.items() if KINDS[kind].held_out]) <= 0.25
