"""`fairspace export` and `fairspace import eee`: results and answers in the format of Every Eval Ever."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from fairspace.submissions.commands.app import SCORE, app, importing
from fairspace.submissions.commands.publishing.artifacts import NamespaceOption
from fairspace.submissions.errors import UsageError, did_you_mean

RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")


@app.command(
    "export",
    epilog="Example: fairspace export result.json --eee out --answers my-submission",
    rich_help_panel=SCORE,
)
def export_result(
    result: Annotated[Path, typer.Argument(help="What `fairspace score` wrote with --out.", metavar="RESULT")],
    eee: Annotated[Path, typer.Option("--eee", help="Folder for Every Eval Ever's layout, data/fairspace/...")],
    answers: Annotated[
        Path | None, typer.Option(help="The submission that was scored: its answers are exported too.")
    ] = None,
    evaluator: Annotated[
        str, typer.Option(help=f"Who ran the model, to whoever made it: {', '.join(RELATIONSHIPS)}.")
    ] = "other",
    namespace: NamespaceOption = "fairspace",
) -> None:
    """Export a result as Every Eval Ever 0.3: all numbers with their errors, and each answer with how it was read."""
    from fairspace.submissions.commands.shared.checked import checked_submission
    from fairspace.submissions.exchange.every_eval_ever.export import export
    from fairspace.submissions.results.scoring import load_result

    if evaluator not in RELATIONSHIPS:
        hint = did_you_mean(evaluator, RELATIONSHIPS)
        raise UsageError(f"--evaluator is {evaluator!r}{hint}; it is one of {', '.join(RELATIONSHIPS)}.")
    files = export(
        load_result(result),
        eee,
        answers=None if answers is None else checked_submission(answers),
        relationship=evaluator,  # type: ignore[arg-type]  # checked above
        retrieved=int(time.time()),
        namespace=namespace,
    )
    for file in files:
        typer.echo(f"Wrote {file}")


@importing.command("eee", epilog="Example: fairspace import eee data/fairspace/me/my-model/UUID.json --out mine")
def import_answers(
    file: Annotated[Path, typer.Argument(help="Aggregate record of Every Eval Ever 0.3; its samples lie beside it.")],
    out: Annotated[Path, typer.Option(help="Folder or .zip to write; it must not exist.")],
    benchmark: Annotated[str, typer.Option(help="The benchmark, where the record does not say it.")] = "",
    dataset_revision: Annotated[str, typer.Option(help="Revision of the items; the newest if nobody says.")] = "",
    model: Annotated[str, typer.Option(help="Name of the model; the record's if left out.")] = "",
    revision: Annotated[str, typer.Option(help="Commit, date or version of the model.")] = "",
    organisation: Annotated[str, typer.Option(help="Who made the model.")] = "",
    licence: Annotated[str, typer.Option(help="Its licence, an SPDX identifier where there is one.")] = "",
    contact: Annotated[str, typer.Option(help="Where questions can be asked.")] = "",
) -> None:
    """Import the raw answers behind a record of Every Eval Ever; its numbers are never taken over."""
    from fairspace.submissions.exchange.every_eval_ever.importing import import_eee

    stated = {
        "benchmark": benchmark,
        "dataset_revision": dataset_revision,
        "model": model,
        "revision": revision,
        "organisation": organisation,
        "licence": licence,
        "contact": contact,
    }
    import_eee(file, out, named={name: text for name, text in stated.items() if text})
    typer.echo(f"Wrote {out}. Next: fairspace score {out}")
