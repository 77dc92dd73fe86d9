"""`fairspace validate`: is IRIS itself reliable, over the models of the paper and over the ranked ones of a store."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from fairspace.submissions.commands.show import results as show
from fairspace.submissions.commands.store import existing_store
from fairspace.submissions.errors import UsageError

EXAMPLE = "Example: fairspace validate --store .fairspace"


def validate(
    standard: Annotated[str, typer.Option(help="Standard that the total is taken under.")] = "inaugural",
    store: Annotated[
        str,
        typer.Option(
            "--store",
            envvar="FAIRSPACE_STORE",
            help="Also over the ranked models of this store: a folder, or hf://datasets/…",
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Validate IRIS: reliability of sectors, stability of ranks, correlation of sectors, impartiality."""
    found = [found.to_json() for found in _cohorts(standard, store)]
    if as_json:
        sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    else:
        for about in found:
            _show(about)


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
    found = validations(rows, chosen)
    if len(found) < 2:
        raise UsageError(
            f"{store} holds fewer than three ranked models of IRIS with all values; ranks and correlations need three. "
            "Leave out --store for the models of the paper."
        )
    return found


def _show(found: dict[str, Any]) -> None:
    show.notes([f"IRIS under {found['standard']}: {found['cohort']} ({', '.join(found['models'])})"])
    show.table(
        "Cronbach's alpha per sector (1 is best; the paper: above 0.7 but for BIS_Gen, 0.20)",
        ("sector", "metrics", "alpha", "printed", ""),
        [(r["sector"], r["metrics"], _n(r["alpha"]), _n(r["printed"]), r["reason"]) for r in found["reliability"]],
    )
    for key, title in (
        ("leave_one_out", "Ranks without one metric (Spearman's rho; 1 is no change)"),
        ("reweighted", "Ranks with one weight moved by 10 %"),
    ):
        show.table(title, ("changed", "by", "rho", "p", "printed"), _stabilities(found[key]))
    show.table(
        "Correlation of sectors (Pearson)",
        ("first", "second", "r", "p"),
        [(c["first"], c["second"], _n(c["r"]), _n(c["p"])) for c in found["correlations"]],
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
            for w in found["welch"]
        ],
    )
    show.notes(found["notes"])


def _stabilities(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """All that move a rank, one by one, and the others as one line."""
    rows = [
        (s["changed"], f"{s['change']:+.0%}", _n(s["rho"]), _n(s["p"]), _n(s["printed"]))
        for s in found
        if s["rho"] is not None and (s["rho"] < 1 - 1e-9 or s["printed"] not in (None, 1.0))
    ]
    same = [s for s in found if s["rho"] is not None and s["rho"] >= 1 - 1e-9]
    unknown = [s for s in found if s["rho"] is None]
    if same:
        rows.append((f"{len(same)} others", "", _n(1.0), "", ""))
    if unknown:
        least = min((s["printed"] for s in unknown if s["printed"] is not None), default=None)
        told = "" if least is None else f"{least:.4f} and above"
        rows.append((f"{len(unknown)} not printed one by one", "", "–", "", told))
    return rows


def _n(number: float | None) -> str:
    return "–" if number is None else f"{number:.4g}"
