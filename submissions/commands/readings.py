"""The command `fairspace readings`: how raw answers are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairspace.submissions.commands.app import SCORE, Json, SubmissionPath, app, check_places, print_json
from fairspace.submissions.commands.shared.checked import checked_submission
from fairspace.submissions.errors import UsageError

_WRITTEN = (".jsonl", ".parquet")


@app.command(epilog="Example: fairspace readings my-submission --out readings.jsonl", rich_help_panel=SCORE)
def readings(
    submission: SubmissionPath,
    out: Annotated[
        Path | None, typer.Option(help="Write every row with its reading, as .jsonl or .parquet.", metavar="FILE")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what the answers of a submission are read as: counts per task and rule, and examples with what was read."""
    check_places(out)
    if out is not None and out.suffix not in _WRITTEN:
        raise UsageError(f"--out {out.name}: expected a name that ends in {' or '.join(_WRITTEN)}.")
    checked = checked_submission(submission)
    from fairspace.submissions.answers.rows import read_rows, summarise, write_read_rows
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.commands.show.readings import show_summaries

    bench = benchmark(checked.meta.benchmark)
    every = list(read_rows(checked, bench))
    if out is not None:
        count = write_read_rows((rows.table() for rows in every), out)
        typer.echo(f"{out}: {count:,} rows with their readings", err=as_json)
        if not as_json:
            return
    summaries = summarise(every, bench, checked.meta.dataset_revision)
    if as_json:
        print_json({"tasks": {task: summary.to_json() for task, summary in summaries.items()}})
    else:
        show_summaries(submission.name, summaries)
