"""The command's Typer application and the headings of its help."""

from __future__ import annotations

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Run a model against a fairness benchmark; check, score and compare what it answered.",
    epilog="Start with: fairspace baseline balanced --benchmark fact_or_fair --out demo && fairspace score demo",
)
importing = typer.Typer(no_args_is_help=True, help="Turn outputs in other layouts into a submission.")
RUN, SCORE, MAKE = "Run a model", "Check, score and compare", "Make and publish datasets, metrics and the classifier"
SPACE = "Hand in, and serve the board"
