"""The commands about a store: `fairspace store check` and `fairspace store mend`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.commands.app import MAINTAIN, Json, command_group, print_json
from fairspace.submissions.errors import UsageError, plain

if TYPE_CHECKING:
    from fairspace.leaderboard_space.storage import Storage

app = command_group("store", MAINTAIN, "Check the store of a board, and mend the log of one in a folder.")


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
    from fairspace.leaderboard_space.storage.checking import check as check_store

    storage = existing_store(store)
    report = check_store(storage)
    storage.close()
    faults = [plain(str(fault)) for fault in report.faults]
    if as_json:
        print_json({**vars(report), "faults": faults})
    else:
        for name in ("events", "rows", "submissions", "snapshot"):
            typer.echo(f"{name:12}{getattr(report, name)}")
        for fault in faults:
            typer.secho(fault, fg="red", err=True)
    raise typer.Exit(1 if faults else 0)


@app.command(epilog="Example: fairspace store mend .fairspace")
def mend(
    folder: Annotated[Path, typer.Argument(help="The folder of a store whose log is damaged.", metavar="FOLDER")],
) -> None:
    """Cut the log of a store before its first damaged line; the lines that are cut off are kept beside it."""
    from fairspace.leaderboard_space.storage.checking import mend as mended

    done = mended(folder)
    if done.aside is None:
        typer.echo(f"The log is sound: {done.events} events.")
    else:
        typer.echo(
            f"The log holds {done.events} events; {done.lines} lines from the damaged one on lie in {done.aside}."
        )
