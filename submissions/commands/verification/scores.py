"""The command `fairspace verify`: what this project computes, held against others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairspace.submissions.commands.app import SCORE, Json, app, check_places, print_json
from fairspace.submissions.errors import UsageError


@app.command("verify", rich_help_panel=SCORE, epilog="Example: fairspace verify --out verification.md")
def verify_scores(
    iris: Annotated[
        Path | None, typer.Option(help="A clone of Warren118/IRIS-Benchmark: also run its code.", metavar="FOLDER")
    ] = None,
    genres: Annotated[
        Path | None, typer.Option(help="A clone of Savannah2000/Genres: also run its code.", metavar="FOLDER")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the table to a file.", metavar="FILE")] = None,
    as_json: Json = False,
) -> None:
    """Hold every score against printed tables, independent oracles and, given clones, the authors' own code.

    Prints the largest difference per scorer. Exit code 1: one is above its bound and not listed as a departure. The
    oracles lie in tests/ of a checkout; an installed package checks the printed tables alone, and says so.
    """
    check_places(out)
    from fairspace.submissions.verifying.report import document, lines
    from fairspace.submissions.verifying.running import verify

    clones = {name: folder for name, folder in (("iris", iris), ("genres", genres)) if folder is not None}
    for name, folder in clones.items():
        if not folder.is_dir():
            raise UsageError(f"--{name} {folder}: there is no such folder; name a clone of the authors' repository.")
    verification = verify(clones, say=lambda line: typer.echo(line, err=True))
    if out is not None:
        out.write_text(document(verification), encoding="utf-8")
    if as_json:
        print_json(verification.to_json())
    else:
        typer.echo("\n".join(lines(verification)))
    if verification.unlisted:
        raise typer.Exit(1)
