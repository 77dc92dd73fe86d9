"""The image tasks of a benchmark: images made, labelled and rated.

    OUT.run/images/<task>/         images of a task (`images.make_images`)
    OUT.run/annotations/<task>/    the labels, in a folder for just these images
    OUT.run/quality.sqlite         cache of `quality.measuring`

ARES' annotations of the neutral images come before the steer prompts, which follow from them (C.2): those of this run,
or of the submission `--after`, which a part of a run needs, as its own images are not all.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS
from fairspace.builders.iris.items import steer_items
from fairspace.builders.iris_steer_60.plan import STEREOTYPES
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, STEER, neutral_group_counts
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.task import Ask, prompts_hash
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.manifest import PART_MARK, Stage, circumstances, now, version
from fairspace.submissions.format.schema import ANNOTATIONS, Submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from fairspace.submissions.running.images.making import made_of, make_images, plan_hash
from fairspace.submissions.running.images.models import open_image_model
from fairspace.submissions.running.planning import image_tasks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairspace.submissions.running.images.made import ImageModel
    from fairspace.submissions.running.quality.models import References
    from fairspace.submissions.running.settings import RunSettings, RunSteps, Tell


def generate(settings: RunSettings, work: Path, state: RunSteps, tell: Tell) -> None:
    """Run the image tasks; `state` gets annotations (or images, if nothing labels them), stages and notes."""
    if settings.quality:
        from fairspace.submissions.running.quality.models import open_quality

        # What lacks is known before hours of images.
        open_quality(settings.quality)
        _references(settings)
    if settings.model is None and image_tasks(settings.chosen) == [STEER] and settings.after is None:
        raise UsageError(f"{STEER} cannot be run alone: {_why_no_steer(settings)}.")
    model = open_image_model(settings.images)
    state.revision = model.revision
    if settings.model is None:
        state.name = _public_name(model)
    for task in image_tasks(settings.chosen):
        if task == STEER:
            plan = _steer_plan(settings, model, work, state)
            if plan is None:
                state.notes.append(f"{STEER} was not run: {_why_no_steer(settings)}.")
                continue
        else:
            part = settings.chosen
            plan = image_asks(part, task, benchmark(part.benchmark).task(task).asked(part.revision, part.data))
        folder = work / "images" / task
        report = make_images(
            plan,
            model,
            folder,
            seed=settings.chosen.seed or 0,
            progress=tell,
            retry_failed=settings.again,
            may_be_empty=bool(settings.chosen.part),
        )
        stage = Stage(
            what="images",
            model=model.name,
            revision=model.revision,
            engine=model.engine,
            engine_version=model.engine_version,
            settings={**model.settings(), "seed": settings.chosen.seed or 0, "pixels": report.pixels}
            | ({"seeded": "refused"} if "seed" in report.refused else {}),
            prompts=prompts_hash(plan),
            tasks=[task],
            requests=len(plan),
            fates=dict(report.fates),
            limit=settings.chosen.limit,
            stratified=settings.chosen.stratified,
            **circumstances(report.started, *_PACKAGES, ended=report.ended),
        )
        state.stages.append(stage)
        for reason, number in list(report.reasons.items())[:5]:
            state.notes.append(f"{task}: {number} images {reason}")
        if settings.ares and plan:
            _annotate(settings, work, task, folder / "shards", state, tell)
        elif not settings.ares:
            state.images += report.shards
    if settings.quality and "annotations" in state.tables:
        _rate(settings, work, state, tell)


def _public_name(model: ImageModel) -> str:
    """A model's name on the board: an endpoint's unchanged, else without path or owner."""
    name = model.name if model.engine == "openai" else model.name.rstrip("/").rpartition("/")[2]
    return name[:200]


def _why_no_steer(settings: RunSettings) -> str:
    if settings.chosen.part and settings.after is None:
        mend = f"join these, then run it with --tasks {STEER} --after JOINED"
        return f"its prompts follow from the neutral images of all parts; {mend}"
    lacking = [] if NEUTRAL in image_tasks(settings.chosen) or settings.after else [f"{NEUTRAL} (--tasks)"]
    lacking += [] if settings.ares else ["what labels them (--labeller)"]
    if lacking:
        return f"its prompts follow from the annotated neutral images; name {' and '.join(lacking)}"
    return "none of the neutral images has all three labels, from which its prompts follow"


_PACKAGES = ("diffusers", "transformers", "torch", "openai", "pillow")
_RATED = ("measured", "unreadable", "refused", "missing")
"""Fates of an image that is to be rated."""
_LACKING = {
    "without_face": "face quality: no face was found",
    "without_reference": "reference similarity: IRIS-Ideal-52 has no image of what its prompt asks for",
}


def image_asks(part: ChosenPart, task: str, items: pa.Table) -> list[Ask]:
    """One request for each image of a task's items (`id`, `prompt`), or for a valid choice of them."""
    prompts = dict(zip(items["id"].to_pylist(), items["prompt"].to_pylist(), strict=True))
    stimuli = benchmark(part.benchmark).task(task).images(prompts, part.revision)
    wanted = [stimuli[place] for place in part.choose(task, stimuli)]
    return [Ask(task, each.stratum, int(each.id.rpartition("/")[2]), prompts[each.stratum]) for each in wanted]


def _steer_plan(settings: RunSettings, model: ImageModel, work: Path, state: RunSteps) -> list[Ask] | None:
    """The requests of the model's own steer prompts (C.2); None if the neutral images give no basis."""
    from fairspace.submissions.running.settings import submission_meta

    neutral = None
    if settings.after is not None:
        neutral = _neutral_after(settings.after, settings.chosen, model)
    elif "annotations" in state.tables and not settings.chosen.part:
        neutral = Submission(submission_meta(settings, state), dict(state.tables))
    items = None if neutral is None else _founded(neutral_group_counts(neutral), state)
    if items is None or not items.num_rows:
        return None
    plan = image_asks(settings.chosen, STEER, items)
    before = work / "images" / STEER
    if made_of(before) not in ("", plan_hash(plan)):
        aside = _set_aside(before)
        state.notes.append(f"{STEER}: its prompts are others now; the images of the former ones are kept in {aside}.")
    return plan


def _neutral_after(after: Path, part: ChosenPart, model: ImageModel) -> Submission:
    """The submission with the model's neutral images. UsageError for another model's, or one part; SubmissionError."""
    submission = read_submission(after)
    meta, stages = submission.meta, submission.manifest.stages if submission.manifest else ()
    made = [(stage.model, stage.revision) for stage in stages if stage.what == "images" and NEUTRAL in stage.tasks]
    of = (meta.benchmark, meta.dataset_revision, *(made[-1] if made else (model.name, model.revision)))
    if of != (now_of := (part.benchmark, part.revision, model.name, model.revision)):
        what = f"--after {after} is of {', '.join(of)}, and this run of {', '.join(now_of)}"
        raise UsageError(f"{what}. Name the neutral images of this model.")
    if PART_MARK in meta.generation:
        raise UsageError(f"--after {after} is part {meta.generation[PART_MARK]}. Join all parts, and name the whole.")
    return submission


def _founded(counts: NDArray[np.int_], state: RunSteps) -> pa.Table:
    """The steer prompts that follow from an image; with fewer than ten stereotypes the last in the list do not."""
    shown = {f"{OCCUPATIONS[occupation]}/{GROUPS[group]}" for occupation, group in np.argwhere(counts)}
    if 0 < len(shown) < STEREOTYPES:
        note = f"the labelled neutral images show {len(shown)} stereotypes, and its score follows from {STEREOTYPES}."
        state.notes.append(f"{STEER}: {note}")
    items = steer_items(counts)
    return items.filter([item.split("/", 1)[1].rpartition("/")[0] in shown for item in items["id"].to_pylist()])


def _set_aside(folder: Path) -> Path:
    """Rename a folder whose content followed from other neutral images."""
    number = 1
    while (aside := folder.with_name(f"{folder.name}.{number}")).exists():
        number += 1
    folder.rename(aside)
    return aside


def _annotate(settings: RunSettings, work: Path, task: str, shards: Path, state: RunSteps, tell: Tell) -> None:
    from fairspace.ares.annotating.annotate import annotate
    from fairspace.submissions.running.labelling import labels_of
    from fairspace.submissions.running.zero_shot import open_labeller

    started = now()
    labeller, model = open_labeller(settings.ares)
    report = annotate(
        model,
        shards,
        work / "annotations" / task / _images_hash(shards),
        detector=settings.faces,
        labeller=labeller,
        measurement=settings.measurement,
        progress=tell,
    )
    table = pa.concat_tables([pq.read_table(file).replace_schema_metadata(None) for file in report.files])
    before = state.tables.get("annotations")
    state.tables["annotations"] = table if before is None else pa.concat_tables([before, table])
    state.labels = labels_of(report.data["model"], report.data["settings"], report.data.get("label_error"))
    labels, counts = state.labels["labels"], report.data["counts"]
    stage = Stage(
        what="annotations",
        model=labels["name"],
        revision=labels["version"],
        engine="fairspace" if "labeller" in labels["settings"] else "ares",
        engine_version=version("fairspace"),
        settings=labels["settings"],
        datasets={"items": settings.chosen.revision},
        tasks=[task],
        requests=counts["images"],
        fates=counts["status"],
        limit=settings.chosen.limit,
        stratified=settings.chosen.stratified,
        **circumstances(started, "transformers", "torch", "xgboost-cpu", "xgboost"),
    )
    state.stages.append(stage)


def _images_hash(shards: Path) -> str:
    """Hash of the images and shards; failed images that were made later change it."""
    digest = hashlib.sha256()
    for file in sorted(shards.glob("*.parquet")):
        rows = pq.read_table(file, columns=["task", "id", "sample", "sha256"]).to_pylist()
        digest.update(json.dumps([file.name, rows]).encode())
    return digest.hexdigest()[:16]


def _rate(settings: RunSettings, work: Path, state: RunSteps, tell: Tell) -> None:
    from fairspace.submissions.running.quality.measuring import measure_quality, steer_prompts
    from fairspace.submissions.running.quality.models import open_quality

    table = state.tables["annotations"]
    steered = work / "images" / STEER / "shards"
    if not steered.is_dir() or STEER not in table["task"].to_pylist():
        state.notes.append("Image quality was not measured: it is of steered images, and there are none.")
        return
    measures = open_quality(settings.quality, references=_references(settings), detector=settings.faces)
    started = now()
    prompts = steer_prompts(table["id"].to_pylist())
    measured = measure_quality(steered, table, prompts, measures, cache=work / "quality.sqlite", progress=tell)
    state.tables["annotations"] = measured.annotations.select(
        [name for name in ANNOTATIONS.names if name in measured.annotations.column_names]
    )
    for name, number in measured.counts.items():
        if name in _LACKING and number:
            state.notes.append(f"{STEER}: {number} measured images have no {_LACKING[name]}.")
    state.stages.append(
        Stage(
            what="quality",
            model=", ".join(dict.fromkeys(measure.features.name for measure in measures))[:200],
            revision="as named",
            engine="transformers",
            engine_version=version("transformers"),
            settings=dict(measured.about),
            tasks=[STEER],
            requests=measured.counts["images"],
            fates={fate: measured.counts[fate] for fate in _RATED},
            **circumstances(started, "transformers", "torch"),
        )
    )


def _references(settings: RunSettings) -> References | None:
    """The references of the role `reference`; None without that role. UsageError without the dataset."""
    from fairspace.submissions.running.quality.models import References

    if "reference" not in settings.quality:
        return None
    if not settings.chosen.data:
        raise UsageError("--quality reference compares with images of IRIS-Ideal-52: name its builds with --data.")
    return References(settings.chosen.data, settings.chosen.dataset_revision)
