"""How the subjective queries of FACT-OR-FAIR are drawn anew.

A cluster is a query, for both attributes are read from its one answer. Statistic, level, scenario and context are the
protocol's, so each has its own 100 queries: a stratum. All contexts are one design, because the mean increase of the
cognitive errors is over three of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.fact_or_fair.plan import CONTEXTS, OPTIONS, draws
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS, with_attribute
from fairspace.metrics.cognitive_error_rate.formula import BASELINES, KINDS
from fairspace.submissions.benchmarks.fact_or_fair.records import LLM_CONTEXTS, Answers
from fairspace.submissions.benchmarks.fact_or_fair.resample.tables import both_attributes, design_of, names_of
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Tally, Times

FAIR_MODELS = 400
"""Of all 45 600 answers each; more would not move their mean or bound by what can be seen."""
_CHUNK = 50
_TOPICS = (len(CONTEXTS), len(STATISTICS), len(LEVELS))
_SIDES = {"option": OPTIONS, **{a: len(GROUPS[a]) for a in ATTRIBUTES}, **{f"same_{a}": 2 for a in ATTRIBUTES}}
"""What is said of one answer: option, groups, and whether these are the ones that the context points to."""
_SIZE = int(np.prod(_TOPICS)) * int(np.prod([*_SIDES.values()]))
_GOOD = np.array([statistic.good for statistic in STATISTICS])[:, None] == (np.arange(len(LEVELS)) == 0)
"""(19, 2) whether the query is about something good."""


def subjective_design(answers: Answers) -> Design:
    """The design of all values of `llm_subjective`."""
    plan = draws()
    codes = _codes()
    said = answers.valid()
    chosen = np.full(len(plan.cell), -1, np.int64)
    chosen[said.row] = codes[said.row, said.option]
    tally = Tally(chosen, _SIZE)

    def statistic(times: Times) -> Floats:
        return _values(tally(times))

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """Every answer picks any of the four profiles, all alike."""
        offered, first = codes[said.row].ravel(), np.arange(len(said.row)) * OPTIONS
        found = []
        for start in range(0, min(models, FAIR_MODELS), _CHUNK):
            tables = np.empty((min(_CHUNK, models - start), _SIZE))
            for table in tables:
                table[:] = np.bincount(offered[first + rng.integers(0, OPTIONS, len(first), np.uint8)], minlength=_SIZE)
            found.append(_values(tables))
        return np.concatenate(found)

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
    found, where, start = [], {}, 0
    for place, (name, size) in zip(places, _SIDES.items(), strict=True):
        found.append(place[:, None] == np.arange(size))
        where[name] = slice(start, start + size)
        start += size
    return np.concatenate(found, axis=1).astype(float), where


_MATRIX, _WHERE = _marginals()


def _values(joint: Floats) -> Floats:
    """(b, codes) counts -> (b, m) values of the four contexts, positions, cognitive errors."""
    counts = (joint.reshape(len(joint), -1, len(_MATRIX)) @ _MATRIX).reshape(len(joint), *_TOPICS, -1)
    found = []
    for number, context in enumerate(LLM_CONTEXTS[1:]):
        found.append(both_attributes({a: counts[:, number, :, :, _WHERE[a]] for a in ATTRIBUTES}, context))
    letters = counts[..., _WHERE["option"]].sum(axis=(2, 3))
    found.append(_quotient(letters.max(axis=-1), letters.sum(axis=-1)))
    for a in ATTRIBUTES:
        rates = _rates(counts[..., _WHERE[f"same_{a}"]], a)
        baselines = np.array([BASELINES[a][kind] for kind in KINDS])
        found += [rates, (rates - baselines).mean(axis=1, keepdims=True)]
    return np.concatenate(found, axis=1)


def _rates(same: Floats, attribute: str) -> Floats:
    """(b, contexts, 19, 2, 2) answers in another or in the context's group -> (b, 5) shares by kind."""
    mine = np.zeros((len(STATISTICS), 1), bool)
    mine[with_attribute(attribute)] = True
    high = mine & (np.arange(len(LEVELS)) == 0)
    cells: dict[str, tuple[str, NDArray[np.bool_], int]] = {
        "representativeness_high": ("representativeness", high, 1),
        "representativeness_low": ("representativeness", mine & ~high, 1),
        "attribution": ("attribution", mine & np.ones_like(high), 1),
        "ingroup": ("ingroup", mine & _GOOD, 1),
        "outgroup": ("ingroup", mine & ~_GOOD, 0),
    }
    rates = []
    for kind in KINDS:
        context, where, matching = cells[kind]
        counted = same[:, CONTEXTS.index(context), where].sum(axis=1)
        rates.append(_quotient(counted[:, matching], counted.sum(axis=-1)))
    return np.stack(rates, axis=1)


def _quotient(part: Floats, whole: Floats) -> Floats:
    """Nan where whole is 0."""
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))
