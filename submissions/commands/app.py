"""The command's Typer application, the headings of its help, and the options that several commands share."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from fairspace.submissions.errors import UsageError, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairspace.submissions.format.faults import Fault

RUN, SCORE, MAKE = "Run a model", "Check, score and compare", "Make and publish datasets, metrics and the classifier"
SPACE, MAINTAIN = "Hand in, and serve the board", "Maintainers"
DEFAULT_STORE = ".fairspace"
STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""

All = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Also show all that is folded away: component metrics, errors, bounds, coverage, sensitivity analysis.",
    ),
]
Details = Annotated[
    bool, typer.Option("--details", help="Also show what each value means, readings, examples, and what a rank lacks.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
StoreOption = Annotated[
    str,
    typer.Option(
        "--store", envvar="FAIRSPACE_STORE", help="What the board shows: a folder, or hf://datasets/OWNER/NAME."
    ),
]
SubmissionPath = Annotated[
    Path, typer.Argument(help="A folder, a .zip or a Hub dataset snapshot.", metavar="SUBMISSION")
]


FORMER = {
    ("items", "--revision"): "--dataset-revision",
    ("baseline", "--revision"): "--dataset-revision",
    ("judge", "--revision"): "--model-revision",
}
"""Command and the option as it was once called -> its name; the former one still works, and no help shows it."""


class _Commands(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        words = [word.partition("=") for word in rest]
        return name, command, [FORMER.get((name or "", option), option) + sign + value for option, sign, value in words]


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Run a model against a fairness benchmark; check, score and compare what it answered.",
    epilog="Start with: fairspace eval --model MODEL --core",
)


def command_group(name: str, panel: str, about: str) -> typer.Typer:
    """A group of commands under a name, in a panel of the help."""
    group = typer.Typer(no_args_is_help=True, help=about)
    app.add_typer(group, name=name, rich_help_panel=panel)
    return group


def _show_version(wanted: bool) -> None:
    if wanted:
        from fairspace.submissions.version import VERSION

        typer.echo(f"fairspace {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None: ...


def print_json(data: Any) -> None:
    """Write data to standard output as JSON; in ASCII where that is not in an encoding of Unicode."""
    ascii_only = "utf" not in (sys.stdout.encoding or "").lower()
    sys.stdout.write(json.dumps(data, ensure_ascii=ascii_only, indent=1, allow_nan=False) + "\n")


def write(text: object) -> None:
    """Write a text to standard output as it is encoded there; `typer.echo` writes UTF-8 where that is ASCII."""
    sys.stdout.write(f"{text}\n")


def print_faults(faults: Sequence[Fault]) -> None:
    """Print every fault with code, place, finding, expectation and remedy."""
    write(f"{len(faults)} fault{'s' * (len(faults) != 1)}")
    for fault in faults:
        more = f" (and {fault.count - 1} more like it)" if fault.count > 1 else ""
        write(plain(f"{fault.code} at {fault.where}{more}"))
        for label, text in (("found", fault.what), ("expected", fault.expected), ("mend", fault.mend)):
            write(plain(f"  {label}: {text}"))


def print_notes(lines: Iterable[str]) -> None:
    """Print notes for the submitter, which are no faults."""
    for note in lines:
        write(plain(f"Note: {note}"))


def check_places(out: Path | None, store: str | None = None) -> None:
    """Check before the work that its result can be written. UsageError says what is in the way."""
    if out is not None and not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write {out.name} to; make it first.")
    if out is not None and out.is_dir():
        raise UsageError(f"{out} is a folder; name a file for --out.")
    if store is not None and "://" not in store and Path(store).exists() and not Path(store).is_dir():
        raise UsageError(f"{store} is a file; name a folder for --store.")
