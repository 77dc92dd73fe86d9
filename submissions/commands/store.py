"""The commands about a store: `fairspace store check` and `fairspace store mend`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.errors import UsageError, plain

if TYPE_CHECKING:
    from fairspace.leaderboard_space.storage import Storage

app = typer.Typer(no_args_is_help=True, help="Check the store of a board, and mend the log of one in a folder.")


def open_store(store: str) -> Storage:
    """The store that an option names. StorageError if it cannot be opened."""
    from fairspace.leaderboard_space.settings import Settings
    from fairspace.leaderboard_space.storage.opening import open_storage

    settings = Settings.from_environment()
    return open_storage(store, settings.work, settings.commits_an_hour)


def existing_store(store: str) -> Storage:
    """As `open_store`, to read from. UsageError if it names a folder that is not there, which no board was kept in."""
    if "://" not in store and not Path(store).is_dir():
        raise UsageError(f"There is no store {store}: no such folder. Name one that a board was kept in.")
    return open_store(store)


@app.command(epilog="Example: fairspace store check .fairspace")
def check(
    store: Annotated[str, typer.Argument(help="A folder, or hf://datasets/OWNER/NAME.", metavar="STORE")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Fold the log from its beginning and read every file that it speaks of; equal boards have an equal snapshot."""
    from fairspace.leaderboard_space.storage.checking import check as checked

    storage = existing_store(store)
    found = checked(storage)
    storage.close()
    told = {**vars(found), "faults": [plain(str(fault)) for fault in found.faults]}
    if as_json:
        typer.echo(json.dumps(told, indent=1))
    else:
        for name in ("events", "rows", "submissions", "snapshot"):
            typer.echo(f"{name:12}{told[name]}")
        for fault in found.faults:
            typer.secho(plain(str(fault)), fg="red", err=True)
    raise typer.Exit(1 if found.faults else 0)


@app.command(epilog="Example: fairspace store mend .fairspace")
def mend(
    folder: Annotated[Path, typer.Argument(help="The folder of a store whose log is damaged.", metavar="FOLDER")],
) -> None:
    """Cut a log before its first damaged line, where no backup is to be had; what is cut off is kept beside it."""
    from fairspace.leaderboard_space.storage.checking import mend as mended

    done = mended(folder)
    if done.aside is None:
        typer.echo(f"The log is sound: {done.events} events.")
    else:
        typer.echo(
            f"The log holds {done.events} events; {done.lines} lines from the damaged one on lie in {done.aside}."
        )
