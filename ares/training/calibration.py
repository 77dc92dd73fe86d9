"""Stage 4: cuts and slope of the fusion regressor, and the report on the calibration set (IRIS, B.1).

The routers' thresholds stay the paper's unless the configuration says otherwise.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.ares.deciding_ares import Decided, joined
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.rounding_ares import STEP
from fairspace.ares.routing_ares import cut, ordinal_probabilities
from fairspace.ares.training.data import Data, Faces
from fairspace.ares.training.loop import Run

QUANTILES = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0)
_STEP = 0.02
_FEWEST = 30
"""Fewest images of a label for moving its cuts."""
LEAST, MOST = 0.1, 100.0
"""Bounds of the slope, which separable labels would drive to infinity."""


def calibrated_cuts(values: NDArray[np.float64], labels: NDArray[np.intp], start: Sequence[float]) -> list[float]:
    """The rising cuts with the best mean recall; of equally good ones those nearest to `start`.

    `values`: (n,) regressed; `labels`: (n,) right indices, 0 to the number of cuts. `start` stays where a label has
    fewer than 30 images.
    """
    count = np.bincount(labels, minlength=len(start) + 1)
    if count.min() < _FEWEST:
        return list(start)
    steps = np.round(np.arange(0, len(start) + _STEP / 2, _STEP), 6)
    # below[i, k]: images of label k whose value lies below step i
    below = np.stack([np.searchsorted(np.sort(values[labels == k]), steps, side="left") for k in range(len(count))], 1)
    recalls = below / count
    grid = combinations(range(len(steps)), len(start)) if len(start) <= 2 else [_nearest(steps, start)]

    def rank(places: tuple[int, ...]) -> tuple[float, float]:
        edges = [np.zeros(len(count)), *(recalls[place] for place in places), np.ones(len(count))]
        recall = sum(float(edges[k + 1][k] - edges[k][k]) for k in range(len(count)))
        return round(recall, 9), -sum(abs(float(steps[p]) - s) for p, s in zip(places, start, strict=True))

    best = max(grid, key=rank)
    first = cut(values, list(start))
    kept = sum(float((first[labels == k] == k).mean()) for k in range(len(count)))
    return list(start) if kept >= rank(best)[0] else [float(steps[place]) for place in best]


def _nearest(steps: NDArray[np.float64], start: Sequence[float]) -> tuple[int, ...]:
    return tuple(int(np.abs(steps - value).argmin()) for value in start)


def fitted_slope(values: NDArray[np.float64], labels: NDArray[np.intp], cuts: Sequence[float]) -> float:
    """The slope with the smallest mean log loss (maximum likelihood), in [`LEAST`, `MOST`], with four digits.

    `values`: (n,) regressed, n at least 1; `labels`: (n,) right indices; `cuts`: rising.
    """
    from scipy.optimize import minimize_scalar

    def loss(log_slope: float) -> float:
        chances = ordinal_probabilities(values, list(cuts), math.exp(log_slope))
        # Probabilities are rounded, so 0 stands for less than half a step.
        return float(-np.log(np.maximum(chances[np.arange(len(labels)), labels], STEP / 4)).mean())

    best = minimize_scalar(loss, bounds=(math.log(LEAST), math.log(MOST)), method="bounded")
    return float(f"{math.exp(best.x):.4g}")


def _decisions(model: AresModel, faces: Faces, rows: NDArray[np.intp], run: Run) -> dict[str, Decided]:
    order = [rows[start : start + 256] for start in range(0, len(rows), 256)]
    seen = [model.observe(run.moved(pixels).float() / 255) for pixels in faces.batches(order, run.workers)]
    return model.route({name: joined([each[name] for each in seen]) for name in seen[0]})


def part_report(
    model: AresModel, part: str, data: Data, run: Run, tasks: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Task -> answers to a part: `images`, `routes` (route -> count), `confidence`, `abstained` and `attributes`.

    Confidence has `quantiles` and their `values`. An attribute has `labels`, `confusion` with rows true and columns
    predicted, `accuracy` with abstentions counted as wrong, and `confidence` of its likeliest label.
    """
    report: dict[str, Any] = {}
    decided: dict[int, dict[str, Decided]] = {}
    for task in tasks:
        name = str(task["name"])
        faces = data.part(part, name)
        if id(faces) not in decided:
            decided[id(faces)] = _decisions(model, faces, np.arange(len(faces.labels[name])), run)
        rows = np.flatnonzero(faces.labels[name] >= 0)
        report[name] = _task_report(task, decided[id(faces)][name], faces.labels[name], rows)
    return report


def _task_report(
    task: Mapping[str, Any], decision: Decided, labels: NDArray[np.intp], rows: NDArray[np.intp]
) -> dict[str, Any]:
    confidence = decision.probability[rows].max(axis=1)
    answered = rows[decision.label[rows] >= 0]
    attributes = {}
    for attribute, values in task["attributes"].items():
        names = list(dict.fromkeys(values))
        codes = np.array([names.index(value) for value in values])
        confusion = np.zeros((len(names), len(names)), int)
        np.add.at(confusion, (codes[labels[answered]], codes[decision.label[answered]]), 1)
        attributes[attribute] = {
            "labels": names,
            "confusion": confusion.tolist(),
            "accuracy": float(np.trace(confusion) / len(rows)),
            "confidence": _quantiles(decision.chances(task, attribute)[rows].max(axis=1)),
        }
    return {
        "images": len(rows),
        "routes": dict(sorted(Counter(decision.route[row] for row in rows).items())),
        "confidence": _quantiles(confidence),
        "abstained": len(rows) - len(answered),
        "accuracy": float((decision.label[rows] == labels[rows]).mean()),
        "attributes": attributes,
    }


def _quantiles(values: NDArray[np.float64]) -> dict[str, list[float]]:
    return {"quantiles": list(QUANTILES), "values": [float(value) for value in np.quantile(values, QUANTILES)]}
