"""From the outputs of ARES' parts to labels and their probabilities.

Two sets of rules, by `AresConfig.decisions`. A model keeps the rules that it was released with.
- *Rules 2*: a task with a fusion regressor is decided by it on every image, as in the authors' program. The
  probabilities are those of the deciding part, so the label's is the largest: of the fast path's expert; of the experts
  that the vote followed, on average; of the regressed value. A vision-language model gives none. An attribute's
  probabilities are given the labels of the task's other attributes.
- *Rules 1*: the regressor decides escalated images alone, the fast path or the vote all others. The probabilities after
  a vote or an escalation are the mean of all experts, and need not agree with the label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .gate_ares import NO_FACE, refusals
from .rounding_ares import rounded
from .routing_ares import EscalationRouter, cut, meta_features, ordinal_probabilities, vote

if TYPE_CHECKING:
    from .configuration_ares import AresConfig

FAST, VOTE, FUSION, ESCALATED, ABSTAINED = "fast", "vote", "fusion", "escalated", "abstained"
SINGLE = ("dinov2", "convnext", "clip")
ABLATIONS = {
    "E1": "dinov2",
    "E2": "convnext",
    "E3": "clip",
    "E4": "vote",
    "E5": "l2",
    "E6": "no_vlm",
    "E7": "no_fusion",
    "ARES": "full",
}
"""Row of Tables 11 and 12 -> `AresConfig.ablation`."""
Floats = NDArray[np.float64]


class Arbiter(Protocol):
    """The L2 vision-language model."""

    @property
    def name(self) -> str:
        """Model and revision, or endpoint and model."""

    def answer(self, images: Sequence[Any], task: Mapping[str, Any]) -> list[str | None]:
        """For each PIL image one of the task's `labels`, or None without a usable answer."""


@dataclass
class Observed:
    """Outputs of the fast router, the experts and the fusion regressor for n images in one task.

    Args:
        fast: (n, experts) probabilities of the best expert; nan where the fast path is closed.
        probabilities: (n, experts, labels); nan where an expert was not asked.
        value: (n,) regressed from all experts' embeddings; nan where not all were asked, or without a regressor.
        gate: (n, outcomes) probabilities of `gate_ares.OUTCOMES`; no columns without a gate.
    """

    fast: Floats
    probabilities: Floats
    value: Floats
    gate: Floats

    @property
    def numbers(self) -> Floats:
        """(n, f) all numbers."""
        return np.column_stack([self.fast, self.probabilities.reshape(len(self.fast), -1), self.value, self.gate])

    def rounded(self) -> Observed:
        """The same, rounded."""
        return Observed(*map(rounded, (self.fast, self.probabilities, self.value, self.gate)))

    def replace(self, rows: NDArray[np.intp], other: Observed) -> None:
        """Replace rows by observations of other images."""
        self.fast[rows], self.probabilities[rows], self.value[rows] = other.fast, other.probabilities, other.value
        self.gate[rows] = other.gate


def joined(parts: Sequence[Observed]) -> Observed:
    """The observations of several parts, one after the other."""
    columns = zip(*((part.fast, part.probabilities, part.value, part.gate) for part in parts), strict=True)
    return Observed(*map(np.concatenate, columns))


@dataclass
class Decided:
    """The decisions for n images in one task.

    Args:
        label: (n,) index into the task's labels, -1 where abstained.
        probability: (n, labels) of the deciding part; nan after a vision-language model's answer. Under rules 1 the
            experts' mean, but for the fast path.
        route: n times `fast:<kind>`, `vote`, `fusion`, `escalated:<arbiter>` or `abstained`.
        reason: n reasons for no label, or ''.
        value: (n,) the fusion regressor's value; nan where it did not decide.
        escalation: (n,) probability of escalation; nan where it was not computed.
        conditional: Whether an attribute's probabilities are given the labels of the task's other attributes (rules 2).
    """

    label: NDArray[np.intp]
    probability: Floats
    route: list[str]
    reason: list[str]
    value: Floats
    escalation: Floats
    conditional: bool = False

    def withhold(self, row: int, reason: str) -> None:
        """Remove the label of an image."""
        self.label[row], self.route[row], self.reason[row] = -1, ABSTAINED, reason

    def chances(self, task: Mapping[str, Any], attribute: str) -> Floats:
        """(n, labels) probabilities of an attribute's labels, in the registry's order; nan for none.

        They are sums over the task's labels: under rules 2 over those that share the decided labels of the other
        attributes, so that the decided label always has the largest; without a label over all of them.
        """
        values = task["attributes"][attribute]
        probability = self.probability
        if self.conditional:
            others = [
                tuple(v for name, v in zip(task["attributes"], row, strict=True) if name != attribute)
                for row in zip(*task["attributes"].values(), strict=True)
            ]
            group = np.array([others.index(other) for other in others])
            shared = (group == group[self.label][:, None]) | (self.label < 0)[:, None]
            probability = np.where(shared, probability, np.where(np.isnan(probability), np.nan, 0.0))
        names = list(dict.fromkeys(values))
        mass = np.stack([probability[:, [v == name for v in values]].sum(axis=1) for name in names], axis=1)
        return rounded(mass / mass.sum(axis=1, keepdims=True)) if self.conditional else mass


@dataclass(frozen=True)
class Answer:
    """ARES' answer for one face.

    Args:
        status: `ok`, `no_face`, `unreadable`, `refused` (there is no image) or `abstained` (no attribute has a label).
        reason: Reason for missing labels, '' for none; with `abstained` the gate's `several_faces` or
            `out_of_distribution`, or the reason of each task.
        labels: Attribute -> label, '' where it abstains.
        probabilities: Attribute -> label -> probability; the label's is the largest of those with `labels`; {} if the
            deciding part gives none.
        values: Task -> regressed value, for tasks with a fusion regressor where it ran.
        faces: Faces in the image; 1 without a detector, 0 without a readable image.
    """

    status: str
    reason: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    probabilities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    routes: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    face: int = 0
    faces: int = 1


def refusal(reason: str, labels: Mapping[str, str], routes: Mapping[str, str]) -> Answer:
    """The answer to an image that the gate refuses; labels are all ''."""
    if reason == NO_FACE:
        return Answer(NO_FACE, NO_FACE, routes=routes, faces=0)
    return Answer(ABSTAINED, reason, labels, routes=routes)


def regresses(config: AresConfig, task: Mapping[str, Any]) -> bool:
    """Whether the fusion regressor decides every image of a task, without routers."""
    return config.decisions >= 2 and task["arbiter"] == FUSION and config.ablation in ("full", "no_vlm")


def fast_path(
    config: AresConfig, task: Mapping[str, Any], observed: Observed
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The fast router's expert per image, and whether it is sure enough: never on a closed path."""
    closed = config.ablation in ("vote", "l2", *SINGLE) or config.fast_confidence >= 1
    if closed or regresses(config, task):
        return np.zeros(len(observed.fast), np.intp), np.zeros(len(observed.fast), bool)
    return observed.fast.argmax(axis=1), observed.fast.max(axis=1) > config.fast_confidence


def decide_task(
    config: AresConfig,
    task: Mapping[str, Any],
    observed: Observed,
    router: EscalationRouter | None,
    arbiter: Arbiter | None,
    images: Sequence[Any] | None,
) -> Decided:
    """The decisions of one task, an entry of the registry, from the observations of n images.

    Without the task's escalation `router` nothing is escalated; without an `arbiter`, the vision-language model that is
    shown the n PIL `images`, the vote replaces it.
    """
    mode, n = config.ablation, len(observed.fast)
    unknown = np.full(n, np.nan)
    conditional = config.decisions >= 2
    refused = refusals(config.gate, observed.gate)
    if mode in SINGLE:
        alone = observed.probabilities[:, config.kinds.index(mode)]
        route = [f"{FAST}:{mode}"] * n
        decided = Decided(alone.argmax(axis=1), alone.copy(), route, [""] * n, unknown, unknown.copy(), conditional)
    elif regresses(config, task):
        chances = ordinal_probabilities(observed.value, task["cuts"], task.get("slope"))
        label = cut(observed.value, task["cuts"])
        decided = Decided(label, chances, [FUSION] * n, [""] * n, observed.value.copy(), unknown, conditional)
    else:
        decided = _routed(config, task, observed, router, arbiter, images, np.array(refused) == "")
    unsure = (decided.label >= 0) & (decided.probability.max(axis=1) < config.minimum_confidence)
    for row in np.flatnonzero(unsure).tolist() if mode not in SINGLE else []:
        decided.withhold(row, f"confidence below {config.minimum_confidence}")
    for row, reason in enumerate(refused):
        if reason:
            decided.withhold(row, reason)
    return decided


def _routed(
    config: AresConfig,
    task: Mapping[str, Any],
    observed: Observed,
    router: EscalationRouter | None,
    arbiter: Arbiter | None,
    images: Sequence[Any] | None,
    passed: NDArray[np.bool_],
) -> Decided:
    """Fast path, vote and escalation; only images that `passed` the gate are escalated."""
    mode, n, probabilities = config.ablation, len(observed.fast), observed.probabilities
    kind, sure = fast_path(config, task, observed)
    pooled = ~sure
    label, probability = _unescalated(config, probabilities, kind, sure)
    route = [f"{FAST}:{config.kinds[k]}" if s else VOTE for k, s in zip(kind, sure, strict=True)]
    reason, value, escalation = [""] * n, np.full(n, np.nan), np.full(n, np.nan)
    escalated = pooled if mode == "l2" else np.zeros(n, bool)
    if router is not None and mode not in ("vote", "l2") and config.escalation < 1:
        escalation[pooled] = router.probability(meta_features(probabilities[pooled]))
        escalated = pooled & (escalation > config.escalation)
    rows = np.flatnonzero(escalated & passed)
    asked = arbiter is not None and images is not None
    if task["arbiter"] == FUSION and mode not in ("l2", "no_fusion") and len(rows):
        value[rows] = observed.value[rows]
        label[rows] = cut(value[rows], task["cuts"])
        for row in rows:
            route[row] = f"{ESCALATED}:{FUSION}"
    elif mode == "l2" or (task["arbiter"] == "vlm" and mode != "no_vlm" and asked):
        answers: list[str | None] = [None] * len(rows)
        why = "no vision-language model was asked"
        if arbiter is not None and images is not None:
            answers = arbiter.answer([images[int(row)] for row in rows], task) if len(rows) else []
            why = "the vision-language model gave no usable answer"
        for row, answer in zip(rows, answers, strict=True):
            route[row] = f"{ESCALATED}:vlm" if answer is not None else ABSTAINED
            label[row] = task["labels"].index(answer) if answer is not None else -1
            reason[row] = "" if answer is not None else why
            if config.decisions >= 2:
                probability[row] = np.nan
    return Decided(label, probability, route, reason, value, escalation, config.decisions >= 2)


def _unescalated(
    config: AresConfig, probabilities: Floats, kind: NDArray[np.intp], sure: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], Floats]:
    """Label and probabilities of the fast path's expert where it is sure, and of the vote elsewhere."""
    asked = np.nan_to_num(probabilities)
    voted = vote(asked)
    mean = asked.mean(axis=1)
    if config.decisions >= 2:
        followed = (asked.argmax(axis=2) == voted[:, None])[:, :, None]
        mean = (asked * followed).sum(axis=1) / followed.sum(axis=1)
    answered = asked[np.arange(len(asked)), kind]
    probability = np.where(sure[:, None], answered, rounded(mean))
    return np.where(sure, answered.argmax(axis=1), voted), probability
