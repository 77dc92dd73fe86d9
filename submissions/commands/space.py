"""`fairspace submit`, `moderate`, `leaderboard` and `store`: speak with a Space; show, serve and check a board."""

from __future__ import annotations

import getpass
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairspace.builders.errors import absent_packages, install_command
from fairspace.submissions.commands import app
from fairspace.submissions.errors import UsageError, plain
from fairspace.submissions.format.faults import Fault, SubmissionError
from fairspace.submissions.names import NAMES
from fairspace.submissions.show.table import wrapped

if TYPE_CHECKING:
    from fairspace.leaderboard_space.state import State
    from fairspace.leaderboard_space.storage import Storage
    from fairspace.submissions.commands.space_client import SpaceClient


@app.command(app.SPACE, "fairspace submit my-submission --space fairspace/leaderboard --wait")
def submit(
    submission: Path, space: str, organisation: str = "", wait: bool = False, check: bool = True, as_json: bool = False
) -> None:
    """Hand a submission in to a Space. The same file again is the same submission: it says where it stands.

    FAIRSPACE_TOKEN holds the token that the Space's page /submit makes for you. Exit code 1: refused, or failed.

    Options:
        organisation: One of yours on the Hub, in whose name you hand in.
        wait: Wait until it is scored or refused.
        check: Check here first, as the Space will.
    """
    client = _client(space)
    if check:
        from fairspace.answers import check_answers

        report = check_answers(submission, allow_images=False, allow_baseline=False)
        if report.submission is None:
            raise SubmissionError(list(report.faults))
        app.print_notes(() if as_json else report.notes)
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
    app.MAINTAIN, "fairspace moderate 0f1e2d3c4b5a6978 release --reason 'we ran a part again' --space owner/name"
)
def moderate(entry: str, action: RowAction, reason: str, space: str) -> None:
    """Release a submitted row, so that it has a rank, withdraw or restore it, or take a verification back.

    `strike` takes a model, OWNER/NAME, off those that people asked us to run.

    FAIRSPACE_TOKEN holds a maintainer's token.

    Options:
        entry (ENTRY): Of the row: the end of its page's address; or a model.
        action (argument): `release` lets it have a rank; `strike` is of a model.
        reason: Why, for everybody; it stays in the public log.
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
    last_line, state = "", {}
    for state in client.watch(name):
        line = _standing(state)
        if tell and line != last_line and state["outcome"] == "waiting":
            typer.echo(line, err=True)
            last_line = line
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
        app.print_json(state)
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
    app.write(result_text(result))
    for reason in state["unranked"]:
        if reason not in result.scored.unranked:
            app.write(wrapped(f"No rank on the board: {reason.rstrip('.')}.", hanging=2))


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
        app.print_faults([Fault(**fault) for fault in state["faults"]])
    else:
        reason = plain(str(state["reason"]))
        typer.echo(f"Submission {name} failed through a fault of the Space and costs no quota: {reason}.")
        typer.echo("Hand it in again to have it tried again.")
    typer.echo(f"Its page: {client.address}{plain(state['address'])}")


board = app.command_group("leaderboard", app.SPACE, "Show the board here, or serve it to browsers.")


@app.command(board, "fairspace leaderboard show --benchmark iris --standard algorithm_1")
def show(
    benchmark: str | None = None, standard: str = "", store: str = app.DEFAULT_STORE, as_json: bool = False
) -> None:
    """Show the board: published figures, scored submissions and baselines.

    Options:
        benchmark: One of {BENCHMARKS}; all if left out.
        standard: Standard of the board; if left out, each benchmark's default.
    """
    from fairspace.leaderboard_space.events import signing_key
    from fairspace.leaderboard_space.settings import Settings
    from fairspace.leaderboard_space.state import State
    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
    from fairspace.submissions.results.board import row_json
    from fairspace.submissions.results.row_errors import with_errors
    from fairspace.submissions.results.scoring import find_standard
    from fairspace.submissions.show.board import board_text

    names = [benchmark] if benchmark else [n for n in NAMES if not standard or standard in find_benchmark(n).standards]
    if not names:
        raise UsageError(f"No benchmark has a standard {standard!r}. `fairspace standard list` shows all.")
    storage = open_store(store) if store == app.DEFAULT_STORE else existing_store(store)
    state = State(storage, signing_key(Settings.from_environment().secret))
    state.refresh()
    if doubt := _doubt_of_signatures(state):
        typer.echo(doubt, err=True)
    standards = {name: find_standard(find_benchmark(name), standard).name for name in names}
    boards = {name: state.board(name, standards[name]) for name in names}
    storage.close()
    if as_json:
        app.print_json(
            {name: [row_json(row) for row in with_errors(rows, standards[name])] for name, rows in boards.items()}
        )
    else:
        for name, rows in boards.items():
            app.write(board_text(name, standards[name], rows))


def open_store(store: str) -> Storage:
    """The store that an option names. StorageError if it cannot be opened."""
    from fairspace.leaderboard_space.settings import Settings
    from fairspace.leaderboard_space.space import open_storage

    settings = Settings.from_environment()
    return open_storage(store, settings.work, settings.commits_an_hour)


def existing_store(store: str) -> Storage:
    """The store that an option names, to read from. UsageError if it is a folder that does not exist."""
    if "://" not in store and not Path(store).is_dir():
        raise UsageError(f"There is no store {store}: no such folder. Name one that a board was kept in.")
    return open_store(store)


@contextmanager
def opened_state(store: str, secret: str = "") -> Iterator[State]:
    """The state of a store that exists; signatures are checked by the key that follows from `secret`."""
    from fairspace.leaderboard_space.events import signing_key
    from fairspace.leaderboard_space.state import State

    storage = existing_store(store)
    try:
        state = State(storage, signing_key(secret))
        state.refresh()
        yield state
    finally:
        storage.close()


def _doubt_of_signatures(state: State) -> str:
    """Remark on the signatures of verified rows; '' if all were checked, and are the maintainers'."""
    if state.forged:
        numbers = ", ".join(map(str, state.forged))
        return f"Not signed by the maintainers, so no row is verified by it: event {numbers} of the log."
    signed = sum(entry.verified is not None and entry.verified.is_signed for entry in state.entries())
    if signed and not state.key:
        return (
            f"The signatures of {signed} verified rows were not checked: whoever can write to this store can make a row"
            " look verified. Set FAIRSPACE_SECRET to the Space's secret, and they are checked."
        )
    return ""


@app.command(board, "fairspace leaderboard serve --port 7860 --insecure-local")
def serve(port: int = 7860, store: str = app.DEFAULT_STORE, insecure_local: bool = False) -> None:
    """Serve the board on 127.0.0.1, as a Space does; every setting of leaderboard_space/OPERATION.md holds.

    Options:
        port (min=1, max=65535): Port on 127.0.0.1.
        insecure_local: Let everybody on this machine submit, without signing in.
    """
    if absent := absent_packages("gradio", "starlette", "uvicorn"):
        raise UsageError(f"The board needs {absent}: {install_command('space')}")
    from fairspace.leaderboard_space.serving import serve as serve_board
    from fairspace.leaderboard_space.settings import Settings

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise UsageError(f"Port {port} is taken ({error.strerror}); choose another with --port.") from error
    settings = Settings.from_environment()
    if "FAIRSPACE_WORK" not in os.environ and "://" not in store:
        settings = replace(settings, work=Path(f"{store}.work"))
    settings = replace(settings, store=store, insecure_local=insecure_local)
    typer.echo(f"The board is on http://127.0.0.1:{port} (Ctrl-C stops it).")
    if not insecure_local:
        typer.echo("It can be read; handing in needs --insecure-local here, or a Space where users sign in.")
    serve_board(settings, port=port)


@app.command(app.MAINTAIN, "fairspace store .fairspace")
def store(place: str, mend: bool = False, revoke_token: str = "", revoke_user: str = "", as_json: bool = False) -> None:
    """Check a store: the whole log and every file that it names. Stores with the same board print the same snapshot.

    Exit code: 1 for a fault, 4 if files lie there that no event names: the log may have lost its end.

    Options:
        place (STORE): A folder, or hf://datasets/OWNER/NAME.
        mend: Put broken lines of a folder's log aside first, and name them.
        revoke_token: Revoke this token, or the one with this id.
        revoke_user: Revoke all tokens of this user; known within seconds.
    """
    from fairspace.leaderboard_space.events import signing_key
    from fairspace.leaderboard_space.settings import Settings
    from fairspace.leaderboard_space.state import State
    from fairspace.leaderboard_space.storage.checking import check

    if mend:
        _mend(Path(place))
    storage = existing_store(place)
    if revoke_token or revoke_user:
        _revoke(State(storage), revoke_token, revoke_user)
    report = check(storage, signing_key(Settings.from_environment().secret))
    storage.close()
    faults = [plain(str(fault)) for fault in report.faults]
    if as_json:
        app.print_json({**vars(report), "faults": faults})
    else:
        for name in ("events", "rows", "submissions", "snapshot"):
            typer.echo(f"{name:12}{getattr(report, name)}")
        for note in report.notes:
            app.write(plain(note))
        for fault in faults:
            typer.secho(fault, fg="red", err=True)
        if report.unnamed:
            typer.echo("Files without an event: a writer was killed, or the log is older: compare a backup.", err=True)
    raise typer.Exit(1 if faults else 4 if report.unnamed else 0)


def _mend(folder: Path) -> None:
    """Mend the log of a store: broken lines are put aside and named, all others stay."""
    from fairspace.leaderboard_space.storage.checking import mend

    actions = mend(folder)
    if actions.lost:
        typer.echo(f"lost: event {', '.join(map(str, actions.lost))}", err=True)
        typer.echo("A lost event may have withdrawn or verified a row: read what was altered, do it again.", err=True)
    if actions.count is not None:
        typer.echo(f"events.count said {actions.count}, more than the files explain: now {actions.events}.", err=True)
    for path in actions.aside:
        typer.echo(f"what was altered lies in {path}", err=True)


def _revoke(state: State, token: str, user: str) -> None:
    """Revoke a token, all tokens of a user, or both."""
    from fairspace.leaderboard_space.web.identity import revoke_all, revoke_token

    by = getpass.getuser()
    if token:
        event = revoke_token(state, token, by)
        typer.echo(f"Revoked: the token {event.body['token']} (event {event.number}).", err=True)
    if user:
        event = revoke_all(state, user, by)
        typer.echo(f"Revoked: all tokens of {plain(user)} until now (event {event.number}).", err=True)
