"""Accuracy, escalation and cost of one model's configurations: its ablations and pairs of thresholds (IRIS, B.3).

E1 to E7 of Tables 11 and 12 are settings of `AresConfig.ablation`. Cost is counted in passes of experts and questions
to the vision-language model, and in seconds where those of the parts were measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairspace.ares.deciding_ares import ABLATIONS, SINGLE, Decided, Observed, by_fusion, fast_path
from fairspace.ares.evaluating.data import HeldOut
from fairspace.ares.evaluating.routes import configured, routed
from fairspace.ares.modeling_ares import AresModel

FAST_STEPS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
ESCALATION_STEPS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Thresholds of the Pareto table; 1 closes the path."""
NO_ARBITER = "no vision-language model was named"
Seconds = Mapping[str, float]


@dataclass(frozen=True)
class Outcome:
    """How one configuration does.

    Args:
        reason: why it was not run; '' if it was.
        accuracy: over all tasks at once, over images with labels for all of them; None if there are none.
        tasks: task -> share of right answers; None without images.
        routes: task -> route -> images.
        escalated: task -> share of the images that the escalation router hands on, whether or not there is an arbiter.
        experts: passes of experts per image, over all tasks.
        arbiter: questions to the vision-language model per image.
        seconds: per image, from the measured times of the parts; None where they were not measured.
    """

    reason: str
    accuracy: float | None
    tasks: Mapping[str, float | None]
    routes: Mapping[str, Mapping[str, int]]
    escalated: Mapping[str, float | None]
    experts: float | None
    arbiter: float | None
    seconds: float | None


@dataclass(frozen=True)
class Point(Outcome):
    """A pair of thresholds.

    Args:
        fast_confidence: above it the fast path is taken.
        escalation: above it an image is escalated.
        current: whether these are the model's own.
        best: whether no other pair is at least as accurate over all tasks and as cheap, and better in one of both.
    """

    fast_confidence: float
    escalation: float
    current: bool
    best: bool


def ablations(
    model: AresModel, sets: Sequence[HeldOut], seen: Sequence[Mapping[str, Observed]], seconds: Seconds
) -> dict[str, Outcome]:
    """Row of Tables 11 and 12 -> outcome; `seen` as `observe_all` gives it, per set."""
    outcomes = {}
    for row, mode in ABLATIONS.items():
        missing = f"the model has no expert {mode}" if mode in SINGLE and mode not in model.config.kinds else ""
        if mode == "l2" and model.arbiter is None:
            missing = NO_ARBITER
        with configured(model, ablation=mode):
            outcomes[row] = _not_run(missing) if missing else outcome(model, sets, seen, seconds)
    return outcomes


def pareto(
    model: AresModel, sets: Sequence[HeldOut], seen: Sequence[Mapping[str, Observed]], seconds: Seconds
) -> list[Point]:
    """Accuracy, escalation and cost for every pair of thresholds, and for the model's own."""
    thresholds = (float(model.config.fast_confidence), float(model.config.escalation))
    pairs = sorted({thresholds, *((fast, escalation) for fast in FAST_STEPS for escalation in ESCALATION_STEPS)})
    points = []
    for fast, escalation in pairs:
        with configured(model, fast_confidence=fast, escalation=escalation):
            points.append(outcome(model, sets, seen, seconds))
    best = _best([(each.accuracy, _cost(each)) for each in points])
    return [
        Point(
            **vars(each),
            fast_confidence=fast,
            escalation=escalation,
            current=(fast, escalation) == thresholds,
            best=top,
        )
        for each, (fast, escalation), top in zip(points, pairs, best, strict=True)
    ]


def most_accurate(points: Sequence[Point]) -> Point:
    """The thresholds that are right most often, of equally good ones the cheapest; chosen on a calibration set."""
    known = [point for point in points if point.accuracy is not None]
    if not known:
        raise ValueError("no pair of thresholds has an accuracy over all tasks")
    return max(known, key=lambda point: (point.accuracy or 0.0, -_cost(point)))


def outcome(
    model: AresModel, sets: Sequence[HeldOut], seen: Sequence[Mapping[str, Observed]], seconds: Seconds
) -> Outcome:
    """How the model does as it is configured."""
    names = [str(task["name"]) for task in model.config.tasks]
    right: dict[str, float | None] = {}
    escalated: dict[str, float | None] = {}
    routes: dict[str, dict[str, int]] = {}
    whole: list[bool] = []
    experts = arbiter = total = 0.0
    n = sum(len(images) for images in sets)
    for images, observed in zip(sets, seen, strict=True):
        decided = routed(model, images, observed)
        labels = images.faces.labels
        hit = {name: decided[name].label == labels[name] for name in names}
        every = np.all([labels[name] >= 0 for name in names], axis=0)
        whole += np.all([hit[name][every] for name in names], axis=0).tolist() if every.any() else []
        for name in images.tasks:
            known = labels[name] >= 0
            right[name] = float(hit[name][known].mean()) if known.any() else None
            routes[name] = dict(sorted(Counter(np.array(decided[name].route)[known].tolist()).items()))
            escalated[name] = _share(_handed_on(model, decided[name])[known])
        questioned, questions = _asked(model, decided, observed)
        experts += sum(float(mask.sum()) for mask in questioned.values())
        arbiter += questions
        total += _seconds(model, decided, questioned, questions, seconds) if seconds else 0.0
    return Outcome(
        "",
        float(np.mean(whole)) if whole else None,
        right,
        routes,
        escalated,
        experts / n,
        arbiter / n,
        total / n if seconds else None,
    )


def _handed_on(model: AresModel, decided: Decided) -> NDArray[np.bool_]:
    """Which images the escalation router hands on."""
    if model.config.ablation == "l2":
        return np.ones(len(decided.label), bool)
    return np.nan_to_num(decided.escalation, nan=-1.0) > model.config.escalation


def _asked(
    model: AresModel, decided: Mapping[str, Decided], seen: Mapping[str, Observed]
) -> tuple[dict[str, NDArray[np.bool_]], int]:
    """Task -> (experts, n): whether an expert is needed; and how many questions go to the vision-language model."""
    mode, kinds = model.config.ablation, model.config.kinds
    needed, questions = {}, 0
    for task in model.config.tasks:
        name = task["name"]
        n = len(decided[name].label)
        if mode in SINGLE:
            needed[name] = np.tile(np.array([kind == mode for kind in kinds])[:, None], (1, n))
        else:
            kind, sure = fast_path(model.config, task, seen[name])
            needed[name] = np.stack([~sure | (kind == place) for place in range(len(kinds))])
        if model.arbiter is not None and (mode == "l2" or (task["arbiter"] == "vlm" and mode != "no_vlm")):
            questions += int(_handed_on(model, decided[name]).sum())
    if mode == "l2":
        needed = {name: np.zeros_like(mask) for name, mask in needed.items()}
    return needed, questions


def _seconds(
    model: AresModel,
    decided: Mapping[str, Decided],
    questioned: Mapping[str, NDArray[np.bool_]],
    questions: int,
    seconds: Seconds,
) -> float:
    """What the parts that are needed take, for all images."""
    n = len(next(iter(decided.values())).label)
    closed = model.config.ablation in ("vote", "l2", *SINGLE) or model.config.fast_confidence >= 1
    total = 0.0 if closed else n * seconds["router"]
    for place, kind in enumerate(model.config.kinds):
        masks = {name: mask[place] for name, mask in questioned.items()}
        total += float(np.any(list(masks.values()), axis=0).sum()) * seconds[f"stem/{kind}"]
        total += sum(float(mask.sum()) * seconds[f"expert/{name}/{kind}"] for name, mask in masks.items())
    for name, decision in decided.items():
        total += sum(map(by_fusion, decision.route)) * seconds.get(f"fusion/{name}", 0.0)
    return total + questions * seconds.get("arbiter", 0.0)


def _not_run(reason: str) -> Outcome:
    return Outcome(reason, None, {}, {}, {}, None, None, None)


def _cost(result: Outcome) -> float:
    return result.seconds if result.seconds is not None else (result.experts or 0.0) + (result.arbiter or 0.0)


def _best(points: Sequence[tuple[float | None, float]]) -> list[bool]:
    """Which points no other one beats in accuracy and cost."""

    def beaten(accuracy: float, cost: float) -> bool:
        return any(a is not None and a >= accuracy and c <= cost and (a, c) != (accuracy, cost) for a, c in points)

    return [accuracy is not None and not beaten(accuracy, cost) for accuracy, cost in points]


def _share(mask: NDArray[np.bool_]) -> float | None:
    return float(mask.mean()) if len(mask) else None
