"""The commands about a store: `fairspace store check`, `mend`, `prune` and `revoke`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.commands.app import MAINTAIN, Json, command_group, print_json
from fairspace.submissions.errors import UsageError, plain

if TYPE_CHECKING:
    from fairspace.leaderboard_space.storage import Storage

app = command_group(
    "store", MAINTAIN, "Check the store of a board, mend the log of one in a folder, prune old files, revoke tokens."
)


def open_store(store: str) -> Storage:
    """The store that an option names. StorageError if it cannot be opened."""
    from fairspace.leaderboard_space.settings import Settings
    from fairspace.leaderboard_space.storage.opening import open_storage

    settings = Settings.from_environment()
    return open_storage(store, settings.work, settings.commits_an_hour)


def existing_store(store: str) -> Storage:
    """The store that an option names, to read from. UsageError if it is a folder that does not exist."""
    if "://" not in store and not Path(store).is_dir():
        raise UsageError(f"There is no store {store}: no such folder. Name one that a board was kept in.")
    return open_store(store)


@app.command(epilog="Example: fairspace store check .fairspace")
def check(
    store: Annotated[str, typer.Argument(help="A folder, or hf://datasets/OWNER/NAME.", metavar="STORE")],
    as_json: Json = False,
) -> None:
    """Read the whole log and every file that it names. Stores with the same board print the same snapshot."""
    from fairspace.leaderboard_space.settings import Settings
    from fairspace.leaderboard_space.storage.checking import check as check_store
    from fairspace.leaderboard_space.verification.signing import signing_key

    storage = existing_store(store)
    report = check_store(storage, signing_key(Settings.from_environment().secret))
    storage.close()
    faults = [plain(str(fault)) for fault in report.faults]
    if as_json:
        print_json({**vars(report), "faults": faults})
    else:
        for name in ("events", "rows", "submissions", "snapshot"):
            typer.echo(f"{name:12}{getattr(report, name)}")
        for note in report.notes:
            typer.echo(plain(note))
        for fault in faults:
            typer.secho(fault, fg="red", err=True)
    raise typer.Exit(1 if faults else 0)


@app.command(epilog="Example: fairspace store mend .fairspace")
def mend(
    folder: Annotated[Path, typer.Argument(help="The folder of a store whose log is damaged.", metavar="FOLDER")],
) -> None:
    """Mend the log of a store: sound events stay, lost ones are made again from files, altered lines are put aside."""
    from fairspace.leaderboard_space.storage.mending import mend as mended

    done = mended(folder)
    if not done.aside and not done.lost and not done.rebuilt:
        typer.echo(f"The log is sound: {done.events} events.")
        return
    typer.echo(f"The log holds {done.events} events.")
    for what, numbers in (("rebuilt from files", done.rebuilt), ("lost", done.lost)):
        if numbers:
            typer.echo(f"{what}: event {', '.join(map(str, numbers))}")
    for path in done.aside:
        typer.echo(f"what was altered lies in {path}")
    if done.lost:
        typer.echo("A lost event may have withdrawn or verified a row: read what was altered, and do it again.")


@app.command(epilog="Example: fairspace store prune .fairspace --days 7")
def prune(
    store: Annotated[str, typer.Argument(help="A folder, or hf://datasets/OWNER/NAME.", metavar="STORE")],
    days: Annotated[
        int | None, typer.Option(help="How long files are kept; FAIRSPACE_KEEP_REFUSED_DAYS if left out.", min=0)
    ] = None,
    most_bytes: Annotated[
        int | None,
        typer.Option("--bytes", help="Of these files in all; FAIRSPACE_KEEP_REFUSED_BYTES if left out.", min=0),
    ] = None,
) -> None:
    """Remove the files of refused and failed submissions that are old or too many; their events stay in the log."""
    from fairspace.leaderboard_space.operation.pruning import prune as pruned
    from fairspace.leaderboard_space.settings import Settings
    from fairspace.leaderboard_space.state import State

    settings, storage = Settings.from_environment(), existing_store(store)
    removed = pruned(
        State(storage),
        settings.keep_refused_days if days is None else days,
        settings.keep_refused_bytes if most_bytes is None else most_bytes,
    )
    storage.close()
    typer.echo(f"{len(removed)} files were removed.")


@app.command(epilog="Example: fairspace store revoke .fairspace --token 0f1e2d3c4b5a6978")
def revoke(
    store: Annotated[str, typer.Argument(help="A folder, or hf://datasets/OWNER/NAME.", metavar="STORE")],
    token: Annotated[str, typer.Option(help="The token, or its id.")] = "",
    user: Annotated[str, typer.Option(help="The user whose tokens are all revoked.")] = "",
    by: Annotated[str, typer.Option(help="Your user name on the Hub, for the log.")] = "a maintainer",
) -> None:
    """Revoke a token, or all tokens of a user; a running Space knows it within seconds."""
    from fairspace.leaderboard_space.revoking import revoke_all, revoke_token
    from fairspace.leaderboard_space.state import State

    if bool(token) == bool(user):
        raise UsageError("Name either --token or --user.")
    storage = existing_store(store)
    event = revoke_token(State(storage), token, by) if token else revoke_all(State(storage), user, by)
    storage.close()
    what = f"the token {event.body['token']}" if token else f"all tokens of {plain(user)} until now"
    typer.echo(f"Revoked: {what} (event {event.number}).")
