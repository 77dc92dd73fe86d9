"""Routing is worth it: on hard drawn faces a trained ARES beats each of its experts and their plain vote."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from fairspace.ares.drawn_faces import INCOMPLETE, NOISY, SMALL, drawn_face
from fairspace.ares.evaluating.ablations import Outcome, Point, ablations, most_accurate, pareto
from fairspace.ares.evaluating.data import HeldOut, held_out
from fairspace.ares.evaluating.evaluate import open_model
from fairspace.ares.evaluating.routes import Remembering, configured, observe_all
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.data import DrawnFaces
from fairspace.builders.drawn.palette import draws
from tests.ares.thorough import Thorough

FACES = 1_200


def is_hard(part: str, number: int) -> bool:
    """Whether a drawn face is incomplete, small or noisy: what `drawn_face` draws first."""
    random = draws("drawn face", 0, part, number)
    return bool((random.random_sample(3) < (INCOMPLETE, SMALL, NOISY)).any())


def hard(model: AresModel, part: str, number: int) -> HeldOut:
    """The hard ones among the first faces of a part that no training drew."""
    tasks = model.config.tasks
    faces = DrawnFaces(part, number, tasks, model.config.image_size, 0)
    keep = np.flatnonzero([is_hard(part, row) for row in range(number)])
    faces.pixels = faces.pixels[torch.as_tensor(keep)]
    faces.labels = {task: labels[keep] for task, labels in faces.labels.items()}
    return held_out(faces, tasks, tasks)


def test_hard_faces_are_those_that_are_drawn_so() -> None:
    chosen = [number for number in range(60) if is_hard("test", number)]
    incomplete = [number for number in range(60) if drawn_face("test", number).incomplete]
    assert 10 < len(chosen) < 40
    assert set(incomplete) < set(chosen)


@pytest.fixture(scope="module")
def model(trained_ares: Path) -> AresModel:
    opened = open_model(trained_ares)
    opened.arbiter = Remembering(Thorough(opened))
    return opened


@pytest.fixture(scope="module")
def points(model: AresModel) -> list[Point]:
    """Thresholds on a calibration set: none of its faces is in the test set, or trained anything."""
    images = hard(model, "thresholds", FACES)
    return pareto(model, [images], [observe_all(model, images, 96)], {})


@pytest.fixture(scope="module")
def found(model: AresModel, points: list[Point]) -> dict[str, Outcome]:
    """The rows of Table 11 on held-out faces, with the thresholds that were best on the calibration set."""
    best, images = most_accurate(points), hard(model, "test", FACES)
    seen = [observe_all(model, images, 96)]
    with configured(model, fast_confidence=best.fast_confidence, escalation=best.escalation):
        return ablations(model, [images], seen, {})


def accuracy(outcome: Outcome) -> float:
    assert outcome.accuracy is not None
    return outcome.accuracy


@pytest.mark.parametrize("row", ["E1", "E2", "E3", "E4"])
def test_routed_ares_beats_every_expert_and_the_plain_vote(found: dict[str, Outcome], row: str) -> None:
    assert accuracy(found["ARES"]) > accuracy(found[row])


@pytest.mark.parametrize(("row", "task"), [("E6", "age_gender"), ("E7", "skin_tone")])
def test_each_second_level_is_worth_its_part(found: dict[str, Outcome], row: str, task: str) -> None:
    with_it, without = found["ARES"].tasks[task], found[row].tasks[task]
    assert with_it is not None
    assert without is not None
    assert with_it >= without
    assert accuracy(found["ARES"]) >= accuracy(found[row])


def test_most_images_need_no_second_level(found: dict[str, Outcome]) -> None:
    asked = found["ARES"].arbiter
    assert asked is not None
    assert 0 < asked < 0.5
    assert found["E5"].arbiter == 2


def test_the_pareto_table_trades_accuracy_for_cost(points: list[Point]) -> None:
    best = sorted((point for point in points if point.best), key=lambda p: (p.experts or 0) + (p.arbiter or 0))
    accuracies = [accuracy(point) for point in best]
    assert accuracies == sorted(accuracies)
    assert len({point.escalated["age_gender"] for point in points}) > 3
    cheapest, most = best[0], most_accurate(points)
    assert accuracy(most) >= accuracy(cheapest)
