"""`fairspace leaderboard`: show the board in the terminal, or serve it to browsers on this machine."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.benchmarks.names import NAMES
from fairspace.submissions.commands.app import DEFAULT_STORE, SPACE, All, Json, StoreOption, command_group, print_json
from fairspace.submissions.commands.store import existing_store, open_store
from fairspace.submissions.errors import UsageError

if TYPE_CHECKING:
    from fairspace.leaderboard_space.state import State

app = command_group("leaderboard", SPACE, "Show the board here, or serve it to browsers.")


@app.command(epilog="Example: fairspace leaderboard show --benchmark iris --standard algorithm_1")
def show(
    benchmark: Annotated[str | None, typer.Option(help=f"One of {', '.join(NAMES)}; all if left out.")] = None,
    standard: Annotated[str, typer.Option(help="Standard of the board; if left out, each benchmark's default.")] = "",
    store: StoreOption = DEFAULT_STORE,
    everything: All = False,
    as_json: Json = False,
) -> None:
    """Show the board: published figures, scored submissions and baselines."""
    from fairspace.leaderboard_space.settings import Settings
    from fairspace.leaderboard_space.state import State
    from fairspace.leaderboard_space.verification.signing import signing_key
    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
    from fairspace.submissions.commands.show.board import row_json, show_board
    from fairspace.submissions.results.row_errors import with_errors
    from fairspace.submissions.results.scoring import find_standard

    names = [benchmark] if benchmark else [n for n in NAMES if not standard or standard in find_benchmark(n).standards]
    if not names:
        raise UsageError(f"No benchmark has a standard {standard!r}. `fairspace standard list` shows all.")
    storage = open_store(store) if store == DEFAULT_STORE else existing_store(store)
    state = State(storage, signing_key(Settings.from_environment().secret))
    state.refresh()
    if doubt := _doubt_of_signatures(state):
        typer.echo(doubt, err=True)
    standards = {name: find_standard(find_benchmark(name), standard).name for name in names}
    boards = {name: state.board(name, standards[name]) for name in names}
    storage.close()
    if as_json:
        print_json(
            {name: [row_json(row) for row in with_errors(rows, standards[name])] for name, rows in boards.items()}
        )
    else:
        for name, rows in boards.items():
            show_board(name, standards[name], rows, everything=everything)


def _doubt_of_signatures(state: State) -> str:
    """What a reader must know of the signatures of verified rows; '' if all were checked, and are the maintainers'."""
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


@app.command(epilog="Example: fairspace leaderboard serve --port 7860 --insecure-local")
def serve(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1.", min=1, max=65535)] = 7860,
    store: StoreOption = DEFAULT_STORE,
    insecure_local: Annotated[
        bool, typer.Option("--insecure-local", help="Let everybody on this machine submit, without signing in.")
    ] = False,
    baselines: Annotated[bool, typer.Option(help="Score the bundled baselines while nobody waits.")] = True,
    admin: Annotated[
        list[str] | None, typer.Option(help="A maintainer, who may withdraw rows; can be given again.")
    ] = None,
) -> None:
    """Serve the board on 127.0.0.1, as a Space does; every setting of leaderboard_space/OPERATION.md holds."""
    from fairspace.leaderboard_space.app import serve as serve_board
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
    settings = replace(
        settings,
        store=store,
        insecure_local=insecure_local,
        baselines=settings.baselines and baselines,
        admins=(*settings.admins, *(admin or ())),
    )
    typer.echo(f"The board is on http://127.0.0.1:{port} (Ctrl-C stops it).")
    if not insecure_local:
        typer.echo("It can be read; handing in needs --insecure-local here, or a Space where users sign in.")
    serve_board(settings, port=port)


@app.command(epilog="Example: fairspace leaderboard hub fact_or_fair")
def hub(
    benchmark: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.", metavar="BENCHMARK")],
    namespace: Annotated[
        str, typer.Option(envvar="FAIRSPACE_NAMESPACE", help="User or organisation of the datasets on the Hub.")
    ] = "fairspace",
    as_json: Json = False,
) -> None:
    """Show the Hub's own leaderboards: percentages that repositories of models state, which nobody checked here."""
    from fairspace.builders.publishing.hub_leaderboard import hub_leaderboard
    from fairspace.builders.registry import headlined
    from fairspace.submissions.commands.show.tables import line, table

    if benchmark not in NAMES:
        raise UsageError(f"There is no benchmark {benchmark!r}. Known: {', '.join(NAMES)}.")
    listed = {each.name: hub_leaderboard(f"{namespace}/{each.name}") for each in headlined(benchmark)}
    if as_json:
        print_json(listed)
        return
    for dataset, entries in listed.items():
        if not entries:
            line(f"{namespace}/{dataset}: the Hub lists no results.")
            continue
        headers = ("rank", "model", "percent", "stated by", "notes")
        rows = [[entry[name] for name in ("rank", "model", "value", "stated_by", "notes")] for entry in entries]
        table(f"{namespace}/{dataset}", headers, rows)
