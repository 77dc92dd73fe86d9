"""Printed rows under a reader's adjustment: made again where the printed figures are those that it asks for.

What the papers do not print (the sizes of groups, counts, single values behind a norm) makes a row unranked and says
so; no number is made up. What the adjustment leaves alone stays as printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, Adjustment, left_out
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.scoring_table import Rule
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.values import Value, measured, not_run

if TYPE_CHECKING:
    from fairspace.submissions.results.row import Row

NOT_PRINTED = "not available: the paper does not print"
"""How the reason of a score begins that printed figures do not give."""
SIZES = "the paper does not print how many samples its groups have"


def adjusted_print(
    row: Row, benchmark: str, standard: str, changed: Adjustment
) -> tuple[dict[str, Value], dict[str, str], tuple[str, ...], str]:
    """What an adjustment makes of a printed row: scores, labels, why there is no rank, and the score that ranks go by.

    Args:
        row: of the released board.
        benchmark: of the board.
        standard: its name.
        changed: anything but as released.
    """
    bench = find_benchmark(benchmark)
    chosen = bench.resolve_standard(find_standard(bench, standard), row.labels)
    released, table = bench.scoring(chosen, AS_RELEASED), bench.scoring(chosen, changed)
    printed = {name: value.value for name, value in {**row.values, **row.scores}.items() if value.value is not None}
    values = bench.printed_values(printed, table)
    figures = {name: number for name, number in values.items() if name not in table.restated}
    scores: dict[str, Value] = {}
    for name, rule in table.rules.items():
        if name in row.scores:
            moved = any(scores[part] is not row.scores[part] for part in rule.weights if part in scores)
            same = rule.weights == released.rules[name].weights and not table.restated & set(rule.weights)
            scores[name] = row.scores[name] if same and not moved else _remade(rule, figures, scores, row.source)
    ranking = next(name for name in table.ranking if name in scores)
    total, unranked = scores[ranking], row.unranked
    if total is not row.scores[ranking]:
        lacking = () if total.state == "value" else (table.partial + total.reason,)
        unranked = lacking if table.partial else (*unranked, *lacking)
    if changed.smallest_group:
        unranked = (*unranked, SIZES)
    return {name: scores[name] for name in row.scores}, table.relabel(row.labels, scores), unranked, ranking


def _remade(rule: Rule, figures: Mapping[str, float], scores: Mapping[str, Value], source: str) -> Value:
    """A score made again of printed figures and of scores before it; not run if a part is not there."""
    if not rule.weights:
        return left_out(rule.name)
    columns = {}
    for part in rule.weights:
        number = scores[part].value if part in scores else figures.get(part)
        if number is None:
            reason = scores[part].reason if part in scores else f"{NOT_PRINTED} {rule.unprinted(part)}"
            return not_run(rule.name, reason)
        columns[part] = np.array([number])
    number = rule.score(float(rule.magnitude(columns)[0]))
    return measured(rule.name, number, evidence={key: text.format(source=source) for key, text in rule.printed.items()})
