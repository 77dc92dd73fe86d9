"""What `fairspace verify-submission` prints, in 80 columns."""

from __future__ import annotations

from fairspace.submissions.commands.show.tables import OUT, cell, new_table
from fairspace.submissions.running.rerunning.agreement import MOST_FOREIGN, Comparison
from fairspace.submissions.running.rerunning.rerun import Outcome

_VERDICTS = {
    "agrees": "The answers agree with the model's.",
    "differs": "The answers are not this model's.",
    "undecided": "Nothing can be said.",
}
_LEGEND = f"""\
kappa: agreement beyond chance. again: two reruns with each other, 100 % where one was enough. chance: answers
to different items. foreign: share of the answers that is of another origin,
95 % interval; a row is verified if it is at most {MOST_FOREIGN:.0%}."""


def show_verification(outcome: Outcome) -> None:
    """Print the agreement task by task, the verdict and its reasons, and the seed."""
    _agreements(outcome.comparison)
    if (judged := outcome.judgements) is not None:
        OUT.print(cell(f"Judgements of {judged.declared}, asked again of {judged.asked}:"))
        _agreements(judged.comparison)
    OUT.print(_LEGEND)
    OUT.print(cell(_VERDICTS[outcome.verdict]), style="bold")
    for reason in outcome.reasons:
        OUT.print(cell(f"- {reason}"))
    OUT.print(cell(f"The part was drawn by the seed {outcome.seed}."))


def _agreements(comparison: Comparison) -> None:
    rows = {**comparison.tasks, "all": comparison.whole}
    table = new_table("")
    table.add_column("task")
    for header in ("asked", "agreement, 95 %", "kappa", "again", "chance", "foreign"):
        table.add_column(header, justify="right")
    for name, one in rows.items():
        share = f"{one.agreement:.1%} ({one.low:.1%}–{one.high:.1%})"
        foreign = f"{one.foreign_low:.0%}–{one.foreign_high:.0%}"
        kappa = f"{one.kappa[0]:.2f}" if one.kappa is not None else "–"
        again, chance = f"{one.repeated:.0%}", f"{one.chance:.0%}"
        cells = (name.rpartition("/")[2][:16], f"{one.requests:,}", share, kappa, again, chance, foreign)
        table.add_row(*map(cell, cells))
    OUT.print(table)
