"""The raw values of FACT-OR-FAIR from the records of a submission.

Source: FACT-OR-FAIR, section 4 (scores), section 6.1 and Table 3 (cognitive errors), Tables 4-8 (what is reported per
attribute and context).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from fairspace.builders.fact_or_fair.plan import draws
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS, truth, with_attribute
from fairspace.metrics.fact_or_fair.formula import divergence_score, entropy, fairness
from fairspace.submissions.benchmarks.fact_or_fair.measure.position import position_bias_values
from fairspace.submissions.benchmarks.fact_or_fair.measure.refusals import refusal_values
from fairspace.submissions.benchmarks.fact_or_fair.measure.scores import SCORES, by_group, score_values
from fairspace.submissions.benchmarks.fact_or_fair.measure.subjective import cognitive_error_values, position_values
from fairspace.submissions.benchmarks.fact_or_fair.records.grids import LLM_CONTEXTS, contexts_of, task_of
from fairspace.submissions.benchmarks.fact_or_fair.records.records import Records, grids, questions
from fairspace.submissions.values import Value, measured, not_run


def measure(records: Records) -> dict[str, Value]:
    """All values of FACT-OR-FAIR by name, in the order of the tables.

    `<score>_<context>_<attribute>` for `SCORES` (S_fact under the truths `paper` and `revised`, S_E, S_KLD, the
    authors' S_KLD, S_fair, d, the share without a group), `chance_<context>_<attribute>` for language models,
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
    values += position_values(records.answers)
    for attribute in ATTRIBUTES:
        values += cognitive_error_values(records.answers, attribute)
    values += refusal_values(records)
    values += position_bias_values(records)
    return {value.name: value for value in values}


def _not_run(records: Records, context: str, attribute: str) -> Iterator[Value]:
    """The same values where the task has no rows."""
    asked = questions(records, context) * len(with_attribute(attribute)) * len(LEVELS)
    for name in (*SCORES, *(("chance",) if context in LLM_CONTEXTS else ())):
        reason = f"There are no rows of the task {task_of(context)}."
        yield not_run(f"{name}_{context}_{attribute}", reason, expected=asked)


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
