"""The commands of the classifier, `fairspace ares`: train, evaluate, annotate, quality."""

import datetime
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import typer

from fairspace.builders.part import numbers, read_part
from fairspace.submissions.commands.app import MAKE, command, command_group
from fairspace.submissions.commands.run_options import launched_part, pairs
from fairspace.submissions.errors import UsageError, need_labeller, need_packages
from fairspace.submissions.plotting import share_text

app = command_group(
    "ares", MAKE, "Train, measure and run ARES, which labels the perceived presentation of persons in generated images."
)

NONFACES = 20
"""Drawn non-faces of each kind that a labeller is shown, to count what it labels."""


@command(app, "fairspace ares train --config tiny --data drawn:6000 --out built/ares")
def train(config: str, data: str, out: Path, add_to: Path | None = None, distributed: bool = False) -> None:
    """Train a model stage by stage: experts, fusion, routers, calibration; a stopped run goes on where it was.

    Options:
        config: A TOML file, or `paper` or `tiny`, which come with this software.
        data: Folder of a built iris_classifier_25, or drawn:N.
        out: Folder to train into, or to go on in.
        add_to: A trained model that gets a new attribute; its others stay, to the bit.
        distributed: The processes that torchrun started share each batch.
    """
    need_labeller("")
    from fairspace.ares.training.stages import train as trained

    trained(_config(config), data, out, base=add_to, distributed=distributed, progress=_tell)
    if numbers(read_part())[0] == 0:
        typer.echo(f"Wrote {out}. Next: fairspace ares evaluate {out} --data {data} --out {out.name}-evaluation")


@command(app, "fairspace ares import pretrained --out imported", name="import")
def import_weights(folder: Path, out: Path) -> None:
    """Make an ARES of the authors' released weights: experts and regressor; their two routers are left out.

    Options:
        folder (argument): Folder with the nine files that IRIS' authors release.
        out: New folder of ARES.
    """
    need_labeller("")
    from fairspace.ares.importing import import_released

    import_released(folder, out)
    typer.echo(f"Wrote {out}. Next: fairspace ares evaluate {out} --data FACES --labels CSV --out measured")


@command(app, "fairspace ares evaluate built/ares --data built/iris_classifier_25 --out evaluation")
def evaluate(
    model: str,
    data: str,
    out: Path,
    labels: Path | None = None,
    ask_endpoint: bool = False,
    write_measurement: bool = False,
) -> None:
    """Measure a model: reports, groups, calibration, and the ablations E1 to E7 beside the printed tables.

    With --labels, measure any labeller's error on faces that people labelled: confusion matrices per group.

    Options:
        model (argument): Folder of a trained model; with --labels any labeller: {LABELLERS}
        data: Folder of a built iris_classifier_25, or drawn:N; with --labels, folder of images.
        out: Folder for report.md, evaluation.json; with --labels, measurement.json.
        labels: CSV of one person's faces that people labelled: file, gender, age, skin_tone, race as far as known, and
            columns to group by.
        write_measurement: Also write measurement.json into the model's folder.
    """
    need_labeller(model)
    from fairspace.submissions.progress import reported

    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    with reported(f"Measuring {model}") as report:
        if labels is not None:
            _measure(model, Path(data), labels, out, date, report)
            return
        from fairspace.ares.evaluating.evaluate import evaluate as evaluated

        measured = evaluated(Path(model), data, out, ask_endpoint=ask_endpoint, nonfaces=NONFACES, progress=report)
    for note in measured.notes:
        typer.echo(f"Note: {note}")
    for row, each in measured.ablations.items():
        parts = {"all": each.accuracy, **each.tasks}
        text = ", ".join(f"{name} {'undefined' if value is None else f'{value:.1%}'}" for name, value in parts.items())
        typer.echo(f"{row:5}{each.reason or text}")
    _say_gate(measured.gate)
    typer.echo(f"Wrote {out / 'report.md'}, with the printed figures beside the measured ones.")
    if write_measurement:
        from fairspace.ares.evaluating.evaluate import write_measurement as written

        written(Path(model), measured, date)
        typer.echo(f"Wrote {Path(model) / 'measurement.json'}.")


def _measure(model: str, faces: Path, labels: Path, out: Path, date: str, report: Any) -> None:
    """Measure a labeller on labelled faces, and say how right it is for each attribute."""
    from fairspace.ares.evaluating.labelled_faces import measure_labeller
    from fairspace.submissions.running.zero_shot import open_labeller

    labeller, ares = open_labeller(model)
    document, measured = measure_labeller(
        faces, labels, out, labeller=labeller, model=ares, date=date, nonfaces=NONFACES, progress=report
    )
    for name, each in measured.items():
        share = each.overall.right
        if share.ends is None:
            typer.echo(f"{name}: no image has a label")
            continue
        without = f"{sum(each.overall.abstained)} without an answer"
        typer.echo(f"{name}: right {share_text(*share.ends)} of {share.images} images; {without}")
        if each.disparity.value is not None:
            gap = f"{each.disparity.value:.1%}: {each.disparity.most} most often right, {each.disparity.least} least"
            typer.echo(f"  gap between labels {gap}")
    _say_gate(document.gate)
    typer.echo(f"Wrote {out / 'measurement.json'} ({document.sha256[:16]}).")


def _say_gate(gate: Any) -> None:
    """Print what a labeller answers for faces and for non-faces; nothing where that was not measured."""
    if gate is None:
        return
    from fairspace.ares.evaluating.nonfaces import rows

    for shown, _, share, _ in rows(gate):
        if share.ends is not None:
            typer.echo(f"  {shown}: {share_text(*share.ends)} of {share.images} images labelled")


@command(app, "fairspace ares annotate images --model built/ares --out annotations")
def annotate(
    images: str,
    out: Path,
    model: str,
    measurement: Path | None = None,
    task: str = "",
    names: str = "items",
    faces: str = "",
    ask_endpoint: bool = False,
    part: str = "",
    shard: int | None = None,
    on: str = "",
) -> None:
    """Label the images of a model: annotations as a submission holds them; a stopped run goes on where it was.

    Parts end without annotation.json: `fairspace join` writes it, or the same command without a part.

    Options:
        images (argument): A folder of images, Parquet shards, or a Hub dataset.
        out: Folder to annotate into, or to go on in; one for all parts, or for each.
        model (--labeller, --ares, --model): What labels: {LABELLERS}
        task: Task of all images, where their names do not say it.
        names: items; files where the images are no benchmark's; or BENCHMARK@REVISION: its ids; --out becomes a
            submission.
        shard (min=1): Images of a file of the output, 1,000; a part takes whole files.
        on: ray, or ray://HOST:PORT of a cluster: Ray Data shares the files out (extra `ray`).
    """
    need_labeller(model)
    if on and (part or read_part() or not re.fullmatch(r"ray(://[^/\s]+:\d+)?", on)):
        raise UsageError("--on is ray or ray://HOST:PORT, and shares the files out: start it once, without --part.")
    part, _ = launched_part(part, None)
    from fairspace.ares.annotating.source import NAMES, list_entries, open_source, passed_over
    from fairspace.submissions.progress import reported
    from fairspace.submissions.running.labelling import hand_in, open_labelling

    in_names = names if names in NAMES else "items"
    options: dict[str, Any] = {"names": names, "faces": faces, "task": task, "measurement": measurement}
    options |= {"ask_endpoint": ask_endpoint} | ({"shard": shard} if shard else {})
    opening = partial(open_labelling, images, out, model, **options)
    with reported(f"Annotating {images}") as report:
        if on:
            from fairspace.ares.annotating.files import SHARD, entry_names, join
            from fairspace.ares.annotating.on_ray import label_on_ray

            listed = len(list(list_entries(open_source(images, task, in_names))))
            count = len(entry_names({"images": listed, "shard": shard or SHARD}))
            label_on_ray(on.removeprefix("ray").removeprefix("://"), opening, count, report)
            data, speed = dict(join([out], out)[0]), ""
        else:
            from fairspace.ares.annotating.annotate import annotated

            outcome = annotated(opening(progress=report), part, report)
            data = dict(outcome.data)
            speed = f", {outcome.images_per_second:.1f} images/s" if outcome.images_per_second else ""
    if not data:
        typer.echo(f"{out}: part {part}, {outcome.images} images{speed}. Next: fairspace join {out} --out {out}")
        return
    counts = data["counts"]
    typer.echo(f"{out}: {counts['images']} images, {counts['rows']} rows{speed}")
    for name, faces_by_route in counts["routes"].items():
        total = sum(faces_by_route.values())
        routes = ", ".join(f"{route} {n / total:.1%}" for route, n in sorted(faces_by_route.items()))
        typer.echo(f"  {name}: {routes}")
    if Path(images).exists() and (others := passed_over(open_source(images, task, in_names))):
        typer.echo(f"Passed over: {others}")
    if use := data.get("use"):
        typer.echo(use)
    typer.echo("Labels are perceived presentation, measured with error.")
    if names not in NAMES:
        hand_in(out, names, data)
        typer.echo(f"Wrote {out}. Next: name the model in {out / 'submission.json'}, then fairspace check {out}")


@command(app, "fairspace ares quality mine.run/images/generation_steer/shards --annotations mine --out rated")
def quality(
    images: str, annotations: Path, out: Path, role: list[str] | None = None, references: str = "", faces: str = ""
) -> None:
    """Measure image quality and semantics (IRIS M8, M9) of annotated images; a stopped run goes on where it was.

    Options:
        images (argument): The steered images of IRIS, as `ares annotate` takes images.
        annotations: Folder with annotations*.parquet of the same images.
        out: Folder to write to, or to go on in; that of --annotations has its files replaced.
        role (--quality): What rates, ROLE=SCHEME:ID, as of `fairspace run`; can be given again. All four roles if left
            out.
        references: Folder of builds, or NAMESPACE[@TAG], with IRIS-Ideal-52: its images are the references. If left
            out, the prompt's other images are (dataset revision v1).
    """
    need_packages("ares", "torch", "transformers", "safetensors")
    from fairspace.submissions.progress import reported
    from fairspace.submissions.reading.tables import META
    from fairspace.submissions.running.images.generating import quality_roles
    from fairspace.submissions.running.quality.measuring import fill_quality
    from fairspace.submissions.running.quality.models import SCHEMES, References, open_quality
    from fairspace.submissions.running.zero_shot import face_detector

    specs = pairs("--quality", role or []) or {name: next(iter(schemes)) for name, schemes in SCHEMES.items()}
    roles = quality_roles(specs)
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is no folder; name a folder for --out.")
    if (out / META).exists():
        raise UsageError(f"{out} is a submission; name another --out, then copy its annotations*.parquet here.")
    compared = References(references) if "reference" in specs and references else None
    models = open_quality(**roles, references=compared, detector=face_detector(faces))
    place = out.resolve()
    cache = place.with_name(f"{place.name}.run") / "quality.sqlite"  # where `fairspace run` keeps it too
    with reported(f"Measuring {images}") as report:
        rated = fill_quality(images, annotations, out, models, cache=cache, progress=report)
    counts = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in rated.counts.items() if number)
    typer.echo(f"{out}: {counts or 'no images of the steer prompts'}")
    for column, name in rated.about.items():
        typer.echo(f"  {column}: {name}")


def _config(name: str) -> Path:
    """A file, or one that comes with this software."""
    from fairspace.ares.training.config import CONFIGS

    shipped = CONFIGS / f"{name}.toml"
    return shipped if shipped.is_file() else Path(name)


def _tell(event: Mapping[str, Any]) -> None:
    """One line per epoch or router."""
    figures = (f"{key} {value:.4g}" for key, value in event.items() if isinstance(value, float))
    whole = (f"{key} {value}" for key, value in event.items() if isinstance(value, (int, str)))
    typer.echo("  ".join([*whole, *figures]))
