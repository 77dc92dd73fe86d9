"""The commands that write what to show a model, and trivial submissions: `fairspace items` and `baseline`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.benchmarks.names import NAMES
from fairspace.submissions.commands.app import RUN, SCORE, app
from fairspace.submissions.commands.shared.checked import checked_submission
from fairspace.submissions.errors import UsageError

if TYPE_CHECKING:
    from fairspace.submissions.format.schema import Submission

_REVISION = "Dataset revision whose items"
BASELINES = ("random", "constant", "stereotyped", "balanced", "refusing")


@app.command(epilog="Example: fairspace baseline random --benchmark genres --out random-genres", rich_help_panel=SCORE)
def baseline(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(BASELINES)}.", metavar="NAME")],
    benchmark: Annotated[str, typer.Option(help=f"One of {', '.join(NAMES)}.")],
    out: Annotated[Path, typer.Option(help="Folder to write; it must not exist.")],
    revision: Annotated[str, typer.Option(help=f"{_REVISION} are answered; the default if left out.")] = "",
) -> None:
    """Write a full-size submission of a trivial model: a chance line of the board."""
    from fairspace.submissions.benchmarks.baselines import write_baseline
    from fairspace.submissions.progress import reported

    with reported(f"Writing {out}") as report:
        write_baseline(name, benchmark, out, revision=revision, progress=report)
    typer.echo(f"Wrote {out}. Next: fairspace score {out}")


@app.command(epilog="Example: fairspace items genres --out genres-items", rich_help_panel=RUN)
def items(
    benchmark: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.", metavar="BENCHMARK")],
    out: Annotated[Path, typer.Option(help="Folder to write; one Parquet file for each task.")],
    revision: Annotated[str, typer.Option(help=f"{_REVISION} are written; the default if left out.")] = "",
    after: Annotated[
        Path | None,
        typer.Option(
            help="A submission with what some prompts follow from: IRIS' annotated neutral images (steer prompts), or "
            "GENRES' narratives (its judge's prompts)."
        ),
    ] = None,
) -> None:
    """Write what to show a model: ids and prompts of every task, and how often each is asked."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark

    bench = find_benchmark(benchmark)
    tables = bench.items(revision)
    submission = None if after is None else _submission_to(benchmark, after)
    if submission is not None:
        follow = bench.asking.steer or bench.asking.judge
        if follow is None:
            raise UsageError(f"No prompt of {benchmark} follows from answers; leave out --after.")
        if revision not in ("", submission.meta.dataset_revision):
            what = f"{after} answers revision {submission.meta.dataset_revision}, not {revision}"
            raise UsageError(f"{what}; --after takes a submission to the items that are written.")
        further = follow(submission)
        if not further:
            raise UsageError(f"{after} has no labelled neutral image, no narrative and no profiles to ask after.")
        tables |= further
    if not tables:
        raise UsageError(f"The prompts of {benchmark}'s revision {revision} are not ours; there is nothing to write.")
    out.mkdir(parents=True, exist_ok=True)
    asked = submission.meta.dataset_revision if submission is not None else bench.revision(revision)
    for task, table in tables.items():
        samples = bench.task(task).samples_of(asked)
        for name, column in (
            ("task", pa.repeat(pa.scalar(task), table.num_rows)),
            ("samples", pa.repeat(pa.scalar(samples, pa.int32()), table.num_rows)),
        ):
            table = table.append_column(name, column)
        pq.write_table(table, out / f"{task}.parquet")
        typer.echo(f"{out / task}.parquet: {table.num_rows} items")


def _submission_to(benchmark: str, path: Path) -> Submission:
    """The submission that --after names. UsageError if it is to another benchmark than the command asks for."""
    checked = checked_submission(path)
    if checked.meta.benchmark != benchmark:
        raise UsageError(f"{path} is a submission to {checked.meta.benchmark}; --after takes one to {benchmark}.")
    return checked
