"""Trivial language models of FACT-OR-FAIR.

- random: any letter.
- constant: always A; the first choice of an objective query of `v1`.
- stereotyped: the statistics, also where a query is about a person: the first option that shares most with the group of
  the highest (lowest) value. Facts applied to people, section 3.3.
- balanced: right about the statistics, and even over the groups where a query is about a person.
- refusing: no choice and no letter.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.plan import CHOICES
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS, truth
from fairspace.submissions.benchmarks.baselines import Baseline, Codes, refusals, responses, stream

OBJECTIVE, SUBJECTIVE = "llm_objective", "llm_subjective"
TRUTH = "paper"
"""Truth version of the right answers."""


def tables(name: Baseline, seed: int, revision: str = plan.REVISIONS[0]) -> dict[str, pa.Table]:
    """Rows of one trivial model."""
    samples = plan.SAMPLES_V1[OBJECTIVE] if revision == "v1" else plan.SAMPLES[OBJECTIVE]
    objective, subjective = plan.ids(OBJECTIVE, revision), plan.ids(SUBJECTIVE, revision)
    if name == "refusing":
        parts = [refusals(OBJECTIVE, objective, samples), refusals(SUBJECTIVE, subjective)]
    else:
        answers = _objective_v1(name, seed, samples) if revision == "v1" else _objective(name, seed, revision)
        parts = [
            responses(OBJECTIVE, objective, *answers, samples),
            responses(SUBJECTIVE, subjective, plan.LETTERS, subjective_choices(name, seed, revision)),
        ]
    return {"responses": pa.concat_tables(parts)}


def _objective(name: Baseline, seed: int, revision: str) -> tuple[Sequence[str], Codes]:
    """All answers, and the index of each query's and order's answer."""
    rows = plan.items(OBJECTIVE, revision).select(["statistic", "level", "attribute", "options"]).to_pylist()
    random = stream(seed, OBJECTIVE)
    codes = []
    for row in rows:
        drawn = int(random.randint(0, len(row["options"])))
        codes.append({"random": drawn, "constant": 0}.get(name, row["options"].index(_fact(row).capitalize())))
    return tuple(f'{{"answer": "{letter}"}}' for letter in plan.LETTERS), np.array(codes, np.int8)


def _objective_v1(name: Baseline, seed: int, samples: int) -> tuple[Sequence[str], Codes]:
    """`_objective` for `v1`, whose options are words in one order."""
    words = tuple(choice for attribute in ATTRIBUTES for choice in CHOICES[attribute])
    random = stream(seed, OBJECTIVE)
    codes = []
    for row in plan.items(OBJECTIVE, "v1").select(["statistic", "level", "attribute"]).to_pylist():
        choices = CHOICES[row["attribute"]]
        drawn = random.randint(0, len(choices), samples)
        fact = [choice.lower() for choice in choices].index(_fact(row).lower())
        code = {"random": drawn, "constant": np.zeros_like(drawn)}.get(name, np.full_like(drawn, fact))
        codes.append(code + words.index(choices[0]))
    return words, np.concatenate(codes)


def _fact(row: Mapping[str, str]) -> str:
    attribute, names = row["attribute"], [statistic.name for statistic in STATISTICS]
    right = truth(TRUTH)[attribute][names.index(row["statistic"]), LEVELS.index(row["level"])]
    return GROUPS[attribute][right]


def subjective_choices(name: Baseline, seed: int, revision: str = plan.REVISIONS[0]) -> Codes:
    """Chosen option of each query, 0 to 3."""
    count = len(plan.ids(SUBJECTIVE, revision))
    if name == "random":
        return stream(seed, SUBJECTIVE).randint(0, plan.OPTIONS, count)
    if name == "constant":
        return np.zeros(count, np.int8)
    return _most_alike(plan.draws(revision)) if name == "stereotyped" else _even(plan.draws(revision))


def _most_alike(drawn: plan.SubjectiveDraws) -> Codes:
    right = truth(TRUTH)
    statistic, level = drawn.cell[:, 0], drawn.cell[:, 1]
    alike = sum(
        (drawn.profiles(attribute) == right[attribute][statistic, level][:, None]).astype(np.int8)
        for attribute in ATTRIBUTES
    )
    return np.argmax(alike, axis=1)


def _even(drawn: plan.SubjectiveDraws) -> Codes:
    """Query by query, the option with the gender and race chosen least so far for its statistic, level and context."""
    statistic, level, _, context, _ = drawn.cell.T.astype(np.int64)
    cell = (statistic * len(LEVELS) + level) * len(plan.CONTEXTS) + context
    rows = np.argsort(cell, kind="stable").reshape(cell.max() + 1, -1)
    at = np.arange(len(rows))
    counts = {attribute: np.zeros((len(rows), len(GROUPS[attribute]))) for attribute in ATTRIBUTES}
    option = np.empty(len(cell), dtype=np.int64)
    for step in rows.T:
        groups = {attribute: drawn.profiles(attribute)[step] for attribute in ATTRIBUTES}
        cost = sum(counts[attribute][at[:, None], groups[attribute]] for attribute in ATTRIBUTES)
        best = np.argmin(cost, axis=1)
        option[step] = best
        for attribute in ATTRIBUTES:
            counts[attribute][at, groups[attribute][at, best]] += 1
    return option
