"""The commands that write what to show a model, and submissions: `fairspace items`, `baseline` and `import genres`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.benchmarks.names import NAMES
from fairspace.submissions.commands.app import RUN, SCORE, app, importing
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
    revision: Annotated[str, typer.Option(help=f"{_REVISION} are answered; the newest if left out.")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the random parts.")] = 0,
) -> None:
    """Write a full-size submission of a trivial model: a chance line of the board."""
    from fairspace.submissions.benchmarks.baselines import write_baseline
    from fairspace.submissions.progress import reported

    with reported(f"Writing {out}") as report:
        write_baseline(name, benchmark, out, revision=revision, seed=seed, progress=report)
    typer.echo(f"Wrote {out}. Next: fairspace score {out}")


@app.command(epilog="Example: fairspace items genres --out genres-items", rich_help_panel=RUN)
def items(
    benchmark: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.", metavar="BENCHMARK")],
    out: Annotated[Path, typer.Option(help="Folder to write; one Parquet file for each task.")],
    revision: Annotated[str, typer.Option(help=f"{_REVISION} are written; the newest if left out.")] = "",
    neutral: Annotated[
        Path | None, typer.Option(help="IRIS: a submission with annotated neutral images; adds its steer prompts.")
    ] = None,
    narratives: Annotated[
        Path | None, typer.Option(help="GENRES: a submission with narratives; adds the prompts of its judge.")
    ] = None,
) -> None:
    """Write what to show a model: ids and prompts of every task, and how often each is asked."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark

    bench = find_benchmark(benchmark)
    tables = bench.items(revision)
    submission: Submission | None = None
    for option, path, role, lacking in (
        ("--neutral", neutral, "steer", "no labelled neutral image; the steer prompts follow from those"),
        ("--narratives", narratives, "judge", "no narrative and no two profiles; there is nothing to judge"),
    ):
        if path is not None:
            follow = getattr(bench, role)
            if follow is None:
                having = [name for name in NAMES if getattr(find_benchmark(name), role) is not None]
                raise UsageError(f"{option} is for {', '.join(having)}, not for {benchmark}.")
            submission = _submission_to(benchmark, path, option)
            if revision not in ("", submission.meta.dataset_revision):
                what = f"{path} answers revision {submission.meta.dataset_revision}, not {revision}"
                raise UsageError(f"{what}; {option} takes a submission to the items that are written.")
            further = follow(submission)
            if not further:
                raise UsageError(f"{path} has {lacking}.")
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


def _submission_to(benchmark: str, path: Path, option: str) -> Submission:
    """The submission that an option names. UsageError if it is to another benchmark than the command asks for."""
    checked = checked_submission(path)
    if checked.meta.benchmark != benchmark:
        raise UsageError(f"{path} is a submission to {checked.meta.benchmark}; {option} takes one to {benchmark}.")
    return checked


@importing.command("genres", epilog="Example: fairspace import genres model_mf_*.jsonl.gz --out my-submission")
def import_genres(
    files: Annotated[list[Path], typer.Argument(help="JSONL files in the authors' published layout, plain or gzip.")],
    out: Annotated[Path, typer.Option(help="Folder or .zip to write; it must not exist.")],
    model: Annotated[str | None, typer.Option(help="Name of the model; from the file names if left out.")] = None,
    revision: Annotated[str, typer.Option(help="Commit, date or version of the model.")] = "not stated",
    organisation: Annotated[str, typer.Option(help="Who made the model.")] = "not stated",
    licence: Annotated[str, typer.Option(help="Its licence, an SPDX identifier where there is one.")] = "not stated",
    contact: Annotated[str, typer.Option(help="Where questions can be asked.")] = "not stated",
) -> None:
    """Import GENRES responses in the layout that the paper's authors published."""
    from fairspace.submissions.benchmarks.genres.importing.files import import_genres as imported

    imported(files, out, model=model, revision=revision, organisation=organisation, licence=licence, contact=contact)
    typer.echo(f"Wrote {out}. Next: fairspace score {out}")
