"""The command `fairspace readings`: how right the readers of raw answers are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairspace.submissions.commands.app import Json, app, print_json


@app.command(epilog="Example: fairspace readings labelled.jsonl")
def readings(
    files: Annotated[
        list[Path], typer.Argument(help="Labelled answers: one JSON object a line.", metavar="FILE.jsonl…")
    ],
    as_json: Json = False,
) -> None:
    """Measure how right raw answers are read: right, false and lost readings of labelled answers."""
    from fairspace.submissions.answers.measuring import measure, read_lines
    from fairspace.submissions.commands.show import tables as show

    report = measure(line for file in files for line in read_lines(file))
    if as_json:
        print_json(report.to_json())
        return
    rows = [
        (name, t.n, f"{t.right / t.n:.1%}", t.false, t.lost, f"{t.families_alike}/{t.families}")
        for name, t in sorted(report.tasks.items())
    ]
    show.table("Readings", ("task", "answers", "right", "false", "lost", "families alike"), rows)
