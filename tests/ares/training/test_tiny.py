import json
from pathlib import Path

import numpy as np
import pytest

from fairspace.ares.deciding_ares import Decided
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.data import DrawnFaces, drawn_face
from fairspace.ares.training.stages import QUANTILES, REPORT, _task_report, calibrated_cuts

IMAGES = 600


@pytest.mark.slow
def test_each_attribute_is_right_for_95_percent_of_held_out_faces_that_show_it(trained_ares: Path) -> None:
    """An incomplete face lacks a strip, and nothing else in the picture says its label."""
    model = AresModel.from_pretrained(trained_ares).eval()
    model.config.gate, model.gate = {}, None
    faces = DrawnFaces("test", IMAGES, model.config.tasks, model.config.image_size, 0)
    whole = np.array([not drawn_face("test", number, size=16).incomplete for number in range(IMAGES)])
    decided = model.decide(faces.pixels.float() / 255)
    for task in model.config.tasks:
        for attribute, values in task["attributes"].items():
            names = np.array(values)
            same = names[decided[task["name"]].label] == names[faces.labels[task["name"]]]
            assert same[whole].mean() >= 0.95, attribute


@pytest.mark.slow
def test_every_route_is_taken(trained_ares: Path) -> None:
    report = json.loads((trained_ares / REPORT).read_text(encoding="utf-8"))["test"]
    routes = {route.split(":")[0] for task in report.values() for route in task["routes"]}
    assert {"fast", "vote"} <= routes


def test_cuts_are_moved_only_where_that_is_better() -> None:
    random = np.random.RandomState(0)
    labels = np.repeat([0, 1, 2], 200)
    values = labels * 0.5 + random.normal(0, 0.05, 600)  # the middle of 0, 0.5 and 1
    low, high = calibrated_cuts(values, labels, [0.48, 1.24])
    assert 0.15 < low < 0.4  # the groups do not overlap, and of equally good cuts the nearest to the start are taken
    assert 0.6 < high < 0.9
    assert calibrated_cuts(labels.astype(float), labels, [0.48, 1.24]) == [0.48, 1.24]
    assert calibrated_cuts(values[:420], labels[:420], [0.48, 1.24]) == [0.48, 1.24]


def test_the_random_tiny_model_takes_every_route(tiny_ares: Path) -> None:
    model = AresModel.from_pretrained(tiny_ares).eval()
    drawn = DrawnFaces("test", 120, model.config.tasks, model.config.image_size, 0)
    seen = model.observe(drawn.pixels.float() / 255, everything=True)
    taken = set()
    for confidence in (model.config.fast_confidence, 1.0):
        model.config.fast_confidence = confidence
        taken |= {route.split(":")[0] for found in model.route(seen).values() for route in found.route}
    assert taken == {"fast", "vote", "fusion"}


TASK = {"name": "age_gender", "attributes": {"gender": ["female", "female", "male"], "age": ["young", "old", "old"]}}


def test_an_abstention_counts_as_wrong() -> None:
    """The fifth of five images has no people's label; one of the other four has no answer, and one is wrong."""
    probability = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.3, 0.5], [0.4, 0.3, 0.3], [0.0, 0.0, 1.0]])
    routes = ["fast:vit", "vote", "vote", "abstained", "vote"]
    nothing = np.full(5, np.nan)
    decided = Decided(np.array([0, 1, 2, -1, 2]), probability, routes, [""] * 5, nothing, nothing)
    report = _task_report(TASK, decided, np.array([0, 0, 2, 0, -1]), np.arange(4))
    assert (report["images"], report["abstained"]) == (4, 1)
    assert report["accuracy"] == 2 / 4
    assert report["routes"] == {"abstained": 1, "fast:vit": 1, "vote": 2}
    assert report["confidence"]["quantiles"] == list(QUANTILES)
    assert report["confidence"]["values"][0] == 0.4
    assert report["confidence"]["values"][-1] == 0.7
    gender, age = report["attributes"]["gender"], report["attributes"]["age"]
    assert (gender["labels"], gender["confusion"], gender["accuracy"]) == (["female", "male"], [[2, 0], [0, 1]], 3 / 4)
    assert (age["labels"], age["confusion"], age["accuracy"]) == (["young", "old"], [[1, 1], [0, 1]], 2 / 4)
    assert gender["confidence"]["values"][-1] == pytest.approx(0.9)
