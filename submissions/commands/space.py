"""The commands that speak with a Space: `fairspace submit` and `fairspace moderate`."""

from __future__ import annotations

import json
import os
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairspace.submissions.commands.app import (
    MAINTAIN,
    SPACE,
    Json,
    SubmissionPath,
    app,
    print_faults,
    print_json,
    print_notes,
)
from fairspace.submissions.errors import UsageError, plain
from fairspace.submissions.format.faults import Fault, SubmissionError
from fairspace.submissions.show.table import wrapped

if TYPE_CHECKING:
    from fairspace.submissions.commands.space_client import SpaceClient

SpaceOption = Annotated[
    str, typer.Option("--space", envvar="FAIRSPACE_SPACE", help="Its address, or owner/name on the Hub.")
]


@app.command(
    epilog="Example: fairspace submit my-submission --space fairspace/leaderboard --wait", rich_help_panel=SPACE
)
def submit(
    submission: SubmissionPath,
    space: SpaceOption,
    organisation: Annotated[str, typer.Option(help="One of yours on the Hub, in whose name you hand in.")] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it is scored or refused.")] = False,
    check: Annotated[bool, typer.Option(help="Check here first, as the Space will.")] = True,
    as_json: Json = False,
) -> None:
    """Hand a submission in to a Space. The same file again is the same submission: it says where it stands.

    FAIRSPACE_TOKEN holds the token that the Space's page /submit makes for you. Exit code 1: refused, or failed.
    """
    client = _client(space)
    if check:
        from fairspace.answers import check_answers

        report = check_answers(submission, allow_images=False, allow_baseline=False)
        if report.submission is None:
            raise SubmissionError(list(report.faults))
        print_notes(() if as_json else report.notes)
    with tempfile.TemporaryDirectory() as scratch:
        state = client.submit(_zip(submission, Path(scratch)), organisation)
    if wait and state["outcome"] == "waiting":
        state = _watched(client, str(state["id"]), tell=not as_json)
    _tell(client, state, as_json)


class RowAction(StrEnum):
    """A maintainer's decisions on a row; `fairspace verify-submission` verifies it."""

    release = "release"
    withdraw = "withdraw"
    restore = "restore"
    unverify = "unverify"
    strike = "strike"


@app.command(
    epilog="Example: fairspace moderate 0f1e2d3c4b5a6978 release --reason 'we ran a part again' --space owner/name",
    rich_help_panel=MAINTAIN,
)
def moderate(
    entry: Annotated[
        str, typer.Argument(help="Of the row: the end of its page's address; or a model.", metavar="ENTRY")
    ],
    action: Annotated[RowAction, typer.Argument(help="`release` lets it have a rank; `strike` is of a model.")],
    reason: Annotated[str, typer.Option(help="Why, for everybody; it stays in the public log.")],
    space: SpaceOption,
) -> None:
    """Release a submitted row, so that it has a rank, withdraw or restore it, or take a verification back.

    `strike` takes a model, OWNER/NAME, off those that people asked us to run.

    FAIRSPACE_TOKEN holds a maintainer's token.
    """
    event = _client(space).act(entry, action.value, {"reason": reason})
    typer.echo(f"{plain(entry)}: {plain(str(event['kind']))}, event {event['number']} of the log.")


def _client(space: str) -> SpaceClient:
    from fairspace.submissions.commands.space_client import TOKEN, SpaceClient, space_address

    return SpaceClient(space_address(space), os.environ.get(TOKEN, "").strip())


def _zip(path: Path, scratch: Path) -> Path:
    """The submission as one file. UsageError if there is nothing at `path`."""
    from fairspace.submissions.commands.space_client import pack

    if path.is_dir():
        return pack(path, scratch / "submission.zip")
    if not path.is_file():
        raise UsageError(f"There is nothing at {path}. Name a folder or a zip.")
    return path


def _watched(client: SpaceClient, name: str, *, tell: bool) -> dict[str, Any]:
    """The final state of a submission; prints its progress on the way."""
    said, state = "", {}
    for state in client.watch(name):
        line = _standing(state)
        if tell and line != said and state["outcome"] == "waiting":
            typer.echo(line, err=True)
            said = line
    return state


def _standing(state: dict[str, Any]) -> str:
    """The state in one line."""
    words = {
        "queued": f"waits at position {state['position']}",
        "running": "is being scored",
        "retried": f"waits at position {state['position']} for another try ({state['tries']} so far)",
    }
    return plain(words.get(str(state["stage"]), str(state["outcome"])))


def _tell(client: SpaceClient, state: dict[str, Any], as_json: bool) -> None:
    """Print what became of a submission; exit code 1 if it was refused or failed."""
    if as_json:
        print_json(state)
    else:
        _print(client, state)
    if state["outcome"] in ("refused", "failed"):
        raise typer.Exit(1)


def _show_row(client: SpaceClient, state: dict[str, Any]) -> None:
    """Print a scored submission as `fairspace score` does, and the reasons of the board for no rank."""
    from fairspace.submissions.results.scoring import load_result
    from fairspace.submissions.show.result import result_text

    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "result.json"
        file.write_text(json.dumps(client.result(state["benchmark"], state["entry"])), encoding="utf-8")
        result = load_result(file)
    typer.echo(result_text(result))
    for reason in state["unranked"]:
        if reason not in result.scored.unranked:
            typer.echo(wrapped(f"No rank on the board: {reason.rstrip('.')}.", hanging=2))


def _print(client: SpaceClient, state: dict[str, Any]) -> None:
    outcome, name = state["outcome"], plain(str(state["id"]))
    if outcome == "waiting":
        typer.echo(f"Submission {name} {_standing(state)}.")
        typer.echo("The same command again says where it stands; with --wait it waits for the scores.")
    elif outcome == "scored":
        again = ", which was there before" if state["same"] else ""
        typer.echo(f"Submission {name} is scored{again}.")
        if state["row"]:
            _show_row(client, state)
        row = f"{client.address}{plain(state['row'])}" if state["row"] else ""
        typer.echo(f"Its row: {row}" if row else "Its row was withdrawn.")
        if row:
            typer.echo(f"For a model card: [{state['benchmark']} on fairspace]({row})")
    elif outcome == "refused":
        typer.echo(f"Submission {name} was refused.")
        print_faults([Fault(**fault) for fault in state["faults"]])
    else:
        reason = plain(str(state["reason"]))
        typer.echo(f"Submission {name} failed through a fault of the Space and costs no quota: {reason}.")
        typer.echo("Hand it in again to have it tried again.")
    typer.echo(f"Its page: {client.address}{plain(state['address'])}")
