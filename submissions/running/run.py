"""`fairspace run`: one command from a benchmark to a submission, each step of it going on where it stopped.

    OUT/        the submission; written when every item has its fate
    OUT.run/    the workings: journal of answers, Inspect's logs, images and their annotations

A model that only answers gets the text tasks, one that only makes images the image tasks; what is not run is not in the
submission, and scoring says so. IRIS' steer prompts follow the model: its neutral images are annotated first, and the
sixty prompts are those of its own ten strongest occupations and groups (C.2).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from submissions.collector import show
from submissions.faults import UsageError, did_you_mean
from submissions.format import LabelError, Line, SubmissionMeta, Tool
from submissions.manifest import FILE, Manifest, Stage, write_manifest
from submissions.reading import META
from submissions.registry import benchmark
from submissions.running.errors import RunError
from submissions.running.folders import held, public_name, work_folder
from submissions.running.inspect_task import NOT_STATED, REVISION, Chosen
from submissions.running.journal import JOURNAL
from submissions.running.judging_kept import judgements_of, kept_judgements, link
from submissions.running.models import ModelSettings
from submissions.running.parts import check_options
from submissions.writing import write_submission

_NEW, _FORMER = "submission.new", "submission.former"
"""Among the workings: the submission while it is written, and the one that it takes the place of."""
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


@dataclass(frozen=True)
class Outcome:
    """What came of a run.

    Args:
        out: the submission.
        stages: how it was made.
        notes: what the user should know: tasks that were not run, and why.
    """

    out: Path
    stages: tuple[Stage, ...]
    notes: tuple[str, ...]


def run(settings: RunSettings, tell: Tell = lambda what, done, total: None) -> Outcome:
    """Run a benchmark, or go on where an earlier call with the same settings stopped, and write the submission.

    Errors: UsageError, RunError, BuildError; what was answered or made is kept.
    """
    _check(settings)
    work = work_folder(settings.out)
    made = Made()
    if settings.images:
        from submissions.running.generating import generate
        from submissions.running.image_process import this_process

        if this_process().index > 0:
            generate(settings, work, made, tell)
            return Outcome(settings.out, (), ())
    try:
        with held(work):
            if settings.images:
                generate(settings, work, made, tell)
            if settings.model is not None and text_tasks(settings.chosen):
                _answer(settings, work, made, tell)
            _write(settings, work, made)
    except KeyboardInterrupt as error:
        from submissions.running.answering import stopped

        raise stopped(str(work), "what was made is kept") from error
    except OSError as error:
        from submissions.running.asking import of_disk, unwritten

        if error.filename is not None or not of_disk(error):
            raise
        raise unwritten(work, error) from error
    return Outcome(settings.out, tuple(made.stages), tuple(made.notes))


def text_tasks(chosen: Chosen) -> tuple[str, ...]:
    """The tasks with text answers that are asked for, in the benchmark's order."""
    found = [task.name for task in benchmark(chosen.benchmark).tasks if task.table == "responses"]
    return tuple(task for task in found if task in chosen.tasks or not chosen.tasks)


def check_tasks(chosen: Chosen) -> None:
    """RunError TASK_UNKNOWN if a task that is asked for is none that a model can run."""
    known = [task.name for task in benchmark(chosen.benchmark).tasks if task.table != "judgements"]
    for task in chosen.tasks:
        if task not in known:
            mend = f"choose from {', '.join(known)}"
            what = f"no task of {chosen.benchmark}{did_you_mean(task, known)}"
            raise RunError("TASK_UNKNOWN", f"task {task}", what, "a task that a model can run", mend)


def submission_meta(settings: RunSettings, made: Made) -> SubmissionMeta:
    """`submission.json` of a run."""
    stated = settings.about.revision
    generation: dict[str, str | int | float | bool | None] = {**settings.chosen.generation(), **made.stated}
    if settings.model is not None:
        generation |= settings.model.generation()
    return SubmissionMeta(
        format=1,
        benchmark=benchmark(settings.chosen.benchmark).name,  # type: ignore[arg-type]
        dataset_revision=REVISION,
        model=settings.about.model or made.name or _name(settings),
        revision=made.revision if stated == NOT_STATED and made.revision else stated,
        organisation=settings.about.organisation,
        licence=settings.about.licence,
        contact=settings.about.contact,
        **settings.about.facts(),
        generation=generation,
        labels=made.labels,
        label_error=made.label_error,
    )


def _answer(settings: RunSettings, work: Path, made: Made, tell: Tell) -> None:
    from submissions.running.answering import answer
    from submissions.running.inspect_task import open_benchmark
    from submissions.running.plan_limit import limited

    assert settings.model is not None
    opened = open_benchmark(replace(settings.chosen, tasks=text_tasks(settings.chosen)))
    made.stated = {**opened.settings, **opened.marks}
    if note := limited(opened).text:
        made.notes.append(note)
    found = answer(
        opened,
        settings.model,
        work,
        submission_meta(settings, made),
        revision=settings.about.revision,
        again=settings.again,
        score=settings.score,
        tell=tell,
    )
    made.tables["responses"] = found.table
    made.stages.append(found.stage)
    if found.stage.revision != NOT_STATED:
        made.revision = found.stage.revision
    made.notes.append(f"Inspect's log: {found.log}")


def _write(settings: RunSettings, work: Path, made: Made) -> None:
    """Write the submission among the workings, then move it to its place: it is never there in part."""
    if not made.images and not any(table.num_rows for table in made.tables.values()):
        what = "no request was answered"
        mend = "see the reasons in the log, mend them, and run the same command again with --again"
        raise RunError("RUN_INCOMPLETE", str(settings.out), what, "one answer at least", mend)
    new, former = work / _NEW, work / _FORMER
    if former.exists():  # an earlier start was killed here
        if settings.out.exists():
            shutil.rmtree(former)
        else:
            former.rename(settings.out)
    if new.exists():
        shutil.rmtree(new)
    kept = kept_judgements(settings.out, made.tables.get("responses"))
    if judgements_of(settings.out) and not kept.files:
        made.notes.append("judgements removed, as the narratives changed: judge again")
    write_submission(new, kept.named(submission_meta(settings, made)), made.tables)
    write_manifest(new, Manifest(stages=[*made.stages, *kept.stages]))
    for file in kept.files:
        link(file, new / file.name)
    for number, shard in enumerate(made.images):
        link(shard, new / f"images-{number:05}-of-{len(made.images):05}.parquet")
    if settings.out.exists():
        settings.out.rename(former)
    new.rename(settings.out)
    if former.exists():
        shutil.rmtree(former)


def _check(settings: RunSettings) -> None:
    """UsageError if the run makes no sense before anything is asked."""
    if settings.model is None and not settings.images:
        raise UsageError("Name a model that answers (--model), one that makes images (--images), or both.")
    image_tasks = [task for task in benchmark(settings.chosen.benchmark).tasks if task.table == "annotations"]
    if settings.images and not image_tasks:
        raise UsageError(f"{settings.chosen.benchmark} has no task of making images; leave out --images.")
    if settings.ares and not settings.images:
        raise UsageError("--ares labels what --images makes; name both, or leave it out.")
    check_tasks(settings.chosen)
    check_options(settings.chosen.benchmark, settings.chosen.prefix, settings.chosen.text_only)
    _check_meta(settings)
    out, work = settings.out, work_folder(settings.out)
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or _ours(out, work))):
        raise UsageError(
            f"{out} is there already, and was not made by a run whose workings are in {work.name}. Name another --out."
        )
    if settings.model is None and (work / JOURNAL).exists():
        raise UsageError(f"{work} holds a model's answers: name --model too, or another --out.")
    if not settings.images and (work / "images").exists():
        raise UsageError(f"{work} holds a model's images: name --images too, or another --out.")
    if not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write {out.name} to; make it first.")


def _check_meta(settings: RunSettings) -> None:
    """UsageError if what `submission.json` and the manifest are to say of the model cannot stand there."""
    line = "one line of 1 to 200 printable characters"
    try:
        submission_meta(settings, Made())
    except ValidationError as error:
        (first, *_) = error.errors()
        field = ".".join(map(str, first["loc"]))
        expected = line if first["type"].startswith("string") else first["msg"].removeprefix("Input should be ")
        raise UsageError(f"{field} is {show(first['input'])}. Expected: {expected}.") from error
    if settings.model is not None:
        try:
            TypeAdapter(Line).validate_python(public_name(settings.model.name))
        except ValidationError as error:
            raise UsageError(f"--model is {show(settings.model.name)}. Expected: {line}.") from error


def _ours(out: Path, work: Path) -> bool:
    """Whether a run has made a folder."""
    return (out / META).is_file() and (out / FILE).is_file() and work.is_dir()


def _name(settings: RunSettings) -> str:
    """The model's name where the user gave none: what it is opened as, without its provider or folder."""
    named = settings.model.name if settings.model is not None else settings.images.partition("?")[0].partition(":")[2]
    return named.rstrip("/").rpartition("/")[2][:200] or NOT_STATED
