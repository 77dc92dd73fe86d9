"""`fairspace sources`: what a full build reads that a person must obtain."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict
from pathlib import Path

import typer

from fairspace.submissions.commands.app import MAKE, Json, app
from fairspace.submissions.commands.build import SourceOption


@app.command(epilog="Example: fairspace sources --source sources", rich_help_panel=MAKE)
def sources(source: SourceOption = None, as_json: Json = False) -> None:
    """List the sources that a person must obtain: licence, where to get them, and whether they were found."""
    from fairspace.builders.sources.listing import listing

    rows = listing(source)
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=1, default=str))
        return
    for row in rows:
        typer.secho(f"{row.name}: {row.title}", bold=True)
        state = f"{row.found}, {row.images} images" if row.found else "no"
        absent = f"; but no {', '.join(row.absent)}" if row.absent else ""
        typer.echo(f"  found      {state}{absent}")
        typer.echo(f"  get it at  {row.address}")
        typer.echo(f"  put there  {(source or Path('SOURCE')) / row.name}: {', '.join(row.files)}")
        typer.echo(f"  licence    {row.licence}; images published: {row.published}")
        typer.echo(textwrap.fill(row.terms, 100, initial_indent="  terms      ", subsequent_indent=" " * 13) + "\n")
