"""Routing is worth it: on hard drawn faces a trained ARES beats each of its experts and their plain vote."""

from collections.abc import Mapping, Sequence
from copy import copy
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from scipy.stats import binomtest

from fairspace.ares.deciding_ares import ABLATIONS, Observed
from fairspace.ares.evaluating.data import HeldOut, held_out
from fairspace.ares.evaluating.evaluate import (
    ROWS,
    ConfigurationOutcome,
    Remembering,
    ablations,
    configured,
    observe_all,
    open_model,
    outcome,
    routed,
)
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.data import INCOMPLETE, NOISY, SMALL, DrawnFaces, drawn_face, label_index
from fairspace.builders.drawn.swatches import SwatchPerson, draws, measure
from fairspace.builders.registry import table as printed

FACES = 1_200
Rows = NDArray[np.intp]


class Thorough:
    """A second level that a test can run: slower than the experts, and better than their vote.

    It reads the strips of a swatch; where one of the task's is missing, the experts' mean decides among what fits.
    It stands where a vision-language model would, which sees more than the experts where all is shown, and always
    answers. Abstaining is tested in `test_deciding`.
    """

    name = "thorough"

    def __init__(self, model: AresModel) -> None:
        self.model = model

    def answer(self, images: Sequence[Image.Image], task: Mapping[str, Any]) -> list[str | None]:
        """The labels with the largest mean probability among those that the strips leave."""
        size = (self.model.config.image_size,) * 2
        squares = np.stack([np.asarray(image.convert("RGB").resize(size)) for image in images])
        pixels = torch.from_numpy(squares).permute(0, 3, 1, 2).float() / 255
        likely = self.model.observe(pixels, everything=True)[task["name"]].probabilities.mean(axis=1)
        shown = [people[0] if len(people) == 1 else SwatchPerson() for people in map(measure, images)]
        return [
            task["labels"][np.where(fits(person, task), row, -1).argmax()]
            for person, row in zip(shown, likely, strict=True)
        ]


def fits(person: SwatchPerson, task: Mapping[str, Any]) -> list[bool]:
    """Whether a label of the task contradicts nothing that was read."""
    read = [getattr(person, name) for name in task["attributes"]]
    return [
        all(strip in ("", label) for strip, label in zip(read, labels, strict=True)) for labels in label_index(task)
    ]


def is_hard(part: str, number: int) -> bool:
    """Whether a drawn face is incomplete, small or noisy: what `drawn_face` draws first."""
    random = draws("drawn face", 0, part, number)
    return bool((random.random_sample(3) < (INCOMPLETE, SMALL, NOISY)).any())


def hard(part: str) -> Rows:
    """Which of the first faces of a part are hard."""
    return np.flatnonzero([is_hard(part, number) for number in range(FACES)])


def first_faces(model: AresModel, part: str) -> DrawnFaces:
    """Of a part that no training drew."""
    return DrawnFaces(part, FACES, model.config.tasks, model.config.image_size, 0)


def some(faces: DrawnFaces, rows: Rows) -> DrawnFaces:
    """The faces of these rows."""
    kept = copy(faces)
    kept.pixels = faces.pixels[torch.as_tensor(rows)]
    kept.labels = {task: labels[rows] for task, labels in faces.labels.items()}
    return kept


def measured(model: AresModel, faces: DrawnFaces) -> HeldOut:
    """Faces on which all tasks are measured."""
    return held_out(faces, model.config.tasks, model.config.tasks)


def test_hard_faces_are_those_that_are_drawn_so() -> None:
    chosen = [number for number in range(60) if is_hard("test", number)]
    incomplete = [number for number in range(60) if drawn_face("test", number).incomplete]
    assert 10 < len(chosen) < 40
    assert set(incomplete) < set(chosen)


@pytest.fixture(scope="module")
def model(trained_ares: Path) -> AresModel:
    opened = open_model(trained_ares)
    opened.config.gate, opened.gate = {}, None  # routing is compared on all faces
    opened.arbiter = Remembering(Thorough(opened))
    return opened


@pytest.fixture(scope="module")
def thresholds(model: AresModel) -> dict[str, float]:
    """The most accurate ones on a calibration set: none of its faces is in the test set, or trained anything."""
    images = measured(model, some(first_faces(model, "thresholds"), hard("thresholds")))
    seen, found = observe_all(model, images, 96), []
    for fast, escalation in product((0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0), np.linspace(0, 1, 11)):
        chosen = {"fast_confidence": fast, "escalation": float(escalation)}
        with configured(model, **chosen):
            each = outcome(model, [images], [seen])
        found.append((accuracy(each), -(each.experts or 0.0) - (each.arbiter or 0.0), chosen))
    return max(found, key=lambda each: each[:2])[2]


@pytest.fixture(scope="module")
def faces(model: AresModel) -> DrawnFaces:
    """Held-out faces, hard or not."""
    return first_faces(model, "test")


@pytest.fixture(scope="module")
def seen(model: AresModel, faces: DrawnFaces) -> dict[str, Observed]:
    """What all experts say of them."""
    return observe_all(model, measured(model, faces), 96)


@pytest.fixture(scope="module")
def found(
    model: AresModel, thresholds: dict[str, float], faces: DrawnFaces, seen: dict[str, Observed]
) -> dict[str, ConfigurationOutcome]:
    """The rows of Table 11 on hard held-out faces, with the thresholds that were best on the calibration set."""
    rows = hard("test")
    kept = {
        task: Observed(each.fast[rows], each.probabilities[rows], each.value[rows], each.gate[rows])
        for task, each in seen.items()
    }
    with configured(model, **thresholds):
        return ablations(model, [measured(model, some(faces, rows))], [kept])


def accuracy(outcome: ConfigurationOutcome) -> float:
    assert outcome.accuracy is not None
    return outcome.accuracy


@pytest.mark.parametrize("row", ["E1", "E2", "E3", "E4"])
def test_routed_ares_beats_every_expert_and_the_plain_vote(found: dict[str, ConfigurationOutcome], row: str) -> None:
    assert accuracy(found["ARES"]) > accuracy(found[row])


def test_the_vision_language_model_is_worth_its_part(found: dict[str, ConfigurationOutcome]) -> None:
    with_it, without = found["ARES"].tasks["age_gender"], found["E6"].tasks["age_gender"]
    assert with_it is not None
    assert without is not None
    assert with_it >= without
    assert accuracy(found["ARES"]) >= accuracy(found["E6"])


def test_skin_tone_has_the_order_of_tables_11_and_12(
    model: AresModel, faces: DrawnFaces, seen: dict[str, Observed]
) -> None:
    """Regressed on every image it is more often right than by any expert alone, and votes are not better beyond chance.

    On these drawings votes are hardly worse, other than in print: of 4 000 faces two trainings regress 97.9 and 98.0 %
    rightly, all experts vote so on 97.5 and 97.9 %, those of a route on 97.6 and 97.9 %.
    """
    images, right = measured(model, faces), {}
    for row in set(ABLATIONS) - {"E5"}:  # which asks the second level of every image
        with configured(model, ablation=ABLATIONS[row]):
            right[row] = routed(model, images, seen)["skin_tone"].label == faces.labels["skin_tone"]
    shares = {row: each.mean() for row, each in right.items()}
    assert all(shares["ARES"] > shares[other] for other in ("E1", "E2", "E3")), shares
    for other in ("E4", "E7"):
        worse, better = (right["ARES"] < right[other]).sum(), (right["ARES"] > right[other]).sum()
        assert binomtest(int(worse), int(worse + better) or 1, alternative="greater").pvalue > 0.05, shares
    assert np.array_equal(right["E6"], right["ARES"])
    table = {line["configuration"]: float(line["skin_tone_acc_pct"]) for line in printed("ares_table11_random200")}
    assert table[ROWS["ARES"]] == table[ROWS["E6"]] > table[ROWS["E3"]] > table[ROWS["E4"]] > table[ROWS["E7"]]


def test_most_images_need_no_second_level(
    model: AresModel, found: dict[str, ConfigurationOutcome], faces: DrawnFaces, seen: dict[str, Observed]
) -> None:
    """With the configuration's thresholds, on all held-out faces."""
    asked = outcome(model, [measured(model, faces)], [seen]).arbiter
    assert asked is not None
    assert 0 < asked < 0.5
    assert found["E5"].arbiter == 2
