"""Settings of a run, results of its steps, and its `submission.json`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from fairspace.submissions.format.manifest import Scalar, Stage
from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.running.asking.inspect_task import NOT_STATED, ChosenPart
from fairspace.submissions.running.asking.models import ModelSettings

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class ModelFacts:
    """Facts on the model for `submission.json`."""

    model: str = ""
    revision: str = NOT_STATED
    organisation: str = NOT_STATED
    licence: str = NOT_STATED
    contact: str = NOT_STATED
    parameters: float | None = None
    open_weights: bool | None = None
    architecture: str | None = None
    thresholds: str | None = None


@dataclass(frozen=True)
class RunSettings:
    """A run.

    Args:
        images: model that makes images, for `images.models.open_image_model`; '' for one that only answers.
        ares: labels the images: folder of ARES, repository@revision, or another labeller (`zero_shot`).
        faces: ARES' face detector, or its settings; None takes each image as one face.
        quality: role -> rater of the images, for `quality.models.open_quality`; {} leaves them unrated.
        after: submission with the model's annotated neutral images, from which IRIS' steer prompts follow; None takes
            this run's.
    """

    chosen: ChosenPart
    out: Path
    model: ModelSettings | None = None
    images: str = ""
    ares: str = ""
    faces: Any = None
    quality: Mapping[str, str] = field(default_factory=dict)
    about: ModelFacts = ModelFacts()
    again: bool = False
    measurement: Path | None = None
    after: Path | None = None


@dataclass
class RunSteps:
    """Results of a run's steps so far."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    images: tuple[Path, ...] = ()
    stages: list[Stage] = field(default_factory=list)
    labels: dict[str, Any] = field(default_factory=dict)
    """Fields of `submission.json` on the labels of images (`labelling.labels_of`)."""
    name: str = ""
    revision: str = ""
    stated: dict[str, Scalar] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class RunOutcome:
    """A submission that was written or judged, its stages, and notes for the user, such as tasks that were not run."""

    out: Path
    stages: tuple[Stage, ...]
    notes: tuple[str, ...]


def meta_of(part: ChosenPart, generation: Mapping[str, Scalar], about: ModelFacts, **more: Any) -> SubmissionMeta:
    """`submission.json` of answers; `more` are further fields. ValidationError if a text does not fit."""
    return SubmissionMeta(
        format=1,
        benchmark=part.benchmark,
        dataset_revision=part.revision,
        **{name: fact for name, fact in vars(about).items() if name not in ("model", "thresholds")},
        model=about.model or NOT_STATED,
        generation=dict(generation),
        **more,
    )


def submission_meta(settings: RunSettings, state: RunSteps) -> SubmissionMeta:
    """`submission.json` of a run."""
    stated = settings.about.revision
    generation = {**settings.chosen.generation(), **state.stated}
    if settings.model is not None:
        generation |= settings.model.generation()
    about = replace(
        settings.about,
        model=settings.about.model or state.name or _name(settings),
        revision=state.revision if stated == NOT_STATED and state.revision else stated,
    )
    return meta_of(settings.chosen, generation, about, **state.labels)


def _name(settings: RunSettings) -> str:
    """Default name of a model: without its provider or folder."""
    name = settings.model.name if settings.model is not None else settings.images.partition("?")[0].partition(":")[2]
    return name.rstrip("/").rpartition("/")[2][:200] or NOT_STATED
