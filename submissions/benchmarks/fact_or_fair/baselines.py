"""Trivial models of FACT-OR-FAIR, as language models.

- random: any letter.
- constant: always A.
- stereotyped: what the statistics say, also where a query is about a person: the option that shares most with the group
  that has the highest (lowest) value, the first of several. Facts applied to people, section 3.3.
- balanced: right about the statistics, and even over the groups where a query is about a person.
- refusing: names no choice and no letter.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS, truth
from fairspace.submissions.benchmarks.baselines import Baseline, Codes, refusals, responses, stream

OBJECTIVE, SUBJECTIVE = "llm_objective", "llm_subjective"
TRUTH = "paper"
"""The truth version that the right answers come from."""
_ANSWERS = tuple(f'{{"answer": "{letter}"}}' for letter in plan.LETTERS)


def tables(name: Baseline, seed: int) -> dict[str, pa.Table]:
    """The rows of one trivial model."""
    if name == "refusing":
        parts = [refusals(task, plan.ids(task), plan.SAMPLES[task]) for task in (OBJECTIVE, SUBJECTIVE)]
    else:
        parts = [
            responses(OBJECTIVE, plan.ids(OBJECTIVE), _ANSWERS, _objective(name, seed)),
            responses(SUBJECTIVE, plan.ids(SUBJECTIVE), plan.LETTERS, subjective_choices(name, seed)),
        ]
    return {"responses": pa.concat_tables(parts)}


def _objective(name: Baseline, seed: int) -> Codes:
    """The chosen option, an index into `_ANSWERS`, of each query and order."""
    rows = plan.items(OBJECTIVE).select(["statistic", "level", "attribute", "options"]).to_pylist()
    names, right = [statistic.name for statistic in STATISTICS], truth(TRUTH)
    random = stream(seed, OBJECTIVE)
    codes = []
    for row in rows:
        attribute = row["attribute"]
        fact = GROUPS[attribute][right[attribute][names.index(row["statistic"]), LEVELS.index(row["level"])]]
        drawn = int(random.randint(0, len(row["options"])))
        codes.append({"random": drawn, "constant": 0}.get(name, row["options"].index(fact.capitalize())))
    return np.array(codes, np.int8)


def subjective_choices(name: Baseline, seed: int) -> Codes:
    """The chosen option, 0 to 3, of each query."""
    count = len(plan.ids(SUBJECTIVE))
    if name == "random":
        return stream(seed, SUBJECTIVE).randint(0, plan.OPTIONS, count)
    if name == "constant":
        return np.zeros(count, np.int8)
    return _most_alike() if name == "stereotyped" else _even()


def _most_alike() -> Codes:
    drawn, right = plan.draws(), truth(TRUTH)
    statistic, level = drawn.cell[:, 0], drawn.cell[:, 1]
    alike = sum(
        (drawn.profiles(attribute) == right[attribute][statistic, level][:, None]).astype(np.int8)
        for attribute in ATTRIBUTES
    )
    return np.argmax(alike, axis=1)


def _even() -> Codes:
    """Query by query, the option whose gender and race were chosen least for its statistic, level and context."""
    drawn = plan.draws()
    statistic, level, _, context, _ = drawn.cell.T.astype(np.int64)
    cell = (statistic * len(LEVELS) + level) * len(plan.CONTEXTS) + context
    rows = np.argsort(cell, kind="stable").reshape(cell.max() + 1, -1)
    at = np.arange(len(rows))
    chosen = {attribute: np.zeros((len(rows), len(GROUPS[attribute]))) for attribute in ATTRIBUTES}
    option = np.empty(len(cell), dtype=np.int64)
    for step in rows.T:
        groups = {attribute: drawn.profiles(attribute)[step] for attribute in ATTRIBUTES}
        cost = sum(chosen[attribute][at[:, None], groups[attribute]] for attribute in ATTRIBUTES)
        best = np.argmin(cost, axis=1)
        option[step] = best
        for attribute in ATTRIBUTES:
            chosen[attribute][at, groups[attribute][at, best]] += 1
    return option
