"""`fairspace review`: labels of made images, checked by two people: their forms, and how far they agree."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.commands.app import MAKE, Json, command_group, print_json
from fairspace.submissions.errors import UsageError

if TYPE_CHECKING:
    from fairspace.builders.engine.agreement import Kappa
    from fairspace.builders.engine.reviewing import Questions

app = command_group("review", MAKE, "Have two people check the labels of a build's images, each alone.")
Built = Annotated[Path, typer.Argument(help="Folder of a finished build.", metavar="BUILT")]


@app.command(epilog="Example: fairspace review forms built/iris_steer_60 --out review")
def forms(
    built: Built,
    out: Annotated[Path, typer.Option(help="A new folder for the forms and the images.")],
    images: Annotated[int, typer.Option(help="At most so many of each config, spread over the labels.", min=1)] = 200,
) -> None:
    """Write a form for each of two reviewers, as CSV, and the images that it asks about.

    A form does not say what the dataset holds. Each reviewer fills in the column `answer` alone.
    """
    from fairspace.builders.engine.reviewing import write_forms

    for form in write_forms(built, _questions(built), out, images=images):
        typer.echo(form)
    typer.echo(f"Next: have both filled in, then fairspace review agree {built} FIRST SECOND --out reviewed.jsonl")


@app.command(epilog="Example: fairspace review agree built/iris_steer_60 a.csv b.csv --out reviewed.jsonl")
def agree(
    built: Built,
    first: Annotated[Path, typer.Argument(help="A filled-in form.", metavar="FIRST")],
    second: Annotated[Path, typer.Argument(help="The other one.", metavar="SECOND")],
    out: Annotated[Path | None, typer.Option(help="File for `fairspace build --reviewed`.")] = None,
    as_json: Json = False,
) -> None:
    """Say how far two reviewers agree: Cohen's kappa with its 95 % interval, and which labels they confirm."""
    from fairspace.builders.engine.reviewing import agree, write_outcomes

    columns, outcomes = agree(built, _questions(built), first, second)
    if out is not None:
        write_outcomes(out, outcomes)
    if as_json:
        print_json([asdict(column) | {"kappa": column.kappa._asdict()} for column in columns])
        return
    typer.echo(f"{'label':<18}{'images':>7}{'agree':>7}  {'kappa (95 %)':<19}{'both':>6}{'one':>5}{'none':>6}")
    for column in columns:
        kappa = column.kappa
        named = f"{column.confirmed:>6}{column.disputed:>5}{column.failed:>6}"
        typer.echo(f"{column.column:<18}{kappa.images:>7}{kappa.agreed:>7.3f}  {_interval(kappa):<19}{named}")
    typer.echo("both, one, none: how many of the two name the label that the dataset holds.")
    failed = sum(1 for outcome in outcomes if outcome.failed)
    if out is not None:
        typer.echo(f"{out}: {len(outcomes)} images, {failed} with a label that neither names")
        typer.echo(f"Next: fairspace build ... --reviewed {out} --earlier {built} --out a new folder")


def _interval(kappa: Kappa) -> str:
    if kappa.kappa is None:
        return "one answer only"
    return f"{kappa.kappa:.2f} [{kappa.low:.2f}, {kappa.high:.2f}]"


def _questions(built: Path) -> Questions:
    """What reviewers are asked about the build's dataset. UsageError if it has no labels of images to check."""
    from fairspace.builders.engine.build import read_manifest
    from fairspace.builders.registry import dataset

    name = read_manifest(built).dataset
    questions = dataset(name).questions
    if not questions:
        raise UsageError(f"{name} has no labels of images that metrics take as the truth.")
    return questions
