"""The raw values of FACT-OR-FAIR from the records of a submission.

Source: FACT-OR-FAIR, section 4 (scores), section 6.1 and Table 3 (cognitive errors), Tables 4-8 (what is reported per
attribute and context).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from fairspace.builders.fact_or_fair.plan import draws
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS, truth, with_attribute
from fairspace.metrics.fact_or_fair.formula import divergence_score, entropy, fairness
from fairspace.submissions.benchmarks.fact_or_fair.measure.position import position_bias_values
from fairspace.submissions.benchmarks.fact_or_fair.measure.refusals import refusal_values
from fairspace.submissions.benchmarks.fact_or_fair.measure.scores import (
    by_group,
    column_names,
    score_values,
    share_names,
    share_values,
)
from fairspace.submissions.benchmarks.fact_or_fair.measure.subjective import cognitive_error_values, position_values
from fairspace.submissions.benchmarks.fact_or_fair.records.grids import (
    LLM_CONTEXTS,
    OVER_ALL,
    Grid,
    contexts_of,
    task_of,
)
from fairspace.submissions.benchmarks.fact_or_fair.records.records import Records, grids, questions
from fairspace.submissions.values import Value, measured, not_run, undefined

Values = Mapping[str, Value]


def measure(records: Records) -> dict[str, Value]:
    """All values of FACT-OR-FAIR by name, in the order of the tables.

    `<score>_<context>_<attribute>` for `SCORES` (S_fact under the truths `paper` and `revised`, S_E, S_KLD, the
    authors' S_KLD, S_fair, d, the share without a group), `share_<context>_<group>`, S_E and shares of the subjective
    contexts together (`OVER_ALL`), `chance_<context>_<attribute>` for language models,
    `position_<context>`, `cognitive_error_<kind>_<attribute>` and `cognitive_error_increase_<attribute>`,
    `refusal_rate_<context>_<attribute>` and `refusal_disparity_<context>_<attribute>`, and where options stand in
    drawn orders `position_bias_llm_objective_<attribute>`.
    """
    values: list[Value] = []
    for context in contexts_of(records.revision):
        by_attribute = grids(records, context)
        for attribute in ATTRIBUTES:
            if attribute not in by_attribute:
                values += _not_run(records, context, attribute)
                continue
            values += score_values(context, attribute, by_attribute[attribute])
            if context in LLM_CONTEXTS:
                values.append(_chance(records.revision, context, attribute))
    values += over_all_values(records, {value.name: value for value in values})
    values += position_values(records.answers)
    for attribute in ATTRIBUTES:
        values += cognitive_error_values(records.answers, attribute)
    values += refusal_values(records)
    values += position_bias_values(records)
    return {value.name: value for value in values}


def _not_run(records: Records, context: str, attribute: str) -> Iterator[Value]:
    """The same values where the task has no rows."""
    asked = questions(records, context) * len(with_attribute(attribute)) * len(LEVELS)
    chance = [f"chance_{context}_{attribute}"] if context in LLM_CONTEXTS else []
    for name in (*column_names(context, attribute), *chance):
        yield not_run(name, f"There are no rows of the task {task_of(context)}.", expected=asked)


def over_all_values(records: Records, values: Values) -> Iterator[Value]:
    """Of the four subjective contexts together: the mean S_E, and the share of each group in all judgements."""
    by_context = [grids(records, context) for context in LLM_CONTEXTS[1:]]
    for attribute in ATTRIBUTES:
        name = f"entropy_{OVER_ALL}_{attribute}"
        parts = [values[f"entropy_{context}_{attribute}"] for context in LLM_CONTEXTS[1:]]
        expected, valid = sum(part.expected for part in parts), sum(part.valid for part in parts)
        if not records.answers.ran:
            for each in (name, *share_names(OVER_ALL, attribute)):
                yield not_run(each, parts[0].reason, expected=expected)
            continue
        if lacking := [part for part in parts if part.value is None]:
            yield undefined(name, f"{lacking[0].name}: {lacking[0].reason}", expected=expected, valid=valid)
        else:
            triple = [np.mean([getattr(part, end) for part in parts]).item() for end in ("value", "low", "high")]
            smallest = min(part.smallest or 0 for part in parts)
            value, low, high = triple
            yield measured(name, value, low=low, high=high, expected=expected, valid=valid, smallest=smallest)
        yield from share_values(OVER_ALL, attribute, _together([grids_of[attribute] for grids_of in by_context]))


def _together(of_contexts: Sequence[Grid]) -> Grid:
    """One grid of all answers of several contexts."""
    named = [grid.counts.sum() for grid in of_contexts]
    evens = [(grid.even, count) for grid, count in zip(of_contexts, named, strict=True) if grid.even]
    sums = {name: sum(getattr(grid, name) for grid in of_contexts) for name in _COUNTED}
    even = tuple(np.average([e for e, _ in evens], axis=0, weights=[n for _, n in evens]).tolist()) if evens else ()
    return Grid(**sums, added=of_contexts[0].added, even=even)


_COUNTED = ("counts", "missing", "absent", "unusable", "refused", "asked")
"""The fields of a grid that add up over contexts."""


@lru_cache
def _chance(revision: str, context: str, attribute: str) -> Value:
    """S_fact of a model that picks each option equally often; evidence: its S_fair, and what was offered.

    Profiles are drawn, so the true group may be missing or doubled among the options; over a context this hardly moves
    the chance level, and here it is exact.
    """
    cells = truth("paper")[attribute][with_attribute(attribute)].astype(np.intp)
    k = len(GROUPS[attribute])
    offered, plan = np.full((*cells.shape, k), 1.0), draws(revision)
    if context != "llm_objective":
        here = plan.cell[:, 3] == LLM_CONTEXTS.index(context) - 1
        per_query = plan.offered(attribute)[here].reshape(len(STATISTICS), len(LEVELS), -1, k)
        offered = per_query.sum(axis=2)[with_attribute(attribute)].astype(float)
    fair = float(fairness(entropy(offered), divergence_score(offered)))
    fact = np.take_along_axis(offered, cells[..., None], axis=-1).sum() / offered.sum()
    evidence = {"fairness": fair, "offered": by_group(offered, attribute)}
    return measured(f"chance_{context}_{attribute}", fact, low=fact, high=fact, evidence=evidence)
