"""The commands `fairspace readings`: how raw answers are read, and how right that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from fairspace.submissions.commands.app import (
    SCORE,
    STOPPED,
    Group,
    Json,
    SubmissionPath,
    check_places,
    command_group,
    print_json,
)
from fairspace.submissions.commands.shared.checked import checked_submission
from fairspace.submissions.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from fairspace.submissions.answers.measuring import Split

SPLITS = ("style", "gender", "family")
_WRITTEN = (".jsonl", ".parquet")


class _ByPath(Group):
    """`fairspace readings` without the name of a command: what is named there decides what is shown of it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            holds_tables = any(word.endswith(".zip") or Path(word).is_dir() for word in args if word[:1] != "-")
            args = ["show" if holds_tables else "measure", *args]
        return super().parse_args(ctx, args)


readings = command_group(
    "readings",
    SCORE,
    "How raw answers are read: `readings SUBMISSION`. How right that is: `readings FILE.jsonl` of labelled answers.",
    cls=_ByPath,
)


@readings.command("measure", epilog="Example: fairspace readings labelled.jsonl --by style")
def measure_readings(
    files: Annotated[
        list[Path], typer.Argument(help="Labelled answers: one JSON object a line.", metavar="FILE.jsonl")
    ],
    by: Annotated[str | None, typer.Option(help=f"Split the counts by {', '.join(SPLITS)}.", metavar="WHAT")] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Also write the counts of each task as CSV.", metavar="FILE")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure how right raw answers are read: right, false and lost readings of labelled answers."""
    if by is not None and by not in SPLITS:
        raise UsageError(f"--by {by!r}{did_you_mean(by, SPLITS)}: expected one of {', '.join(SPLITS)}.")
    check_places(csv)
    from fairspace.submissions.answers.error_table import write_table
    from fairspace.submissions.answers.labelled import read_lines
    from fairspace.submissions.answers.measuring import measure
    from fairspace.submissions.commands.show.readings import show_report

    report, split = measure(read_lines(files)), cast("Split | None", by)
    if csv is not None:
        write_table(report, csv)
    if as_json:
        print_json(report.to_json(split))
    else:
        show_report(report, split)


@readings.command("show", epilog="Example: fairspace readings my-submission --out readings.jsonl")
def show_readings(
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
    summaries = summarise(every, bench, checked.meta.dataset_revision, bench.lacking(checked).samples)
    if as_json:
        print_json({"tasks": {task: summary.to_json() for task, summary in summaries.items()}})
    else:
        show_summaries(submission.name, summaries)


@readings.command("label", epilog="Example: fairspace readings label my-submission --out labelled.jsonl")
def label_readings(
    submission: SubmissionPath,
    out: Annotated[Path, typer.Option(help="File of labelled answers to write, or to go on with.", metavar="FILE")],
    n: Annotated[int, typer.Option("--n", help="Answers to label.", min=1, max=10_000)] = 50,
    seed: Annotated[int, typer.Option(help="Decides which answers are drawn.", min=0, max=2**32 - 1)] = 14,
    show: Annotated[bool, typer.Option("--show", help="Show what is read before you type.")] = False,
) -> None:
    """Label answers of your own model, and learn how right they are read; stop at any time and go on later."""
    check_places(out)
    checked = checked_submission(submission)
    from fairspace.submissions.answers.drawing import draw
    from fairspace.submissions.answers.labelling import label
    from fairspace.submissions.benchmarks.registry import benchmark

    drawn = draw(checked, benchmark(checked.meta.benchmark), n, seed)
    if not drawn:
        raise UsageError(f"{submission} holds no answer that a person could label in a word.")
    stopped = False
    try:
        label(drawn, out, input, typer.echo, show=show)
    except (EOFError, KeyboardInterrupt) as end:
        stopped = isinstance(end, KeyboardInterrupt)
        typer.echo("")
    count = len(out.read_text(encoding="utf-8").splitlines()) if out.exists() else 0
    more = "the same command goes on" if count < len(drawn) else "all of them"
    typer.echo(f"{out}: {count} of {len(drawn)} answers labelled ({more}). Next: fairspace readings {out}")
    if stopped:
        raise typer.Exit(STOPPED)
