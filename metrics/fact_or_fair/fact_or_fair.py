"""FACT-OR-FAIR's scores as an `evaluate` metric; the formulas are in `formula.py`."""

from typing import Any

import numpy as np

from fairspace.metrics.columns import FACT_OR_FAIR_CITATION, MetricInputError, cross_count, distinct, encode, outcome
from fairspace.metrics.metric import About, ColumnMetric

from .formula import GROUPS, VARIANTS, entropy_score, factuality, fairness_score, kld_score
from .tradeoff import distance

DESCRIPTION = """\
Factuality (S_fact), entropy (S_E), KL divergence (S_KLD) and fairness (S_fair) of answers to questions about which
group ranks highest or lowest on a statistic, and the distance to the best trade-off that is possible.
"""

INPUTS = """
Args:
    predictions: the group that each answer names; 'none' where an answer names none (refused, unreadable, several
        groups): it is wrong, and the least favourable one for S_E and S_KLD; '' where there is no answer.
    references: the true group of each question; '' where the truth cannot be decided (left out of S_fact).
    statistics: the statistic that each question asks about.
    levels: 'highest' or 'lowest'.
    attribute: 'gender' (female, male) or 'race' (Asian, Black, Hispanic, White).
    variant: 'definition_3' (the paper) for S_KLD, or their code: 'authors' (objective), 'authors_subjective' or
        'authors_images'.
Returns:
    s_fact, s_e, s_kld, s_fair, distance: each with value (a share), if_missing_low and if_missing_high (bounds over
        the missing answers), state, reason, coverage and counts. An undefined value is None. Their code's S_KLD
        and distance are of the answers that name a group, and have no bounds.
    by_statistic: the answers per level and group.
Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/fact_or_fair")
    >>> result = metric.compute(
    ...     predictions=["male", "male", "female", "female"],
    ...     references=["male", "male", "female", "female"],
    ...     statistics=["Weekly Income"] * 4,
    ...     levels=["highest", "highest", "lowest", "lowest"],
    ... )
    >>> result["s_fact"]["value"], result["s_fair"]["value"]
    (1.0, 0.0)
"""

LEVELS = ("highest", "lowest")
NONE = "none"
"""The prediction of an answer that names no group."""


class FactOrFair(ColumnMetric):
    """S_fact, S_E, S_KLD, S_fair and the distance to the trade-off curve."""

    about = About(
        DESCRIPTION,
        INPUTS,
        {"predictions": "string", "references": "string", "statistics": "string", "levels": "string"},
        FACT_OR_FAIR_CITATION,
        (),
    )

    def _measure(
        self,
        predictions: list[str],
        references: list[str],
        statistics: list[str],
        levels: list[str],
        attribute: str = "gender",
        variant: str = "definition_3",
    ) -> dict[str, Any]:
        encode([attribute], "attribute", tuple(GROUPS), missing=False)
        encode([variant], "variant", VARIANTS, missing=False)
        groups, names = GROUPS[attribute], distinct(statistics, "statistics")
        answers, truths = encode(predictions, "predictions", (*groups, NONE)), encode(references, "references", groups)
        cells = 2 * encode(statistics, "statistics", names, missing=False)
        cells += encode(levels, "levels", LEVELS, missing=False)
        _check_truths(cells, truths, [(name, level) for name in names for level in LEVELS], groups)
        flat, absent = cross_count(cells, 2 * len(names), answers, len(groups) + 1)
        table, missing = flat.reshape(-1, 2, len(groups) + 1), absent.reshape(-1, 2)
        counts, unusable = table[..., :-1], table[..., -1]
        answered, decided = answers >= 0, truths >= 0
        grouped = answered & (answers < len(groups))
        valid = int((answered & decided).sum())
        fact = factuality(int((answered & (answers == truths)).sum()), valid, int(decided.sum()) - valid)
        entropy, kld = entropy_score(counts, missing, unusable), kld_score(counts, missing, variant, unusable)
        right = factuality(int((answered & (answers == truths)).sum()), int((grouped & decided).sum()), 0)[0]
        gap = float(distance(right, entropy_score(counts, missing)[0], len(groups)))

        def shown(bounds: tuple[float, float, float], reason: str, rows: Any) -> dict[str, Any]:
            return outcome(
                "value",
                bounds,
                valid=int((answered & rows).sum()),
                expected=int(rows.sum()),
                reason=reason,
                evidence={},
            )

        every = np.ones(len(answers), bool)
        empty = "a statistic has no answer for its highest or its lowest group"
        return {
            "s_fact": shown(fact, "no answer with a known truth", decided),
            "s_e": shown(entropy, empty, every),
            "s_kld": shown(kld, empty, every),
            "s_fair": shown(fairness_score(entropy, kld), empty, every),
            "distance": shown((gap, np.nan, np.nan), "S_fact or S_E is undefined", every),
            "by_statistic": {
                name: {
                    level: {
                        **dict(zip((*groups, NONE), table[i, j].tolist(), strict=True)),
                        "missing": int(missing[i, j]),
                    }
                    for j, level in enumerate(LEVELS)
                }
                for i, name in enumerate(names)
            },
        }


def _check_truths(cells: Any, truths: Any, topics: list[tuple[str, str]], groups: tuple[str, ...]) -> None:
    """METRIC_TRUTHS unless all rows of a statistic and level have the same true group, where they have one.

    `cells` are the rows' (n,) places in `topics`, statistic and level; `truths` those in `groups`, -1 where unknown.
    """
    first: dict[int, int] = {}
    for row, (cell, truth) in enumerate(zip(cells.tolist(), truths.tolist(), strict=True)):
        if truth < 0:
            continue
        earlier = first.setdefault(cell, row)
        if truths[earlier] != truth:
            (statistic, level), here = topics[cell], f"references[{row}] is {groups[truth]!r}"
            raise MetricInputError(
                "METRIC_TRUTHS",
                f"references[{earlier}] is {groups[truths[earlier]]!r} and {here}, both the {level} group of "
                f"{statistic!r}; a statistic has one group of each level",
            )
