"""The commands `fairspace readings`: how raw answers are read, and how right that is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from fairspace.submissions.commands.app import SCORE, Group, Json, command_group, print_json
from fairspace.submissions.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from fairspace.submissions.answers.measuring import Split

SPLITS = ("style", "gender", "family")


class _ByPath(Group):
    """`fairspace readings` without the name of a command: what is named there decides what is shown of it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["measure", *args]
        return super().parse_args(ctx, args)


readings = command_group(
    "readings",
    SCORE,
    "How raw answers are read, and how right that is: `readings FILE.jsonl` measures it on labelled answers.",
    cls=_ByPath,
)


@readings.command("measure", epilog="Example: fairspace readings labelled.jsonl --by style")
def measure_readings(
    files: Annotated[
        list[Path], typer.Argument(help="Labelled answers: one JSON object a line.", metavar="FILE.jsonl")
    ],
    by: Annotated[str | None, typer.Option(help=f"Split the counts by {', '.join(SPLITS)}.", metavar="WHAT")] = None,
    as_json: Json = False,
) -> None:
    """Measure how right raw answers are read: right, false and lost readings of labelled answers."""
    if by is not None and by not in SPLITS:
        raise UsageError(f"--by {by!r}{did_you_mean(by, SPLITS)}: expected one of {', '.join(SPLITS)}.")
    from fairspace.submissions.answers.labelled import read_lines
    from fairspace.submissions.answers.measuring import measure
    from fairspace.submissions.commands.show.readings import show_report

    report, split = measure(read_lines(files)), cast("Split | None", by)
    if as_json:
        print_json(report.to_json(split))
    else:
        show_report(report, split)
