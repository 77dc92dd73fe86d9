"""`fairspace standard validate`: how far a benchmark's values can be relied on.

Of submissions: components of the variance of their samples, and how many samples a wanted precision needs. Of results,
printed rows and a store: reliability over models, agreement of methods, convergence of benchmarks. Of nothing: how
reliable IRIS itself is, over the paper's models or a store's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairspace.submissions.commands.app import Json, print_json
from fairspace.submissions.commands.shared.checked import checked_submission, is_result
from fairspace.submissions.commands.show import tables as show
from fairspace.submissions.commands.standard import app
from fairspace.submissions.commands.store import existing_store
from fairspace.submissions.errors import UsageError

if TYPE_CHECKING:
    from fairspace.submissions.results.row import Row


@app.command(epilog="Example: fairspace standard validate my-submission.zip")
def validate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Submissions to one benchmark, or results of it that `fairspace score --out` wrote.",
            metavar="SUBMISSION|RESULT",
        ),
    ] = None,
    benchmark: Annotated[
        str, typer.Option(help="Over the printed rows of this benchmark, and those of --store.", metavar="NAME")
    ] = "",
    standard: Annotated[
        str, typer.Option(help="Standard that scores are taken under; the benchmark's default if left out.")
    ] = "",
    store: Annotated[
        str,
        typer.Option("--store", envvar="FAIRSPACE_STORE", help="Also over the rows of this folder, or hf://datasets/…"),
    ] = "",
    half_width: Annotated[
        float | None,
        typer.Option(
            help="Half of the 95 % interval that would do, in the unit of a score: how many samples it needs is said.",
            min=0.0,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say how far values can be relied on: of submissions, of results or a benchmark's rows, or of IRIS itself."""
    results, submissions = ([path for path in paths or () if is_result(path) == wanted] for wanted in (True, False))
    if half_width is not None and not submissions:
        raise UsageError("--half-width is of submissions; name one, or leave the option out.")
    if submissions and (results or benchmark):
        raise UsageError("Submissions are validated by themselves: leave out results and --benchmark.")
    if submissions:
        _of_submissions(submissions, half_width, as_json)
    elif results or benchmark:
        _of_board(results, benchmark, standard, store, as_json)
    else:
        reports = [cohort.to_json() for cohort in _cohorts(standard, store)]
        if as_json:
            print_json(reports)
        else:
            for report in reports:
                _show(report)


def _of_board(paths: list[Path], name: str, standard: str, store: str, as_json: bool) -> None:
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.commands.show.board_validity import show_board_validity
    from fairspace.submissions.results.board import scored_row
    from fairspace.submissions.results.scoring import find_standard, load_result
    from fairspace.submissions.validity.board_report import board_report

    results = [load_result(path) for path in paths]
    names = {result.benchmark for result in results} | ({name} if name else set())
    if len(names) > 1:
        raise UsageError(f"The results are of several benchmarks ({', '.join(sorted(names))}); name those of one.")
    [name] = names
    chosen = find_standard(benchmark(name), standard).name
    rows = _boards(store, name, chosen)
    report = board_report(name, rows | {name: [*rows[name], *(scored_row(result, chosen) for result in results)]})
    if as_json:
        print_json(report.to_json())
    else:
        show_board_validity(report)


def _boards(store: str, name: str, standard: str) -> dict[str, Sequence[Row]]:
    """The rows of all benchmarks: printed ones, and those of a store if one is named."""
    from fairspace.submissions.benchmarks.registry import NAMES
    from fairspace.submissions.results.board import board

    standards = {other: standard if other == name else "" for other in NAMES}
    if not store:
        return {other: board(other, under) for other, under in standards.items()}
    from fairspace.leaderboard_space.state import State

    storage = existing_store(store)
    state = State(storage)
    state.refresh()
    rows: dict[str, Sequence[Row]] = {other: state.board(other, under) for other, under in standards.items()}
    storage.close()
    return rows


def _of_submissions(paths: list[Path], half_width: float | None, as_json: bool) -> None:
    from fairspace.submissions.commands.show.validity import show_validity
    from fairspace.submissions.results.forms import with_forms
    from fairspace.submissions.validity.report import report

    if half_width == 0:
        raise UsageError("--half-width is 0, which no number of samples reaches; give a number above 0.")
    checked = [checked_submission(path) for path in paths]
    if len({(submission.meta.benchmark, submission.meta.dataset_revision) for submission in checked}) > 1:
        raise UsageError("The submissions are to several benchmarks or dataset revisions; name those of one.")
    sets = with_forms(list(zip(paths, checked, strict=True)))
    said = report([scored for scored, _ in sets], half_width, [forms for _, forms in sets])
    if as_json:
        print_json(said.to_json())
    else:
        show_validity(said)


def _cohorts(standard: str, store: str) -> list[Any]:
    from fairspace.submissions.benchmarks.registry import benchmark
    from fairspace.submissions.results.scoring import find_standard
    from fairspace.submissions.standards.validation import validations

    chosen = find_standard(benchmark("iris"), standard)
    if not store:
        return validations((), chosen)
    from fairspace.leaderboard_space.state import State

    storage = existing_store(store)
    state = State(storage)
    state.refresh()
    rows = state.board("iris", standard)
    storage.close()
    cohorts = validations(rows, chosen)
    if len(cohorts) < 2:
        raise UsageError(
            f"{store} holds fewer than three ranked models of IRIS with all values; ranks and correlations need three. "
            "Leave out --store for the models of the paper."
        )
    return cohorts


def _show(report: dict[str, Any]) -> None:
    show.notes([f"IRIS under {report['standard']}: {report['cohort']} ({', '.join(report['models'])})"])
    show.table(
        "Cronbach's alpha per sector (1 is best; the paper: above 0.7 but for BIS_Gen, 0.20)",
        ("sector", "metrics", "alpha", "printed", ""),
        [(r["sector"], r["metrics"], _n(r["alpha"]), _n(r["printed"]), r["reason"]) for r in report["reliability"]],
    )
    for key, title in (
        ("leave_one_out", "Ranks without one metric (Spearman's rho; 1 is no change)"),
        ("reweighted", "Ranks with one weight moved by 10 %"),
    ):
        show.table(title, ("changed", "by", "rho", "p", "printed"), _stabilities(report[key]))
    show.table(
        "Correlation of sectors' distances from the ideal (Pearson)",
        ("first", "second", "r", "p", "printed"),
        [(c["first"], c["second"], _n(c["r"]), _n(c["p"]), _n(c["printed"])) for c in report["correlations"]],
    )
    show.table(
        "Welch's t test of the total between architectures",
        ("first", "second", "models", "means", "t", "p", "printed", ""),
        [
            (
                w["first"],
                w["second"],
                "/".join(map(str, w["sizes"])),
                "/".join(map(_n, w["means"])),
                _n(w["t"]),
                _n(w["p"]),
                _n(w["printed"]),
                w["reason"],
            )
            for w in report["welch"]
        ],
    )
    show.notes(report["notes"])


def _stabilities(changes: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Changes that move a rank, a row each, and the others as one row."""
    rows = [
        (s["changed"], f"{s['change']:+.0%}", _n(s["rho"]), _n(s["p"]), _n(s["printed"]))
        for s in changes
        if s["rho"] is not None and (s["rho"] < 1 - 1e-9 or s["printed"] not in (None, 1.0))
    ]
    same = [s for s in changes if s["rho"] is not None and s["rho"] >= 1 - 1e-9]
    unknown = [s for s in changes if s["rho"] is None]
    if same:
        rows.append((f"{len(same)} others", "", _n(1.0), "", ""))
    if unknown:
        least = min((s["printed"] for s in unknown if s["printed"] is not None), default=None)
        printed = "" if least is None else f"{least:.4f} and above"
        rows.append((f"{len(unknown)} not printed one by one", "", "–", "", printed))
    return rows


def _n(number: float | None) -> str:
    return "–" if number is None else f"{number:.4g}"
