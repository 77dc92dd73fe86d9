"""What is said of one study: components of variance, what its samples are worth, and how far they agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fairspace.submissions.validity.agreement import Agreement, agreements
from fairspace.submissions.validity.components import Component, components
from fairspace.submissions.validity.decision import Decision, decision
from fairspace.submissions.validity.study import Study, over_models


@dataclass(frozen=True)
class StudyReport:
    """What the samples of one task say of themselves.

    Args:
        study: its name.
        score: what the score of a sample is.
        value: the value of a result that the samples are the evidence of.
        unit: of the score.
        samples: with a score.
        mean: of the scores; None without samples.
        components: of their variance.
        decision: what the samples are worth; None without components, and over several forms.
        reason: why there are no components; '' if there are.
        agreement: of samples of one item, by what they differ in.
    """

    study: str
    score: str
    value: str
    unit: str
    samples: int
    mean: float | None
    components: tuple[Component, ...]
    decision: Decision | None
    reason: str = ""
    agreement: tuple[Agreement, ...] = ()


def study_report(study: Study, wanted: float | None = None, *, decided: bool = True) -> StudyReport:
    """Components and agreement of one study, and a decision study if it is to be decided."""
    estimated = components(study)
    mean = None if math.isnan(estimated.mean) else estimated.mean
    return StudyReport(
        study.name,
        study.score,
        study.value,
        study.unit,
        estimated.samples,
        mean,
        estimated.parts,
        decision(estimated, wanted) if decided else None,
        estimated.reason,
        tuple(agreements(study)),
    )


def joined(models: Sequence[str], of_models: Sequence[Sequence[Study]]) -> list[Study]:
    """The studies that all models have, each as one; those of the only model as they are."""
    if len(models) == 1:
        return list(of_models[0])
    by_name = [{study.name: study for study in studies} for studies in of_models]
    shared = [name for name in by_name[0] if all(name in studies for studies in by_name)]
    return [over_models(models, [studies[name] for studies in by_name]) for name in shared]
