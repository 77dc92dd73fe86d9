"""The commands of the classifier, `fairspace ares`: train, convert, add-attribute, evaluate, annotate, drift."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fairspace.submissions.commands.app import MAKE, command_group
from fairspace.submissions.errors import UsageError, need_packages

app = command_group(
    "ares", MAKE, "Train, measure and run ARES, which labels the perceived presentation of persons in generated images."
)

ModelArgument = Annotated[Path, typer.Argument(help="Folder of a trained model.", metavar="MODEL")]
ConfigOption = Annotated[
    str, typer.Option("--config", help="A TOML file, or `paper` or `tiny`, which come with this software.")
]
DataOption = Annotated[str, typer.Option("--data", help="Folder of a built iris_classifier_25, or drawn:N.")]
EndpointOption = Annotated[
    bool, typer.Option("--ask-endpoint", help="Images may be sent to the endpoint that the model names.")
]
LabellerOption = Annotated[
    str, typer.Option("--labeller", help="What labels: ares, or a package that `fairspace ares labellers` lists.")
]
MeasurementOption = Annotated[
    Path | None, typer.Option("--measurement", help="Of a package: measurement.json of `fairspace ares measure`.")
]
NonfacesOption = Annotated[
    int, typer.Option("--nonfaces", help="Drawn non-faces of each kind, to count what is labelled; 0 for none.", min=0)
]
DeviceOption = Annotated[str, typer.Option("--device", help="cpu, cuda, cuda:1; a GPU if there is one.")]


@app.command(epilog="Example: fairspace ares train --config tiny --data drawn:6000 --out built/ares")
def train(
    config: ConfigOption,
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Folder to train into, or to go on in.")],
) -> None:
    """Train a model stage by stage: experts, fusion, routers, calibration; a stopped run goes on where it was."""
    need_ares()
    from fairspace.ares.training.stages import train as trained

    trained(_config(config), data, out, progress=_tell)
    typer.echo(f"Wrote {out}. Next: fairspace ares evaluate {out} --data {data} --out {out.name}-evaluation")


@app.command(epilog="Example: fairspace ares convert google/efficientnet-b0@3d8d75d0812b65064f0151b456f869c6344bf20c")
def convert(
    source: Annotated[str, typer.Argument(help="REPOSITORY@COMMIT, or a folder with pytorch_model.bin.")],
) -> None:
    """Convert a checkpoint that exists only as a pickle to safetensors, once; training then begins with it."""
    need_ares()
    from fairspace.ares.training.conversion import convert as convert_checkpoint
    from fairspace.ares.training.conversion import converted_folder

    name, _, revision = source.partition("@")
    record = convert_checkpoint(name, revision)
    for what in ("read", "written"):
        for file, sha256 in record[what].items():
            typer.echo(f"{what:8}{file}  sha256 {sha256}")
    typer.echo(f"Wrote {converted_folder(record['source'], record['revision'])}.")


@app.command("add-attribute", epilog="Example: fairspace ares add-attribute built/ares --config race.toml ...")
def add_attribute(
    model: ModelArgument,
    config: ConfigOption,
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Folder of the model with the new attribute.")],
) -> None:
    """Train and register the experts of a new attribute; all others stay as they are, to the bit."""
    need_ares()
    from fairspace.ares.training.stages import add_attribute as added

    added(model, _config(config), data, out, progress=_tell)
    typer.echo(f"Wrote {out}. Next: fairspace ares evaluate {out} --data {data} --out {out.name}-evaluation")


@app.command(epilog="Example: fairspace ares evaluate built/ares --data built/iris_classifier_25 --out evaluation")
def evaluate(
    model: ModelArgument,
    data: DataOption,
    out: Annotated[Path, typer.Option(help="Folder for the tables.")],
    batch: Annotated[int, typer.Option(help="Images at a time; changes nothing but speed.", min=1)] = 64,
    timed: Annotated[int, typer.Option(help="Images that seconds are taken with; 0 takes none.", min=0)] = 32,
    seed: Annotated[int, typer.Option(help="Of drawn faces.", min=0)] = 0,
    device: DeviceOption = "",
    ask_endpoint: EndpointOption = False,
    nonfaces: NonfacesOption = 20,
    write_measurement: Annotated[
        bool, typer.Option("--write-measurement", help="Also write measurement.json into the model's folder.")
    ] = False,
    date: Annotated[str, typer.Option(help="Of the measurement, YYYY-MM-DD; today if left out.")] = "",
) -> None:
    """Measure a model: reports, groups, calibration, speed, and the ablations E1 to E7 beside the printed tables."""
    need_ares()
    from fairspace.ares.evaluating.evaluate import evaluate as evaluated
    from fairspace.submissions.progress import reported

    with reported(f"Measuring {model}") as report:
        measured = evaluated(
            model,
            data,
            out,
            batch=batch,
            seed=seed,
            timed=timed,
            device=device,
            ask_endpoint=ask_endpoint,
            nonfaces=nonfaces,
            progress=report,
        )
    for note in measured.notes:
        typer.echo(f"Note: {note}")
    for row, each in measured.ablations.items():
        parts = {"all": each.accuracy, **each.tasks}
        said = ", ".join(f"{name} {'undefined' if value is None else f'{value:.1%}'}" for name, value in parts.items())
        typer.echo(f"{row:5}{each.reason or said}")
    say_gate(measured.gate)
    typer.echo(f"Wrote {out / 'report.md'} and its tables, with the printed figures beside them.")
    if write_measurement:
        from fairspace.ares.evaluating.measurement import write_measurement as written

        written(model, measured, date or datetime.datetime.now(tz=datetime.UTC).date().isoformat())
        typer.echo(f"Wrote {model / 'measurement.json'}.")


def say_gate(gate: Any) -> None:
    """Print what a labeller answers for faces and for non-faces; nothing where that was not measured."""
    if gate is None:
        return
    from fairspace.ares.evaluating.nonfaces import rows

    for shown, _, share, _ in rows(gate):
        if share.ends is not None:
            value, low, high = share.ends
            typer.echo(f"  {shown}: {value:.1%} ({low:.1%} to {high:.1%}) of {share.images} images labelled")


@app.command(epilog="Example: fairspace ares annotate images --model built/ares --out annotations")
def annotate(
    images: Annotated[str, typer.Argument(help="A folder of images, Parquet or WebDataset shards, or a Hub dataset.")],
    out: Annotated[Path, typer.Option(help="Folder to annotate into, or to go on in.")],
    model: Annotated[str, typer.Option(help="Of ARES: folder, or repository with @<revision> at its end.")] = "",
    labeller: LabellerOption = "ares",
    measurement: MeasurementOption = None,
    batch: Annotated[int, typer.Option(help="Faces at a time; changes nothing but speed.", min=1)] = 64,
    workers: Annotated[int, typer.Option(help="Threads that read ahead; changes nothing but speed.", min=0)] = 2,
    task: Annotated[str, typer.Option(help="Task of all images, where their names do not say it.")] = "",
    names: Annotated[str, typer.Option(help="items, or files where the images are no benchmark's.")] = "items",
    kind: Annotated[str, typer.Option(help="Of the source, where it cannot be told.")] = "",
    column: Annotated[
        list[str] | None, typer.Option(help="What a column is called, for example id=item; can be given again.")
    ] = None,
    config: Annotated[str, typer.Option(help="Config of a dataset.")] = "",
    split: Annotated[str, typer.Option(help="Split of a dataset; train if left out.")] = "",
    faces: Annotated[str, typer.Option(help="Face detector, a folder or ID@REVISION; none if left out.")] = "",
    engine: Annotated[str, typer.Option(help="local, or ray to spread the work over a cluster.")] = "local",
    device: DeviceOption = "",
    precision: Annotated[str, typer.Option(help="float32, bfloat16, or int8 on a CPU.")] = "float32",
    ask_endpoint: EndpointOption = False,
) -> None:
    """Label the images of a model: annotations as a submission holds them; a stopped run goes on where it was."""
    need_ares()
    from fairspace.ares.annotating.annotate import annotate as annotated
    from fairspace.submissions.progress import reported

    with reported(f"Annotating {images}") as report:
        annotation_report = annotated(
            model,
            images,
            out,
            batch=batch,
            workers=workers,
            task=task,
            names=names,
            kind=kind,
            columns=_columns(column or []),
            config=config,
            split=split,
            detector=faces_setting(faces),
            engine=engine,
            device=device,
            precision=precision,
            ask_endpoint=ask_endpoint,
            labeller=labeller,
            measurement=measurement,
            progress=report,
        )
    counts = annotation_report.data["counts"]
    speed = f", {annotation_report.images_per_second:.1f} images/s" if annotation_report.images_per_second else ""
    typer.echo(f"{out}: {counts['images']} images, {counts['rows']} rows{speed}")
    for name, shares in annotation_report.shares.items():
        routes = ", ".join(f"{route} {share:.1%}" for route, share in sorted(shares.items()))
        typer.echo(f"  {name}: {routes}")
    typer.echo("Labels are perceived presentation, measured with error.")


@app.command(epilog="Example: fairspace ares drift built/ares annotations/model-a annotations/model-b")
def drift(
    model: ModelArgument,
    annotations: Annotated[list[Path], typer.Argument(help="Folders of annotations, one per generator.")],
) -> None:
    """Warn where routes or confidence on new images differ from the calibration set; exit code 1 if any does."""
    need_ares()
    from fairspace.ares.evaluating.drift import drift as drifted

    report = drifted(model, annotations)
    typer.echo(report.text())
    if any(check.warns for check in report.checks):
        raise typer.Exit(1)


def need_ares() -> None:
    """UsageError if what ARES runs on is not installed."""
    need_packages("ares", "torch", "transformers", "xgboost", "safetensors")


def _config(named: str) -> Path:
    """A file, or one that comes with this software."""
    from fairspace.ares.training.config import CONFIGS

    shipped = CONFIGS / f"{named}.toml"
    return shipped if shipped.is_file() else Path(named)


def _columns(named: list[str]) -> dict[str, str] | None:
    pairs = [text.partition("=") for text in named]
    for text, (name, _, called) in zip(named, pairs, strict=True):
        if not name or not called:
            raise UsageError(f"--column {text}: write NAME=COLUMN, for example id=item.")
    return {name: called for name, _, called in pairs} or None


def faces_setting(named: str) -> dict[str, str] | None:
    """Settings of the face detector that FOLDER or ID@REVISION names; None for ''."""
    source, _, revision = named.partition("@")
    return {"source": source, **({"revision": revision} if revision else {})} if named else None


def _tell(event: Mapping[str, Any]) -> None:
    """One line per epoch or router."""
    figures = (f"{key} {value:.4g}" for key, value in event.items() if isinstance(value, float))
    whole = (f"{key} {value}" for key, value in event.items() if isinstance(value, (int, str)))
    typer.echo("  ".join([*whole, *figures]))
