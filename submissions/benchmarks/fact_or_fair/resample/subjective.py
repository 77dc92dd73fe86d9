"""The resampling design of the subjective queries of FACT-OR-FAIR.

A cluster is a query, for both attributes are read from its one answer. Statistic, level, scenario and context are the
protocol's, so each has its own 100 queries: a stratum. All contexts are one design, because the mean increase of the
cognitive errors is over three of them.
"""

from __future__ import annotations

import numpy as np

from fairspace.builders.fact_or_fair.plan import CONTEXTS, OPTIONS, draws
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS
from fairspace.metrics.cognitive_error_rate.formula import BASELINES, KINDS, matching_share, mean_increase
from fairspace.submissions.benchmarks.fact_or_fair.measure.subjective import error_counts, letter_share
from fairspace.submissions.benchmarks.fact_or_fair.records import LLM_CONTEXTS, Answers
from fairspace.submissions.benchmarks.fact_or_fair.resample.tables import both_attributes, design_of, names_of
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Tally, Times

FAIR_MODELS = 400
"""Of all 45 600 answers each; more would not move their mean or bound by what can be seen."""
_CHUNK = 50
_TOPICS = (len(CONTEXTS), len(STATISTICS), len(LEVELS))
_SIDES = {"option": OPTIONS, **{a: len(GROUPS[a]) for a in ATTRIBUTES}, **{f"same_{a}": 2 for a in ATTRIBUTES}}
"""What one answer says: its option, its groups, and whether these are the ones that the context points to."""
_SIZE = int(np.prod(_TOPICS)) * int(np.prod([*_SIDES.values()]))


def subjective_design(answers: Answers) -> Design:
    """The design of all values of `llm_subjective`."""
    plan = draws()
    codes = _codes()
    valid = answers.valid()
    chosen = np.full(len(plan.cell), -1, np.int64)
    chosen[valid.row] = codes[valid.row, valid.option]
    tally = Tally(chosen, _SIZE)

    def statistic(times: Times) -> Floats:
        return _values(tally(times))

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """Every answer picks any of the four profiles, all alike."""
        offered, first = codes[valid.row].ravel(), np.arange(len(valid.row)) * OPTIONS
        values = []
        for start in range(0, min(models, FAIR_MODELS), _CHUNK):
            tables = np.empty((min(_CHUNK, models - start), _SIZE))
            for table in tables:
                table[:] = np.bincount(offered[first + rng.integers(0, OPTIONS, len(first), np.uint8)], minlength=_SIZE)
            values.append(_values(tables))
        return np.concatenate(values)

    names = [name for context in LLM_CONTEXTS[1:] for name in names_of(context)]
    names += [f"position_{context}" for context in LLM_CONTEXTS[1:]]
    names += [f"cognitive_error_{kind}_{a}" for a in ATTRIBUTES for kind in (*KINDS, "increase")]
    of_stratum = plan.cell[:, :4].astype(np.int64)
    strata = np.ravel_multi_index(tuple(of_stratum.T), tuple(of_stratum.max(axis=0) + 1))
    unit = "query (its one answer tells both attributes)"
    return design_of("llm_subjective", unit, np.asarray(strata, np.int64), names, statistic, fair)


def _codes() -> Integers:
    """(45600, 4) the code of each query if that option is chosen: its topic, and one place on each of `_SIDES`."""
    plan = draws()
    topic = [plan.cell[:, place, None].astype(np.int64) for place in (3, 0, 1)]
    option = np.arange(OPTIONS)[None]
    group = [plan.profiles(a).astype(np.int64) for a in ATTRIBUTES]
    same = [plan.profiles(a) == plan.context[a][:, None] for a in ATTRIBUTES]
    parts = np.broadcast_arrays(*topic, option, *group, *same)
    return np.ravel_multi_index([part.astype(np.int64) for part in parts], (*_TOPICS, *_SIDES.values()))


def _marginals() -> tuple[Floats, dict[str, slice]]:
    """A matrix that sums the joint places of an answer to those on each side, and where each side stands."""
    places = np.indices(tuple(_SIDES.values())).reshape(len(_SIDES), -1)
    columns, where, start = [], {}, 0
    for place, (name, size) in zip(places, _SIDES.items(), strict=True):
        columns.append(place[:, None] == np.arange(size))
        where[name] = slice(start, start + size)
        start += size
    return np.concatenate(columns, axis=1).astype(float), where


_MATRIX, _WHERE = _marginals()


def _values(joint: Floats) -> Floats:
    """(b, codes) counts -> (b, m) values of the four contexts, positions, cognitive errors."""
    counts = (joint.reshape(len(joint), -1, len(_MATRIX)) @ _MATRIX).reshape(len(joint), *_TOPICS, -1)
    columns = []
    for number, context in enumerate(LLM_CONTEXTS[1:]):
        columns.append(both_attributes({a: counts[:, number, :, :, _WHERE[a]] for a in ATTRIBUTES}, context))
    columns.append(letter_share(counts[..., _WHERE["option"]].sum(axis=(2, 3))))
    for a in ATTRIBUTES:
        rates = matching_share(*error_counts(counts[..., _WHERE[f"same_{a}"]], a))
        baselines = np.array([BASELINES[a][kind] for kind in KINDS])
        columns += [rates.T, mean_increase(rates - baselines[:, None])[:, None]]
    return np.concatenate(columns, axis=1)
