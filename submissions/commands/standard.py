"""`fairspace standard`: list, show and compare standards, propose one from a board, check whether one is due.

Exit codes: 0 done, 2 wrong use; of `check`, 0 if no trigger is met and 1 if one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairspace.submissions.commands.app import DEFAULT_STORE, SCORE, Json, command_group, print_json
from fairspace.submissions.commands.show import tables as show
from fairspace.submissions.commands.store import existing_store
from fairspace.submissions.errors import UsageError, plain

if TYPE_CHECKING:
    from fairspace.submissions.results.row import Row
    from fairspace.submissions.standards.triggers import Succession

app = command_group(
    "standard",
    SCORE,
    "Standards: how raw values become scores. Show, compare, propose, validate; check whether one is due.",
)
Named = Annotated[str, typer.Argument(help="BENCHMARK/NAME, for example iris/inaugural.", metavar="STANDARD")]
Store = Annotated[str, typer.Option("--store", envvar="FAIRSPACE_STORE", help="A folder, or hf://datasets/OWNER/NAME.")]


def _rows(store: str, benchmark: str, *standards: str) -> list[Sequence[Row]]:
    """The boards of a store under some standards."""
    from fairspace.leaderboard_space.state import State

    storage = existing_store(store)
    state = State(storage)
    state.refresh()
    boards: list[Sequence[Row]] = [state.board(benchmark, name) for name in standards]
    storage.close()
    return boards


@app.command("list", epilog="Example: fairspace standard list")
def list_(as_json: Json = False) -> None:
    """List the standards of all benchmarks: released or draft, size of the cohort, threshold, hash."""
    from fairspace.submissions.standards.documents import listed

    standards = listed()
    if as_json:
        print_json([asdict(entry) for entry in standards])
        return
    lines = [
        (
            f"{entry.benchmark}/{entry.name}",
            "draft" if entry.draft else "released",
            entry.date,
            entry.cohort or "none",
            "–" if entry.tau is None else f"{entry.tau:g}",
            entry.sha256[:16],
        )
        for entry in standards
    ]
    show.table("Standards", ("standard", "state", "date", "cohort", "tau", "hash"), lines)


@app.command("show", epilog="Example: fairspace standard show iris/inaugural")
def show_(standard: Named, as_json: Json = False) -> None:
    """Show everything that a standard fixes: the whole document, and whether its reference files are unchanged."""
    from fairspace.submissions.standards.documents import changed_references, digest, document, fields, named

    bench, chosen_standard = named(standard)
    fixed = document(bench.name, chosen_standard)
    changed = changed_references(chosen_standard)
    if as_json:
        print_json({**fixed, "sha256": digest(fixed), "changed_references": changed})
        return
    state = "draft" if chosen_standard.draft else "released"
    typer.echo(f"{bench.title}, standard {chosen_standard.name}: {state}, {digest(fixed)}")
    lines = dict(fields(fixed))
    wide = max(map(len, lines)) + 2
    for name, value in lines.items():
        typer.echo(f"{name:{wide}}{_told(value)}")
    for name in changed:
        typer.secho(f"builders/reference/{name} is not the file of this standard any more.", fg="red", err=True)


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return plain(", ".join(f"{key} {_part(key, part)}" for key, part in value.items() if part != ""))
    if isinstance(value, list):
        return plain(", ".join(map(_told, value))) or "none"
    if isinstance(value, float):
        return f"{value:.10g}"
    return "yes" if value is True else "no" if value is False else plain(str(value)) or "–"


def _part(key: str, value: Any) -> str:
    """A part of a row; a metric without a bound is scaled by its logarithm."""
    return "none: log(1 + value) is taken" if (key, value) == ("bound", None) else _told(value)


@app.command(epilog="Example: fairspace standard diff iris/inaugural iris/algorithm_1 --store .fairspace")
def diff(
    first: Named,
    second: Named,
    store: Annotated[str, typer.Option("--store", help="Also what it does to the ranks of this store.")] = "",
    as_json: Json = False,
) -> None:
    """Compare two standards of one benchmark, field by field: metrics, parameters and, with --store, ranks."""
    from fairspace.submissions.standards.documents import differences, document, moves, named

    (bench, first_standard), (other_bench, other) = named(first), named(second)
    if bench.name != other_bench.name:
        raise UsageError(f"{first} and {second} are of two benchmarks; compare standards of one.")
    changed = differences(document(bench.name, first_standard), document(bench.name, other))
    moved = []
    if store:
        before, after = _rows(store, bench.name, first_standard.name, other.name)
        moved = moves(after, before)
    if as_json:
        ranks = [
            {"entry": m.row.entry, "model": m.row.model, "cohort": m.row.cohort, "first": m.before, "second": m.rank}
            for m in moved
        ]
        print_json({"fields": [asdict(change) for change in changed], **({"ranks": ranks} if store else {})})
        return
    for line in changed:
        typer.echo(f"{line.name}\n  {first}: {_told(line.first)}\n  {second}: {_told(line.second)}")
    if store:
        lines = [(m.row.model, m.row.cohort or "–", m.before or "–", m.rank or "–", m.change) for m in moved]
        show.table(f"Ranks in {store}", ("model", "cohort", first_standard.name, other.name, "change"), lines)


@app.command(epilog="Example: fairspace standard propose second --why 'The board has 20 models.' --out second.py")
def propose(
    name: Annotated[str, typer.Argument(help="Of the new standard: lower-case letters, digits, _.", metavar="NAME")],
    why: Annotated[str, typer.Option(help="Why it should stand beside the others, in a sentence; it is in the file.")],
    out: Annotated[Path | None, typer.Option(help="File to write; printed if left out.")] = None,
    store: Store = DEFAULT_STORE,
    like: Annotated[
        str, typer.Option(help="IRIS standard that gives metrics, divisors, K, tau and floors.")
    ] = "algorithm_1",
    model: Annotated[
        list[str] | None,
        typer.Option(help="An entry or a ranked model that enters; can be given again. All ranked ones if left out."),
    ] = None,
    printed: Annotated[bool, typer.Option(help="The printed rows of the cohort enter, too, where they can.")] = True,
) -> None:
    """Propose an IRIS standard: S puts the median of the board's models at 60, K stays. It registers nothing."""
    from fairspace.submissions.standards.documents import named
    from fairspace.submissions.standards.proposal import chosen
    from fairspace.submissions.standards.proposal import propose as proposed
    from fairspace.submissions.standards.source import source

    bench, base = named(f"iris/{like}")
    if name in bench.standards:
        raise UsageError(f"IRIS has a standard {name} already; released ones never change. Choose another name.")
    if out is not None and (out.exists() or not out.parent.is_dir()):
        raise UsageError(f"{out} cannot be written: it is there already, or its folder is not.")
    [rows] = _rows(store, "iris", like)
    draft = proposed(chosen(rows, base, model or (), printed), base, name, f"{datetime.now(UTC):%Y-%m-%d}", why)
    text = source(draft)
    if out is None:
        typer.echo(text, nl=False)
        return
    out.write_text(text, encoding="utf-8")
    lines = [(f.part, f.rows, f"{f.before:.2f}", f"{f.after:.2f}", f"{f.spread:.2f}") for f in draft.fits]
    show.table(f"{name}, like {like}", ("sector", "models", "median before", "after", "quartiles"), lines)
    typer.echo(f"Wrote {out}. Next: review it; CONTRIBUTING.md, 'Add a standard', says how it is registered.")


@app.command(epilog="Example: fairspace standard check --store .fairspace")
def check(
    store: Store = DEFAULT_STORE,
    standard: Annotated[
        str, typer.Option(help="IRIS standard whose succession is asked for; the default one if left out.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Say whether a next IRIS standard is due (A.3.4), row by row; exit code 1 if the ceiling trigger is met."""
    from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
    from fairspace.submissions.standards.documents import named
    from fairspace.submissions.standards.triggers import NEW_DIMENSIONS, succession

    _, base = named(f"iris/{standard or find_benchmark('iris').default}")
    [rows] = _rows(store, "iris", base.name)
    due = succession(rows, base.name, base.sectors, base.cohort)
    if as_json:
        print_json({**asdict(due), "new_dimensions": NEW_DIMENSIONS})
    else:
        _show_succession(due)
        if base.fidelity_by_goodness:
            typer.echo(f"Note: the RFS_Und of {base.name} rises with a larger drift from labour statistics.")
        typer.echo(f"New dimensions: {NEW_DIMENSIONS}.")
    raise typer.Exit(1 if due.met else 0)


def _show_succession(due: Succession) -> None:
    from fairspace.submissions.standards.triggers import DIMENSIONS, HIGH, MORE_THAN

    lines = [
        (
            candidate.model,
            candidate.organisation,
            ", ".join(f"{sector} {score:.2f}" for sector, score in candidate.sectors.items()),
            candidate.dimensions,
            "no interval" if candidate.surely is None else ", ".join(candidate.surely) or "none",
        )
        for candidate in due.reached
    ]
    if lines:
        headers = ("model", "institution", "worst case", "of IFS, RFS, BIS", "low end of the interval, too")
        show.table(f"New models with at least {HIGH:g} in {DIMENSIONS} sectors, {due.standard}", headers, lines)
    typer.echo(
        f"Ceiling: {'met' if due.met else 'not met'}. {len(due.reached)} of {due.looked_at} new ranked models reach "
        f"it, from {_institutions(due.institutions)}; more than {MORE_THAN} are asked for."
    )
    if not due.reached:
        return
    unknown = f" ({due.unknown} of the models keep no draws, so have none)" if due.unknown else ""
    typer.echo(
        f"Beside it: {_institutions(due.institutions_of_three)} if two of IFS, RFS and BIS are asked for; "
        f"{due.institutions_surely} if the low end of the interval must reach it{unknown}."
    )


def _institutions(count: int) -> str:
    return f"{count} institution{'s' * (count != 1)}"
