"""Accuracy, escalation and cost of one model's configurations (IRIS, B.3).

E1 to E7 of Tables 11 and 12 are settings of `AresConfig.ablation`. Cost is counted in passes of experts and questions
to the vision-language model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairspace.ares.deciding_ares import ABLATIONS, SINGLE, Decided, Observed, fast_path
from fairspace.ares.evaluating.data import HeldOut
from fairspace.ares.evaluating.routes import configured, routed
from fairspace.ares.modeling_ares import AresModel

NO_ARBITER = "no vision-language model was named"


@dataclass(frozen=True)
class Outcome:
    """The quality and cost of one configuration.

    Args:
        reason: why it was not run; '' if it was.
        accuracy: over all tasks at once, over images with labels for all of them; None if there are none.
        tasks: task -> share of right answers; None without images.
        routes: task -> route -> images.
        escalated: task -> share of the images that the escalation router hands on, whether or not there is an arbiter.
        experts: passes of experts per image, over all tasks.
        arbiter: questions to the vision-language model per image.
    """

    reason: str
    accuracy: float | None
    tasks: Mapping[str, float | None]
    routes: Mapping[str, Mapping[str, int]]
    escalated: Mapping[str, float | None]
    experts: float | None
    arbiter: float | None


def ablations(model: AresModel, sets: Sequence[HeldOut], seen: Sequence[Mapping[str, Observed]]) -> dict[str, Outcome]:
    """Row of Tables 11 and 12 -> outcome; `seen` as `observe_all` gives it, per set."""
    outcomes = {}
    for row, mode in ABLATIONS.items():
        missing = f"the model has no expert {mode}" if mode in SINGLE and mode not in model.config.kinds else ""
        if mode == "l2" and model.arbiter is None:
            missing = NO_ARBITER
        with configured(model, ablation=mode):
            not_run = Outcome(missing, None, {}, {}, {}, None, None)
            outcomes[row] = not_run if missing else outcome(model, sets, seen)
    return outcomes


def outcome(model: AresModel, sets: Sequence[HeldOut], seen: Sequence[Mapping[str, Observed]]) -> Outcome:
    """The outcome of the model as it is configured."""
    names = [str(task["name"]) for task in model.config.tasks]
    right: dict[str, float | None] = {}
    escalated: dict[str, float | None] = {}
    routes: dict[str, dict[str, int]] = {}
    whole: list[bool] = []
    experts = arbiter = 0.0
    n = sum(len(images) for images in sets)
    for images, observed in zip(sets, seen, strict=True):
        decided = routed(model, images, observed)
        labels = images.faces.labels
        hit = {name: decided[name].label == labels[name] for name in names}
        every = np.all([labels[name] >= 0 for name in names], axis=0)
        whole += np.all([hit[name][every] for name in names], axis=0).tolist() if every.any() else []
        for name in images.tasks:
            known = labels[name] >= 0
            right[name], escalated[name] = _share(hit[name][known]), _share(_handed_on(model, decided[name])[known])
            routes[name] = dict(sorted(Counter(np.array(decided[name].route)[known].tolist()).items()))
        passes, questions = _cost(model, decided, observed)
        experts, arbiter = experts + passes, arbiter + questions
    return Outcome("", _share(np.array(whole)), right, routes, escalated, experts / n, arbiter / n)


def _handed_on(model: AresModel, decided: Decided) -> NDArray[np.bool_]:
    """Which images the escalation router hands on."""
    if model.config.ablation == "l2":
        return np.ones(len(decided.label), bool)
    return np.nan_to_num(decided.escalation, nan=-1.0) > model.config.escalation


def _cost(model: AresModel, decided: Mapping[str, Decided], seen: Mapping[str, Observed]) -> tuple[float, int]:
    """Passes of experts, and questions to the vision-language model, over all images and tasks."""
    mode, kinds = model.config.ablation, model.config.kinds
    passes, questions = 0.0, 0
    for task in model.config.tasks:
        n = len(decided[task["name"]].label)
        if mode in SINGLE:
            passes += n * kinds.count(mode)
        elif mode != "l2":
            _, sure = fast_path(model.config, task, seen[task["name"]])
            passes += n * len(kinds) - float(sure.sum()) * (len(kinds) - 1)
        if model.arbiter is not None and (mode == "l2" or (task["arbiter"] == "vlm" and mode != "no_vlm")):
            questions += int(_handed_on(model, decided[task["name"]]).sum())
    return passes, questions


def _share(mask: NDArray[np.bool_]) -> float | None:
    return float(mask.mean()) if len(mask) else None
