"""Drift: warned where images differ from the calibration set, quiet where they do not, one generator at a time."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from PIL import Image
from scipy.stats import chi2_contingency

from fairspace.ares.annotating.annotate import annotate
from fairspace.ares.evaluating.drift import drift
from fairspace.ares.evaluating.drift_checks import ALPHA, EFFECT, compare
from fairspace.ares.training.drawn_faces import drawn_face
from fairspace.builders.errors import BuildError


def known(routes: dict[str, int], values: list[float]) -> dict[str, Any]:
    quantiles = np.linspace(0, 1, len(values)).tolist()
    confidence = {"quantiles": quantiles, "values": values}
    attributes = {"tone": {"labels": ["light", "dark"], "confidence": confidence}}
    return {"tone": {"images": sum(routes.values()), "routes": routes, "attributes": attributes}}


def rows(routes: dict[str, int], sure: np.ndarray) -> pa.Table:
    names = [name for name, count in routes.items() for _ in range(count)]
    columns = {"route/tone": names, "probability/tone/light": sure, "probability/tone/dark": 1 - sure}
    return pa.table(columns)


SAME = {"fast:clip": 600, "vote": 300, "escalated:fusion": 100}
EVEN = np.linspace(0.5, 1, 1001)[:-1]
EDGES = np.linspace(0.5, 1, 9).tolist()


def test_the_same_images_do_not_differ() -> None:
    routes, confidence = compare("g", known(SAME, EDGES), rows(SAME, EVEN))
    for check in (routes, confidence):
        assert check.p == pytest.approx(1, abs=0.01)
        assert check.effect == pytest.approx(0, abs=0.005)


def test_the_effect_is_the_share_that_goes_another_way_and_p_is_scipy_s() -> None:
    new = {"fast:clip": 300, "vote": 450, "escalated:fusion": 250}
    check, _ = compare("g", known(SAME, EDGES), rows(new, EVEN))
    assert check.effect == pytest.approx(0.3)
    assert check.p == pytest.approx(chi2_contingency([[600, 300, 100], [300, 450, 250]]).pvalue)
    assert check.said == "fast:clip 30.0% instead of 60.0%"


def test_confidence_that_falls_is_seen() -> None:
    _, check = compare("g", known(SAME, EDGES), rows(SAME, 0.5 + (EVEN - 0.5) ** 2 * 2))
    # The quantile at x becomes the one at sqrt(x): the largest gap on the grid of eighths is at 1/4.
    assert check.effect == pytest.approx(0.25, abs=0.01)
    assert check.p is not None
    assert check.p < ALPHA


def test_rare_routes_are_taken_together_and_new_ones_count() -> None:
    before = {**SAME, "abstained": 2}
    check, _ = compare("g", known(before, EDGES), rows({**SAME, "fast:convnext": 1}, np.append(EVEN, 0.9)))
    assert check.p is not None
    assert check.p > 0.5
    check, _ = compare("g", known(SAME, EDGES), rows({"abstained": 1000}, EVEN))
    assert check.effect == pytest.approx(1)


def test_what_a_vision_language_model_may_decide_is_compared_with_the_vote() -> None:
    before, new = (
        {"fast:clip": 500, "vote": 500},
        {"fast:clip": 500, "vote": 100, "escalated:vlm": 380, "abstained": 20},
    )
    told, _ = compare("g", known(before, EDGES), rows(new, EVEN), asked=True)
    assert told.effect == 0
    untold, _ = compare("g", known(before, EDGES), rows(new, EVEN))
    assert untold.effect == pytest.approx(0.4)


def test_saturated_confidence_is_one_bin() -> None:
    values = [0.5, 0.6, 0.8, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    sure = np.concatenate([np.linspace(0.5, 1, 376)[:-1], np.ones(625)])
    _, check = compare("g", known(SAME, values), rows(SAME, sure))
    assert check.effect is not None
    assert check.effect < 0.08


def test_too_few_faces_are_not_tested() -> None:
    for check in compare("g", known(SAME, EDGES), rows({"vote": 29}, EVEN[:29])):
        assert (check.p, check.effect, check.warns) == (None, None, False)
        assert "fewer than 30" in check.said


@pytest.fixture(scope="module")
def world(tiny_ares: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model with the calibration of 150 drawn faces, and the annotations of two generators' images."""
    from accelerate import Accelerator

    from fairspace.ares.evaluating.evaluate import open_model
    from fairspace.ares.training.calibration import part_report
    from fairspace.ares.training.data import open_data
    from fairspace.ares.training.processes import Run

    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("drift")
    model = Path(shutil.copytree(tiny_ares, root / "ares"))
    opened = open_model(model)
    data = open_data("drawn:600", opened.config.tasks, opened.config.image_size, 0, root)
    run = Run(Accelerator(cpu=True), root / "run", 0, 0, lambda event: None)
    report = part_report(opened, "calibration", data, run, opened.config.tasks)
    (model / "calibration.json").write_text(json.dumps({"tasks": report}), encoding="utf-8")
    random = np.random.RandomState(0)
    for generator in ("alike", "noise"):
        (root / generator / "images").mkdir(parents=True)
        for number in range(120):
            image = drawn_face("new", number, size=opened.config.image_size).image
            if generator == "noise":
                image = Image.fromarray(random.randint(0, 256, (64, 64, 3), np.uint8))
            image.save(root / generator / "images" / f"{number}.png")
        annotate(model, root / generator / "images", root / "out" / generator, names="files", device="cpu")
    return model, root / "out"


def test_a_generator_with_other_images_is_warned_about_and_the_other_is_not(world: tuple[Path, Path]) -> None:
    model, out = world
    found = drift(model, [out])
    assert {check.generator for check in found.checks} == {"alike", "noise"}
    assert list(found.warnings) == ["noise"]
    for check in found.checks:
        assert check.images == 120
        assert check.calibration == 600
        assert check.adjusted is not None
        assert check.p is not None
        assert check.effect is not None
        assert check.adjusted >= check.p
        assert check.warns == (check.adjusted < ALPHA and check.effect >= EFFECT)
    assert "WARNING" in found.text()
    assert json.loads(json.dumps(found.to_json()))["rule"]["alpha"] == ALPHA


def test_annotations_of_another_model_are_refused(world: tuple[Path, Path], tmp_path: Path) -> None:
    model, out = world
    other = Path(shutil.copytree(model, tmp_path / "other"))
    config = json.loads((other / "config.json").read_text("utf-8"))
    (other / "config.json").write_text(json.dumps(config | {"escalation": 0.1}), encoding="utf-8")
    with pytest.raises(BuildError, match=r"DRIFT_INPUT.*annotations of the model"):
        drift(other, [out / "alike"])


def test_what_is_missing_is_named(world: tuple[Path, Path], tiny_ares: Path, tmp_path: Path) -> None:
    model, out = world
    with pytest.raises(BuildError, match=r"DRIFT_INPUT.*calibration"):
        drift(tiny_ares, [out])
    with pytest.raises(BuildError, match=r"DRIFT_INPUT.*annotation"):
        drift(model, [tmp_path])
    with pytest.raises(BuildError, match=r"DRIFT_INPUT.*two folders"):
        drift(model, [out / "alike", out / "alike"])
