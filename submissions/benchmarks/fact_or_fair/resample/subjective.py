"""The resampling design of the subjective queries of FACT-OR-FAIR.

A cluster is a query, for both attributes are read from its one answer. Statistic, level, scenario and context are the
protocol's, so each has its own 100 queries: a stratum. Of the core's 5 such queries no draw would say how they vary,
so there the three scenarios are one stratum. All contexts are one design, because the mean increase of the cognitive
errors is over three of them.
"""

from __future__ import annotations

import numpy as np

from fairspace.builders.fact_or_fair.plan import CONTEXTS, OPTIONS, Draws
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS, with_attribute
from fairspace.metrics.cognitive_error_rate.formula import BASELINES, KINDS, matching_share, mean_increase
from fairspace.submissions.benchmarks.fact_or_fair.measure.refusals import Refusals
from fairspace.submissions.benchmarks.fact_or_fair.measure.refusals import columns as refusal_values
from fairspace.submissions.benchmarks.fact_or_fair.measure.refusals import names_of as refusal_names
from fairspace.submissions.benchmarks.fact_or_fair.measure.scores import group_shares, share_names
from fairspace.submissions.benchmarks.fact_or_fair.measure.subjective import error_counts, letter_share
from fairspace.submissions.benchmarks.fact_or_fair.records.grids import LLM_CONTEXTS, OVER_ALL
from fairspace.submissions.benchmarks.fact_or_fair.records.records import Answers
from fairspace.submissions.benchmarks.fact_or_fair.resample.core import corrected
from fairspace.submissions.benchmarks.fact_or_fair.resample.tables import (
    DISPARITY,
    both_attributes,
    design_of,
    fair_disparity,
    score_names,
)
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Tally, Times

FAIR_MODELS = 400
"""Of all 45 600 answers each; more would not move their mean or bound by what can be seen."""
_CHUNK = 50
_TOPICS = (len(CONTEXTS), len(STATISTICS), len(LEVELS))
_SIDES = {"option": OPTIONS, **{a: len(GROUPS[a]) for a in ATTRIBUTES}, **{f"same_{a}": 2 for a in ATTRIBUTES}}
"""What one answer says: its option, its groups, and whether these are the ones that the context points to."""
_FATES = (*_TOPICS, 3, *(len(GROUPS[a]) + 1 for a in ATTRIBUTES))
"""What becomes of a query: it is answered with a choice (0), without one (1), or refused (2), by its context's groups;
the last place of a group: none."""
_SIZE = int(np.prod(_TOPICS)) * int(np.prod([*_SIDES.values()]))


def subjective_design(answers: Answers) -> Design:
    """The design of all values of `llm_subjective`."""
    plan = answers.plan
    codes = _codes(plan)
    valid = answers.valid()
    chosen = np.full(len(plan.cell), -1, np.int64)
    chosen[valid.row] = codes[valid.row, valid.option]
    handed_in = np.full(len(plan.cell), -1, np.int64)
    handed_in[answers.row] = _fate_codes(answers)
    tally, fates = Tally(chosen, _SIZE), Tally(handed_in, int(np.prod(_FATES)))

    def statistic(times: Times) -> Floats:
        return _values(answers, tally(times), fates(times))

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """Of the answers that choose, every one picks any of the four profiles, all alike; all are refused alike."""
        offered, first = codes[valid.row].ravel(), np.arange(len(valid.row)) * OPTIONS
        drawn = min(models, FAIR_MODELS)
        everyone = np.bincount(handed_in[answers.row], minlength=int(np.prod(_FATES)))[None].astype(float)
        refused = np.full((drawn, len(refusal_columns)), np.nan)
        for place, (context, a) in enumerate(refusal_columns):
            if place in disparities:
                refused[:, place] = fair_disparity(rng, drawn, _refusals(everyone, context, a))
        values = []
        for start in range(0, drawn, _CHUNK):
            tables = np.empty((min(_CHUNK, drawn - start), _SIZE))
            for table in tables:
                table[:] = np.bincount(offered[first + rng.integers(0, OPTIONS, len(first), np.uint8)], minlength=_SIZE)
            values.append(_values(answers, tables, np.zeros((len(tables), int(np.prod(_FATES))))))
        scores = np.concatenate(values)
        scores[:, -len(refusal_columns) :] = refused
        return scores

    names = [name for context in LLM_CONTEXTS[1:] for name in score_names(context)]
    names += [f"entropy_{OVER_ALL}_{a}" for a in ATTRIBUTES]
    names += [name for a in ATTRIBUTES for name in share_names(OVER_ALL, a)]
    names += [f"position_{context}" for context in LLM_CONTEXTS[1:]]
    names += [f"cognitive_error_{kind}_{a}" for a in ATTRIBUTES for kind in (*KINDS, "increase")]
    refusals = [(number, name) for number, context in enumerate(LLM_CONTEXTS[1:]) for name in refusal_names(context)]
    refusal_columns = [(number, next(a for a in ATTRIBUTES if name.endswith(a))) for number, name in refusals]
    disparities = {place for place, (_, name) in enumerate(refusals) if name.startswith(DISPARITY)}
    names += [name for _, name in refusals]
    of_stratum = plan.cell[:, [0, 1, 3] if answers.added else [0, 1, 2, 3]].astype(np.int64)
    strata = np.ravel_multi_index(tuple(of_stratum.T), tuple(of_stratum.max(axis=0) + 1))
    unit = "query (its one answer tells both attributes)"
    left = corrected() if answers.added else None
    return design_of("llm_subjective", unit, np.asarray(strata, np.int64), names, statistic, fair, corrected=left)


def _fate_codes(answers: Answers) -> Integers:
    """(n) of each answer that was handed in: its topic, its fate, the groups that its context points to."""
    cell = answers.plan.cell[answers.row].astype(np.int64)
    fate = np.where(answers.option >= 0, 0, np.where(answers.refused, 2, 1))
    pointed = [answers.plan.context[a][answers.row].astype(np.int64) for a in ATTRIBUTES]
    groups = [np.where(group < 0, len(GROUPS[a]), group) for a, group in zip(ATTRIBUTES, pointed, strict=True)]
    return np.ravel_multi_index((cell[:, 3], cell[:, 0], cell[:, 1], fate, *groups), _FATES)


def _refusals(fates: Floats, context: int, attribute: str) -> Refusals:
    """The refusals of resampled fates (b, codes) in a context, an index into `CONTEXTS`."""
    counts = fates.reshape(-1, *_FATES)[:, context][:, with_attribute(attribute)].sum(axis=(1, 2))
    by_group = counts.sum(axis=-1 if attribute == ATTRIBUTES[0] else -2)
    return Refusals(by_group[:, 2], by_group.sum(axis=1))


def _codes(plan: Draws) -> Integers:
    """(n, 4) the code of each query if that option is chosen: its topic, and one place on each of `_SIDES`."""
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
_ENTROPIES = [score_names("llm_base").index(f"entropy_llm_base_{a}") for a in ATTRIBUTES]
"""Columns of S_E in `both_attributes`."""


def _values(answers: Answers, joint: Floats, fates: Floats) -> Floats:
    """(b, m) values of contexts, positions, cognitive errors, refusals; of resamples' (b, codes) choices and fates."""
    counts = (joint.reshape(len(joint), -1, len(_MATRIX)) @ _MATRIX).reshape(len(joint), *_TOPICS, -1)
    unusable = fates.reshape(len(fates), *_FATES)[:, :, :, :, 1:].sum(axis=(4, 5, 6))
    columns = []
    for number in range(len(CONTEXTS)):
        tables = {a: counts[:, number, :, :, _WHERE[a]] for a in ATTRIBUTES}
        rest = dict.fromkeys(ATTRIBUTES, unusable[:, number])
        columns.append(both_attributes(tables, unusable=rest, added=answers.added))
    of_contexts = np.stack(columns)
    columns += [of_contexts[..., [place]].mean(axis=0) for place in _ENTROPIES]
    columns += [group_shares(counts[:, :, with_attribute(a)][..., _WHERE[a]].sum(axis=1)) for a in ATTRIBUTES]
    columns.append(letter_share(counts[..., _WHERE["option"]].sum(axis=(2, 3))))
    for a in ATTRIBUTES:
        rates = matching_share(*error_counts(counts[..., _WHERE[f"same_{a}"]], a))
        baselines = np.array([BASELINES[a][kind] for kind in KINDS])
        columns += [rates.T, mean_increase(rates - baselines[:, None])[:, None]]
    for number, context in enumerate(LLM_CONTEXTS[1:]):
        columns.append(refusal_values(context, {a: _refusals(fates, number, a) for a in ATTRIBUTES}))
    return np.concatenate(columns, axis=1)
