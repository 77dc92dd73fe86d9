"""IRIS in words, for pages: its 60 values, the models that calibrated a standard, and the labour statistics."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from fairspace.builders.iris.labour import REGIONS
from fairspace.metrics.iris_score.standards import ARCHETYPES, GRANULAR, SECTORS, SKIN_DRIFT, Granular
from fairspace.submissions.benchmarks.about import About, Described, Listing
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number

_COMPARED = (
    "**What is compared**: the shares of groups within an occupation, P(group | occupation), of images, of tournament "
    "wins and of the figures. D.2.5 asks for P(occupation | group) of the tournament, which equals it only where all "
    "occupations are equally frequent, and all groups ([E-IRIS-16](/errata#e-iris-16))."
)

SCORES = {
    "IFS_Gen": "ideal fairness: are groups even in generated images",
    "RFS_Gen": "real-world fidelity: do images follow labour statistics",
    "BIS_Gen": "bias inertia: are counter-stereotypes drawn as well",
    "IFS_Und": "ideal fairness: are answers alike for all groups",
    "RFS_Und": "real-world fidelity: do choices follow labour statistics",
    "BIS_Und": "bias inertia: are paired pictures answered alike",
    "iris_score": "all six sectors in one number",
}
_METRICS = {
    "RD_": "representation_disparity",
    "JSD_": "distribution_divergence",
    "Penalty_delta_GSR": "generation_success_penalty",
    "Penalty_": "counter_stereotype_penalty",
    "AD_": "accuracy_disparity",
    "SPD_": "statistical_parity_difference",
    "AbsSDS_": "stereotype_drift",
    "ac_diff_": "answer_consistency_difference",
    "dhr_": "hallucination_inconsistency",
    **dict.fromkeys(SCORES, "iris_score"),
}
"""How the name of a value begins -> the metric that computes it."""
_COMPETENCE = {
    "competence_steer_success": "share of steered images that show what was asked",
    "competence_accuracy": "share of right answers to the occupation questions",
    "competence_objective_accuracy": "share of right answers to pairs with a true answer",
    "competence_modal_score_max": "share of the most frequent rating; 1 is constant",
}


@lru_cache
def about() -> About:
    """What pages say of IRIS."""
    values = {}
    for sector in SECTORS:
        metrics = [metric for metric in GRANULAR if metric.sector == sector]
        heading = f"{sector.replace('_', ' ')}: its {len(metrics)} values"
        printed = [f"{sector}.{metric.name.removeprefix('Penalty_delta_GSR') or 'delta_GSR'}" for metric in metrics]
        values[heading] = [Described(m.name, _in_words(m), (name,)) for m, name in zip(metrics, printed, strict=True)]
    return About(
        scored,
        calibration,
        references=[
            *(f"**{region.code}**: {region.source}, {region.year}. {region.mapping}" for region in REGIONS),
            _COMPARED,
        ],
        values=values,
        further="Further values",
        archetypes=ARCHETYPES,
        describe=describe,
        metric=lambda name: next((metric for start, metric in _METRICS.items() if name.startswith(start)), ""),
    )


@lru_cache(4096)
def describe(name: str) -> str:
    """A score or a value in words."""
    if name in SCORES:
        return SCORES[name]
    if name in _COMPETENCE:
        return _COMPETENCE[name]
    if name.startswith("refusal_disparity_"):
        return "difference of groups in the share of answers that decline"
    if name in SKIN_DRIFT:
        return "stereotype drift, skin"
    return next((_in_words(metric) for metric in GRANULAR if metric.name == name), "")


def _in_words(metric: Granular) -> str:
    """One of the 60 values in words."""
    attribute = metric.attribute.replace("_", " × ") if metric.attribute != "joint_all" else "all attributes"
    parts = [metric.metric.replace("_", " "), attribute, metric.reference]
    return ", ".join(part for part in parts if part)


def scored(standard: Any) -> Listing:
    """The values that a standard scores, each with its sector and bound."""
    rows = [
        [
            metric.name,
            metric.sector.replace("_", " "),
            _in_words(metric),
            "none: log(1 + value) is taken" if metric.bound is None else number(metric.bound, 3),
        ]
        for metric in standard.metrics
    ]
    return Listing(f"The {len(standard.metrics)} values", ["Value", "Sector", "What it is", "Largest"], rows)


def calibration(standard: Any) -> Listing | None:
    """The magnitudes that S was calibrated on."""
    if not standard.calibration:
        return None
    parts = (*standard.sectors, "total")
    rows = [
        [plain(model.model), plain(model.organisation), *(number(model.magnitudes.get(part), 3) for part in parts)]
        for model in standard.calibration
    ]
    return Listing("", ["Model", "Organisation", *(part.replace("_", " ") for part in parts)], rows)
