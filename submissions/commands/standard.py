"""`fairspace standard` and `fairspace verify`: how values become scores, and the papers' own figures recomputed."""

from collections import Counter
from pathlib import Path

import typer

from fairspace.submissions.commands.app import SCORE, command, print_json, print_notes, write
from fairspace.submissions.errors import UsageError
from fairspace.submissions.show.table import Table, wrapped


@command(SCORE, "fairspace standard iris/inaugural iris/bounded")
def standard(named: list[str] | None = None, as_json: bool = False) -> None:
    """Show the standards: a list, everything that one fixes, or two compared field by field.

    Options:
        named ([STANDARD [OTHER]]): BENCHMARK/NAME, for example iris/inaugural: all that it fixes; two are compared;
            none lists all.
    """
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
    from fairspace.submissions.standards import listed

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
    write(Table(("standard", "state", "date", "cohort", "tau", "hash"), lines))


def _show(standard: str, as_json: bool) -> None:
    from fairspace.submissions.standards import changed_references, digest, document, field_text, fields, named

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
        typer.echo(f"{name:{wide}}{field_text(value)}")
    for name in changed:
        typer.secho(f"builders/reference/{name} is not the file of this standard any more.", fg="red", err=True)


def _compare(first: str, second: str, as_json: bool) -> None:
    from fairspace.submissions.standards import differences, document, field_text, named

    (bench, first_standard), (other_bench, other) = named(first), named(second)
    if bench.name != other_bench.name:
        raise UsageError(f"{first} and {second} are of two benchmarks; compare standards of one.")
    changed = differences(document(bench.name, first_standard), document(bench.name, other))
    if as_json:
        print_json({"fields": [dict(zip(("name", "first", "second"), change, strict=True)) for change in changed]})
        return
    for name, before, after in changed:
        typer.echo(f"{name}\n  {first}: {field_text(before)}\n  {second}: {field_text(after)}")


@command(SCORE, "fairspace verify --results a.json b.json c.json")
def verify(results: list[Path] | None = None, more: list[Path] | None = None, as_json: bool = False) -> None:
    """Recompute what the papers print: tables from other figures, and IRIS' checks of itself over its seven models.

    Exit code 1: a difference is larger than the printed digits allow, and no erratum explains it.

    Options:
        results (metavar=FILE...): Results of IRIS, three or more: section 4.1's checks over them.
        more ([FILE], hidden=1): Further results.
    """
    from fairspace.metrics.iris_score.standards import IrisStandard
    from fairspace.submissions.benchmarks.iris.validation import cohort_of, tables, validate
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.results.board import scored_row
    from fairspace.submissions.results.scoring import load_result
    from fairspace.submissions.verifying import DIFFERS, printed_tables

    loaded = [load_result(path) for path in (*(results or ()), *(more or ()))]
    cohort = None
    if loaded:
        standard = benchmark(loaded[0].benchmark).standards[loaded[0].standard]
        if not isinstance(standard, IrisStandard):
            raise UsageError(f"--results takes three or more results of IRIS, and no {loaded[0].benchmark}.")
        cohort = cohort_of([scored_row(result, standard.name) for result in loaded], standard)
    rows, checks = [] if cohort else [*printed_tables()], validate(cohort)
    counts = Counter(row.verdict.partition(":")[0] for row in rows)
    if as_json:
        recomputed = [vars(row) | {"verdict": row.verdict} for row in rows]
        print_json(({"tables": recomputed, "verdicts": counts} if rows else {}) | {"validation": checks})
    else:
        headings = ("column", "table", "numbers", "equal", "off by", "bound", "verdict", "note")
        for title in dict.fromkeys(row.benchmark for row in rows):
            lines = [row.cells() for row in rows if row.benchmark == title]
            write(f"{Table(headings, lines, title)}\n")
        if rows:
            tally = ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common())
            write(wrapped(f"{len(rows)} rows: {tally}. cards/errata.md explains each E-."))
        print_notes([f"IRIS validated over {len(checks['models'])} models: {', '.join(checks['models'])}"])
        for title, heads, cells, rest in tables(checks):
            write(f"\n{Table(heads, cells, title, rest)}")
        print_notes(checks["notes"])
    if DIFFERS in counts:
        raise typer.Exit(1)
