"""`fairspace standard validate`: how reliable IRIS itself is, over the paper's models or a store's."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fairspace.submissions.commands.app import Json, print_json
from fairspace.submissions.commands.show import tables as show
from fairspace.submissions.commands.standard import app
from fairspace.submissions.commands.store import existing_store
from fairspace.submissions.errors import UsageError


@app.command(epilog="Example: fairspace standard validate --store .fairspace")
def validate(
    standard: Annotated[
        str, typer.Option(help="Standard that the total of a store's models is taken under; the default if left out.")
    ] = "",
    store: Annotated[
        str,
        typer.Option(
            "--store",
            envvar="FAIRSPACE_STORE",
            help="Also over the ranked models of this store: a folder, or hf://datasets/…",
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Validate IRIS: reliability of sectors, stability of ranks, correlation of sectors, impartiality."""
    reports = [cohort.to_json() for cohort in _cohorts(standard, store)]
    if as_json:
        print_json(reports)
    else:
        for report in reports:
            _show(report)


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
        "Correlation of sectors (Pearson)",
        ("first", "second", "r", "p"),
        [(c["first"], c["second"], _n(c["r"]), _n(c["p"])) for c in report["correlations"]],
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
