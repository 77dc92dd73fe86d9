"""Settings of a run, what its steps have made so far, and its `submission.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from fairspace.submissions.format.manifest import Stage
from fairspace.submissions.format.schema import LabelError, SubmissionMeta, Tool
from fairspace.submissions.running.asking.inspect_task import NOT_STATED, Chosen
from fairspace.submissions.running.asking.models import ModelSettings

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class About:
    """What `submission.json` says of the model."""

    model: str = ""
    revision: str = NOT_STATED
    organisation: str = NOT_STATED
    licence: str = NOT_STATED
    contact: str = NOT_STATED
    parameters: float | None = None
    open_weights: bool | None = None
    architecture: str | None = None

    def facts(self) -> dict[str, Any]:
        """What readers filter by, as the fields of `SubmissionMeta`."""
        return {name: getattr(self, name) for name in ("parameters", "open_weights", "architecture")}


@dataclass(frozen=True)
class RunSettings:
    """A run.

    Args:
        chosen: what of which benchmark.
        out: folder of the submission.
        model: who answers; None for a model that only makes images.
        images: what makes images, as `image_models.open_image_model` reads it; '' for a model that only answers.
        ares: folder of ARES, or repository@revision; labels the images.
        faces: settings of ARES' face detector; None takes each image as one face.
        quality: what rates the images, by role, as `quality.open_quality` reads it; {} leaves them unrated.
        about: for `submission.json`.
        again: whether what failed in an earlier start is asked again.
        score: whether Inspect's log gets the scores.
        device: of torch; '' takes a GPU if there is one.
        batch: faces at a time for ARES; changes nothing but speed.
    """

    chosen: Chosen
    out: Path
    model: ModelSettings | None = None
    images: str = ""
    ares: str = ""
    faces: Mapping[str, Any] | None = None
    quality: Mapping[str, str] = field(default_factory=dict)
    about: About = About()
    again: bool = False
    score: bool = True
    device: str = ""
    batch: int = 64


@dataclass
class Made:
    """What the steps of a run have made so far."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    images: tuple[Path, ...] = ()
    stages: list[Stage] = field(default_factory=list)
    labels: Tool | None = None
    label_error: LabelError | None = None
    name: str = ""
    revision: str = ""
    stated: dict[str, str | int | float | bool | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def submission_meta(settings: RunSettings, state: Made) -> SubmissionMeta:
    """`submission.json` of a run."""
    stated = settings.about.revision
    generation: dict[str, str | int | float | bool | None] = {**settings.chosen.generation(), **state.stated}
    if settings.model is not None:
        generation |= settings.model.generation()
    return SubmissionMeta(
        format=1,
        benchmark=settings.chosen.benchmark,
        dataset_revision=settings.chosen.revision,
        model=settings.about.model or state.name or _name(settings),
        revision=state.revision if stated == NOT_STATED and state.revision else stated,
        organisation=settings.about.organisation,
        licence=settings.about.licence,
        contact=settings.about.contact,
        **settings.about.facts(),
        generation=generation,
        labels=state.labels,
        label_error=state.label_error,
    )


def _name(settings: RunSettings) -> str:
    """The model's name where the user gave none: what it is opened as, without its provider or folder."""
    named = settings.model.name if settings.model is not None else settings.images.partition("?")[0].partition(":")[2]
    return named.rstrip("/").rpartition("/")[2][:200] or NOT_STATED
