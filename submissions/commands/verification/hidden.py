"""The commands about hidden item sets: `fairspace hidden rotate`, `publish` and `list`, for maintainers."""

from __future__ import annotations

import csv
import json
import os
import secrets
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairspace.submissions.commands.app import MAINTAIN, Json, command_group, print_json
from fairspace.submissions.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from fairspace.builders.hidden import HiddenSet

app = command_group("hidden", MAINTAIN, "Item sets that are held back: begin one, publish one, list them.")
SeedsOption = Annotated[
    Path, typer.Option(help="The secret file of seeds; FAIRSPACE_HIDDEN names it for all commands.", metavar="FILE")
]
RegisterOption = Annotated[
    Path | None, typer.Option(help="The public register; that of this checkout if left out.", metavar="FILE")
]


@app.command(epilog="Example: fairspace hidden rotate genres --seeds ~/hidden.json")
def rotate(
    benchmark: Annotated[str, typer.Argument(help="fact_or_fair or genres.", metavar="BENCHMARK")],
    seeds: SeedsOption,
    register: RegisterOption = None,
) -> None:
    """Begin a new hidden set: its seed goes into the secret file, a commitment to it into the public register."""
    from fairspace.builders.hidden import BASES, HiddenSet, commitment, next_revision

    if benchmark not in BASES:
        hint = did_you_mean(benchmark, BASES)
        raise UsageError(f"{benchmark!r} has no hidden sets{hint}. Known: {', '.join(BASES)}.")
    file, known = _register(register)
    revision, seed = next_revision(benchmark, datetime.now(UTC).year, known), secrets.token_hex(32)
    kept = json.loads(seeds.read_text(encoding="utf-8")) if seeds.exists() else {}
    _write_secretly(seeds, kept | {f"{benchmark}/{revision}": seed})
    _write(file, [*known, HiddenSet(benchmark, revision, commitment(benchmark, revision, seed), _today())])
    typer.echo(f"Began {revision} of {benchmark}. Keep {seeds} secret; commit {file.name}, which commits to the seed.")


@app.command(epilog="Example: fairspace hidden publish genres v1-hidden-2026a --seeds ~/hidden.json")
def publish(
    benchmark: Annotated[str, typer.Argument(help="fact_or_fair or genres.", metavar="BENCHMARK")],
    revision: Annotated[str, typer.Argument(help="Of the set that retires.", metavar="REVISION")],
    seeds: SeedsOption,
    register: RegisterOption = None,
) -> None:
    """Retire a hidden set: its seed goes into the register, so that everybody can make and check its items."""
    from fairspace.builders.hidden import commitment

    file, known = _register(register)
    entry = next((each for each in known if (each.benchmark, each.revision) == (benchmark, revision)), None)
    if entry is None or entry.seed:
        state = "is published already" if entry else "is not in the register"
        raise UsageError(f"{revision} of {benchmark} {state}; `fairspace hidden list` shows all.")
    kept = json.loads(seeds.read_text(encoding="utf-8")) if seeds.exists() else {}
    seed = kept.get(f"{benchmark}/{revision}", "")
    if commitment(benchmark, revision, seed) != entry.commitment:
        raise UsageError(f"{seeds} does not hold the seed that {revision} of {benchmark} was registered with.")
    _write(file, [replace(each, seed=seed, published=_today()) if each == entry else each for each in known])
    typer.echo(f"Published {revision} of {benchmark}. Commit {file.name}, and begin the next set.")


@app.command("list", epilog="Example: fairspace hidden list")
def list_sets(register: RegisterOption = None, as_json: Json = False) -> None:
    """Show the register: every hidden set with its commitment, and the seeds of those that are published."""
    _, known = _register(register)
    if as_json:
        print_json([asdict(entry) for entry in known])
        return
    for entry in known:
        state = f"published {entry.published}" if entry.seed else "held back"
        typer.echo(f"{entry.benchmark:20}{entry.revision:20}begun {entry.begun}  {state:22}{entry.commitment[:16]}")
    if not known:
        typer.echo("There is no hidden set yet; `fairspace hidden rotate` begins one.")


def _register(named: Path | None) -> tuple[Path, list[HiddenSet]]:
    from fairspace.builders.hidden import REGISTER, read_register

    file = named or REGISTER
    return file, read_register(file)


def _write(file: Path, entries: list[HiddenSet]) -> None:
    from fairspace.builders.hidden import COLUMNS

    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, entries))


def _write_secretly(file: Path, seeds: dict[str, str]) -> None:
    """Replace the file of seeds as a whole; nobody else may read it."""
    new = file.with_name(file.name + ".new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
        json.dump(seeds, stream, indent=1)
    new.replace(file)


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")
