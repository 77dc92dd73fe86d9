from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fairspace.ares.gate_ares import OUTCOMES
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.config import CONFIGS, read_config
from fairspace.ares.training.data import DrawnData, DrawnFaces
from fairspace.ares.training.nonfaces import KINDS, nonface
from fairspace.ares.training.routers import KEPT, kept_cut, train_gate
from fairspace.builders.errors import BuildError

FACES = np.random.RandomState(0).randint(0, 256, (5, 48, 48, 3)).astype(np.uint8)


def test_the_cut_is_the_highest_that_keeps_99_of_100_faces() -> None:
    """The tenth of 999 probabilities; of 99 the first, and of fewer the first as well."""
    chances = np.random.RandomState(0).permutation(np.arange(999) / 1000)
    assert kept_cut(chances) == 0.009
    assert kept_cut(chances[chances >= 0.9]) == 0.9
    assert kept_cut(np.array([0.3, 0.9])) == 0.3


@pytest.mark.parametrize("faces", [99, 250, 1000])
def test_fresh_faces_are_kept_as_often_as_promised(faces: int) -> None:
    """The share refused, on average over 4 000 calibration sets, within four standard errors of k / (n + 1)."""
    random = np.random.RandomState(0)
    refused = np.array([kept_cut(random.random_sample(faces)) for _ in range(4000)])
    expected = int((faces + 1) / 100) / (faces + 1)
    assert expected <= 1 - KEPT + 1e-12
    assert abs(refused.mean() - expected) < 4 * refused.std() / 4000**0.5


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
def test_faces_pass_and_non_faces_do_not_of_trained_kinds_or_others(trained_ares: Path) -> None:
    """300 faces and 300 of each sort of non-faces; bounds are three standard errors beyond 99 % and 1 %."""
    model = AresModel.from_pretrained(trained_ares).eval()
    gate = model.config.gate
    assert gate["trained_on"] == [kind for kind, about in KINDS.items() if not about.held_out]
    assert set(gate["answered"]) == set(KINDS)
    faces = DrawnFaces("fresh", 300, model.config.tasks, model.config.image_size, 0).pixels.permute(0, 2, 3, 1).numpy()
    kept = np.mean([each[0].status == "ok" for each in model.classify(faces)])
    assert kept >= 0.972
    for held_out in (False, True):
        kinds = [kind for kind in KINDS if KINDS[kind].held_out == held_out]
        shown = [nonface(kind, "fresh", number, faces) for kind in kinds for number in range(-(-300 // len(kinds)))]
        assert np.mean([each[0].status == "ok" for each in model.classify(shown)]) <= 0.028


def test_a_kind_that_is_left_out_of_the_training_must_be_one(tiny_ares: Path) -> None:
    config = read_config(CONFIGS / "tiny.toml")
    assert config.gate is not None
    changed = config.model_copy(update={"gate": config.gate.model_copy(update={"without": ["cats"]})})
    model = AresModel.from_pretrained(tiny_ares)
    data: Any = DrawnData(60, model.config.tasks, model.config.image_size, 0)
    run: Any = SimpleNamespace(device="cpu")
    with pytest.raises(BuildError, match=r"CONFIG_INVALID at gate.without: cats"):
        train_gate(model, changed, data, run)
