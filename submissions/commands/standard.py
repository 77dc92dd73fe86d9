"""`fairspace standard` and `fairspace verify`: how values become scores, and the papers' own figures recomputed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fairspace.submissions.commands.app import SCORE, Json, app, print_json
from fairspace.submissions.commands.show import tables as show
from fairspace.submissions.errors import UsageError, plain


@app.command(epilog="Example: fairspace standard iris/inaugural iris/bounded", rich_help_panel=SCORE)
def standard(
    named: Annotated[
        list[str] | None,
        typer.Argument(
            help="BENCHMARK/NAME, for example iris/inaugural: all that it fixes; two are compared; none lists all.",
            metavar="[STANDARD [OTHER]]",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the standards: a list, everything that one fixes, or two compared field by field."""
    names = named or []
    if len(names) > 2:
        raise UsageError("Name one standard, or two of one benchmark.")
    if not names:
        _list(as_json)
    elif len(names) == 1:
        _show(names[0], as_json)
    else:
        _compare(names[0], names[1], as_json)


def _list(as_json: bool) -> None:
    from fairspace.submissions.standards.documents import listed

    standards = listed()
    if as_json:
        print_json(standards)
        return
    lines = [
        (
            f"{entry['benchmark']}/{entry['name']}",
            "draft" if entry["draft"] else "released",
            entry["date"],
            entry["cohort"] or "none",
            "–" if entry["tau"] is None else f"{entry['tau']:g}",
            entry["sha256"][:16],
        )
        for entry in standards
    ]
    show.table("Standards", ("standard", "state", "date", "cohort", "tau", "hash"), lines)


def _show(standard: str, as_json: bool) -> None:
    from fairspace.submissions.standards.documents import changed_references, digest, document, fields, named

    bench, chosen_standard = named(standard)
    fixed = document(bench.name, chosen_standard)
    changed = changed_references(chosen_standard)
    if as_json:
        print_json({**fixed, "sha256": digest(fixed), "changed_references": changed})
        return
    state = "draft" if chosen_standard.draft else "released" if chosen_standard.name in bench.standards else "own"
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


def _compare(first: str, second: str, as_json: bool) -> None:
    from fairspace.submissions.standards.documents import differences, document, named

    (bench, first_standard), (other_bench, other) = named(first), named(second)
    if bench.name != other_bench.name:
        raise UsageError(f"{first} and {second} are of two benchmarks; compare standards of one.")
    changed = differences(document(bench.name, first_standard), document(bench.name, other))
    if as_json:
        print_json({"fields": [dict(zip(("name", "first", "second"), change, strict=True)) for change in changed]})
        return
    for name, before, after in changed:
        typer.echo(f"{name}\n  {first}: {_told(before)}\n  {second}: {_told(after)}")


@app.command(rich_help_panel=SCORE, epilog="Example: fairspace verify --json")
def verify(as_json: Json = False) -> None:
    """Recompute what the papers print: tables from other figures, and IRIS' checks of itself over its seven models.

    Exit code 1: a difference is larger than the printed digits allow, and no erratum explains it.
    """
    from fairspace.submissions.standards.validation import validate
    from fairspace.submissions.verifying import DIFFERS, printed_tables

    rows, checks = list(printed_tables()), validate()
    if as_json:
        print_json({"tables": [row.to_json() for row in rows], "validation": checks})
    else:
        headers = ("column", "benchmark", "table", "numbers", "difference", "bound", "verdict")
        lines = [
            (row.column, row.benchmark, row.table, row.count, f"{row.difference:.2g}", f"{row.bound:.2g}", row.verdict)
            for row in rows
        ]
        show.table("Printed tables, recomputed; E-... are errata, cards/errata.md has them", headers, lines)
        _show_validation(checks)
    if any(row.verdict == DIFFERS for row in rows):
        raise typer.Exit(1)


_CHECKS = {
    "reliability": "Cronbach's alpha per sector (1 is best; the paper: above 0.7 but for BIS_Gen, 0.20)",
    "leave_one_out": "Ranks without one metric (Spearman's rho), where they change or the paper prints another number",
    "reweighted": "Ranks with one weight moved by 10 %, where they change",
    "correlations": "Correlation of sectors' distances from the ideal (Pearson)",
    "welch": "Welch's t test of the total between architectures",
}


def _show_validation(report: dict[str, Any]) -> None:
    show.notes([f"IRIS under inaugural: the seven models of the paper ({', '.join(report['models'])})"])
    for check, title in _CHECKS.items():
        rows = report[check]
        known = [row for row in rows if row.get("rho", 1.0) is not None]
        told = [row for row in known if row.get("rho", 0.0) < 1 - 1e-9 or row["printed"] not in (None, 1.0)]
        show.table(title, tuple(rows[0]), [tuple(map(_cell, row.values())) for row in told])
        if len(told) < len(rows):
            unknown = len(rows) - len(known)
            show.notes([f"{len(known) - len(told)} others change no rank; {unknown} not printed one by one"])
    show.notes(report["notes"])


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return "/".join(map(_cell, value))
    return "–" if value is None else value if isinstance(value, str) else f"{value:.4g}"
