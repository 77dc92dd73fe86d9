"""The tables and quantities of FACT-OR-FAIR.

- Objective queries: a cluster is a statistic with all its answers, which depend on each other.
- Subjective queries: a cluster is a query, for both attributes. Statistic, level, scenario and context are fixed, so
  each has its stratum of 100 queries; the core's strata, of 5, are joined over scenarios. All contexts are one design.
- Images: a cluster is an image with all its faces; its prompt is the stratum.

A fair model picks uniformly among the four profiles of a query, or the groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from fairspace.builders.fact_or_fair.plan import CONTEXTS, OPTIONS, Draws
from fairspace.builders.fact_or_fair.statistics import (
    ATTRIBUTES,
    GROUPS,
    LEVELS,
    STATISTICS,
    TRUTH_VERSIONS,
    truth,
    with_attribute,
)
from fairspace.metrics.cognitive_error_rate.formula import BASELINES, KINDS, matching_share, mean_increase
from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.intervals import Method
from fairspace.metrics.resampling import Counts, Fair, Family, Quantity, Sample, Table, each, tally
from fairspace.submissions.benchmarks.fact_or_fair.attribute_scores import (
    AUTHORS,
    column_names,
    group_shares,
    scores,
    share_names,
)
from fairspace.submissions.benchmarks.fact_or_fair.measure import (
    POSITION_BIAS,
    Refusals,
    error_counts,
    letter_share,
    of_objective,
    position_bias,
    refusal_names,
    refusal_table,
)
from fairspace.submissions.benchmarks.fact_or_fair.records import (
    LLM_CONTEXTS,
    OVER_ALL,
    Answers,
    Faces,
    Grid,
    Records,
    prompt_cells,
)

LEFT: Mapping[str, tuple[float, float]] = {
    "entropy": (0.0323, 0.0406),
    "kld": (0.0422, 0.0980),
    "kld_authors": (0.0444, 0.1146),
    "fairness": (0.0097, 0.0149),
    "distance": (0.0292, 0.0395),
}
"""Score -> root mean square of the error that the correction leaves, by attribute (gender, race)."""


LEFT_OF_IMAGES: Mapping[str, tuple[float, float]] = {
    "entropy": (0.0789, 0.0851),
    "kld": (0.1148, 0.1284),
    "kld_authors": (0.2150, 0.1132),
    "fairness": (0.0767, 0.0916),
    "distance": (0.0469, 0.0591),
}
"""The same of the core of images."""


def corrected(
    left: Mapping[str, tuple[float, float]] = LEFT, contexts: Sequence[str] = LLM_CONTEXTS[1:]
) -> Mapping[str, float]:
    """Value of a subjective context, or of images -> error that its correction leaves."""
    return {
        f"{score}_{context}_{attribute}": errors[place]
        for score, errors in left.items()
        for context in (*contexts, *((OVER_ALL,) if score == "entropy" and contexts == LLM_CONTEXTS[1:] else ()))
        for place, attribute in enumerate(ATTRIBUTES)
    }


HIGHER = ("entropy", "kld", "fairness")
"""Prefixes of values that are better when higher and biased with few answers."""
DISPARITY = "refusal_disparity"
CELLS = len(STATISTICS) * len(LEVELS)
Tables = dict[str, Floats]
"""Attribute -> (b, 19, 2, k) answers by group, or (b, 19, 2) answers without one; unread where there are no figures."""
_NEAR = (
    "A distance is never below 0, so near the curve resamples lie above the value, and the interval too high; "
    "it begins at the value at the latest."
)


def score_names(context: str) -> list[str]:
    """Names of the columns of `both_attributes`."""
    return [name for attribute in ATTRIBUTES for name in column_names(context, attribute)]


def quantities(
    names: Sequence[str],
    notes: Mapping[str, str] | None = None,
    corrected: Mapping[str, float] | None = None,
    independent: Mapping[str, float] | None = None,
) -> list[Quantity]:
    """Values with the ranges and directions of FACT-OR-FAIR; those with a note or a correction are not debiased.

    `corrected`: name -> error that a correction leaves; `independent`: name of a share -> its independent answers.
    """
    notes, corrected, independent = notes or {}, corrected or {}, independent or {}
    made = []
    for name in names:
        higher, tested = name.startswith(HIGHER), name.startswith((DISPARITY, "position_bias"))
        biased = (higher or tested or name.startswith("position")) and name not in notes and name not in corrected
        share = any(word in name for word in ("share_", "invalid_", "refusal_rate")) or name in independent
        method: Method = "exact" if share else "normal" if biased or name in corrected else "bca"
        made.append(
            Quantity(
                name,
                method,
                _limits(name),
                biased=biased,
                higher=higher,
                tested=tested,
                answers=independent.get(name, math.inf),
                correction=corrected.get(name),
                note=notes.get(name, _NEAR if name.startswith("distance") else ""),
            )
        )
    return made


def only_fair(names: Sequence[str], fair: Fair) -> Fair:
    """Fair models without the values that have none: S_fact, d, the share of no group and the refusal rate."""
    has_fair = np.array([name.startswith((*HIGHER, DISPARITY, "position", "cognitive", "share")) for name in names])
    return lambda rng, models: np.where(has_fair, fair(rng, models), np.nan)


def _limits(name: str) -> tuple[float, float]:
    if name.startswith("cognitive_error_increase"):
        return -1.0, 1.0
    return (0.0, 2**0.5) if name.startswith("distance") else (0.0, 1.0)


def both_attributes(
    counts: Tables,
    weights: Floats | None = None,
    unusable: Tables | None = None,
    added: float = 0.0,
    handed_in: Floats | None = None,
    limited: bool = False,
    program: str = "authors",
) -> Floats:
    """(b, 22) values of `score_names` of a context.

    `weights`, (b, 19): weight of each statistic; `handed_in`, (b, 19, 2): images, not given for answers.
    """
    columns = []
    for attribute in ATTRIBUTES:
        mine = with_attribute(attribute)
        times = np.ones((1, len(mine))) if weights is None else weights[:, mine]
        rest = None if unusable is None else unusable[attribute][:, mine]
        given = None if handed_in is None else handed_in[:, mine]
        columns.append(scores(counts[attribute][:, mine], times, attribute, rest, added, given, limited, program))
    return np.concatenate(columns, axis=1)


def fair_disparity(rng: np.random.Generator, models: int, refusals: Refusals) -> Floats:
    """(models,) disparity of models that refuse all groups alike, as often as this one does on the whole."""
    handed_in = refusals.handed_in[..., :-1].reshape(-1).astype(np.int64)
    rate = float(refusals.rate().reshape(-1)[0])
    refused = rng.binomial(handed_in, 0.0 if np.isnan(rate) else rate, (models, len(handed_in)))
    padded = [np.pad(counts, ((0, 0), (0, 1))) for counts in (refused, np.broadcast_to(handed_in, refused.shape))]
    return Refusals(*(counts.astype(float) for counts in padded)).disparity()


FAIR_MODELS = 400
"""Fair models of all 45 600 answers each; more would hardly move their mean or bound."""
_CHUNK = 50
_TOPICS = (len(CONTEXTS), len(STATISTICS), len(LEVELS))
_SIDES = {"option": OPTIONS, **{a: len(GROUPS[a]) for a in ATTRIBUTES}, **{f"same_{a}": 2 for a in ATTRIBUTES}}
"""Parts of an answer: its option, its groups, and whether these are the ones that the context points to."""
_FATES = (*_TOPICS, 3, *(len(GROUPS[a]) + 1 for a in ATTRIBUTES))
"""Fate of a query: context, statistic, level; choice (0), none (1) or refusal (2); the context's groups, last: none."""
_SIZE = int(np.prod(_TOPICS)) * int(np.prod([*_SIDES.values()]))


def subjective_design(answers: Answers, limited: bool = False) -> Sample:
    """All values of `llm_subjective`."""
    plan = answers.plan
    codes = _codes(plan)
    valid = answers.valid()
    chosen = np.full(len(plan.cell), -1, np.int64)
    chosen[valid.row] = codes[valid.row, valid.option]
    handed_in = np.full(len(plan.cell), -1, np.int64)
    handed_in[answers.row] = _fate_codes(answers)
    blocks = {"choices": tally(chosen, _SIZE), "fates": tally(handed_in, int(np.prod(_FATES)))}

    def values_of(counts: Counts) -> Floats:
        return _values(answers, counts["choices"], counts["fates"], limited)

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """Each choice is any of the four profiles, all alike; all groups are refused alike."""
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
            values.append(_values(answers, tables, np.zeros((len(tables), int(np.prod(_FATES)))), limited))
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
    table = Table("fact_or_fair/llm_subjective", unit, np.asarray(strata, np.int64), blocks)
    of = quantities(names, corrected=corrected() if answers.added else None)
    return table, [Family(of, values_of, only_fair(names, fair))]


def _fate_codes(answers: Answers) -> Integers:
    """(n) topic, fate and the context's groups of each answer that was handed in, as one code."""
    cell = answers.plan.cell[answers.row].astype(np.int64)
    fate = np.where(answers.option >= 0, 0, np.where(answers.refused, 2, 1))
    pointed = [answers.plan.context[a][answers.row].astype(np.int64) for a in ATTRIBUTES]
    groups = [np.where(group < 0, len(GROUPS[a]), group) for a, group in zip(ATTRIBUTES, pointed, strict=True)]
    return np.ravel_multi_index((cell[:, 3], cell[:, 0], cell[:, 1], fate, *groups), _FATES)


def _refusals(fates: Floats, context: int, attribute: str) -> Refusals:
    """Refusals of resampled fates (b, codes) in a context, an index into `CONTEXTS`."""
    counts = fates.reshape(-1, *_FATES)[:, context][:, with_attribute(attribute)].sum(axis=(1, 2))
    by_group = counts.sum(axis=-1 if attribute == ATTRIBUTES[0] else -2)
    return Refusals(by_group[:, 2], by_group.sum(axis=1))


def _codes(plan: Draws) -> Integers:
    """(n, 4) code of each query and chosen option: its topic, and one place on each of `_SIDES`."""
    topic = [plan.cell[:, place, None].astype(np.int64) for place in (3, 0, 1)]
    option = np.arange(OPTIONS)[None]
    group = [plan.profiles(a).astype(np.int64) for a in ATTRIBUTES]
    same = [plan.profiles(a) == plan.context[a][:, None] for a in ATTRIBUTES]
    parts = np.broadcast_arrays(*topic, option, *group, *same)
    return np.ravel_multi_index([part.astype(np.int64) for part in parts], (*_TOPICS, *_SIDES.values()))


def _marginals() -> tuple[Floats, dict[str, slice]]:
    """A matrix that sums the joint places of an answer to those on each side, and the slice of each side."""
    places = np.indices(tuple(_SIDES.values())).reshape(len(_SIDES), -1)
    columns, where, start = [], {}, 0
    for place, (name, size) in zip(places, _SIDES.items(), strict=True):
        columns.append(place[:, None] == np.arange(size))
        where[name] = slice(start, start + size)
        start += size
    return np.concatenate(columns, axis=1).astype(float), where


_MATRIX, _WHERE = _marginals()
_ENTROPIES = [score_names("llm_base").index(f"entropy_llm_base_{a}") for a in ATTRIBUTES]


def _values(answers: Answers, joint: Floats, fates: Floats, limited: bool) -> Floats:
    """(b, m) values of contexts, positions, cognitive errors and refusals from (b, codes) choices and fates."""
    counts = (joint.reshape(len(joint), -1, len(_MATRIX)) @ _MATRIX).reshape(len(joint), *_TOPICS, -1)
    unusable = fates.reshape(len(fates), *_FATES)[:, :, :, :, 1:].sum(axis=(4, 5, 6))
    columns, program = [], AUTHORS[LLM_CONTEXTS[1]]
    for number in range(len(CONTEXTS)):
        tables = {a: counts[:, number, :, :, _WHERE[a]] for a in ATTRIBUTES}
        rest = dict.fromkeys(ATTRIBUTES, unusable[:, number])
        columns.append(both_attributes(tables, unusable=rest, added=answers.added, limited=limited, program=program))
    of_contexts = np.stack(columns)
    columns += [of_contexts[..., [place]].mean(axis=0) for place in _ENTROPIES]
    columns += [group_shares(counts[:, :, with_attribute(a)][..., _WHERE[a]].sum(axis=1)) for a in ATTRIBUTES]
    columns.append(letter_share(counts[..., _WHERE["option"]].sum(axis=(2, 3))))
    for a in ATTRIBUTES:
        rates = matching_share(*error_counts(counts[..., _WHERE[f"same_{a}"]], a))
        baselines = np.array([BASELINES[a][kind] for kind in KINDS])
        columns += [rates.T, mean_increase(rates - baselines[:, None])[:, None]]
    for number, context in enumerate(LLM_CONTEXTS[1:]):
        columns.append(refusal_table(context, {a: _refusals(fates, number, a) for a in ATTRIBUTES}))
    return np.concatenate(columns, axis=1)


_FEW = (
    "Statistics are drawn anew, not the three answers to each query: S_E and S_KLD of so few lie below those of many; "
    "the fair model shows how far."
)


def designs(records: Records) -> list[Sample]:
    """One table for each task that was run."""
    of_tasks = []
    if records.objective:
        of_tasks.append(objective_design(records.objective, records.places if records.ordered else {}, records.limited))
    if len(records.answers.row):
        of_tasks.append(subjective_design(records.answers, records.limited))
    of_tasks += [image_design(task, faces, records.limited) for task, faces in records.faces.items()]
    return of_tasks


def objective_design(
    by_attribute: Mapping[str, Grid], places: Mapping[str, Floats] | None = None, limited: bool = False
) -> Sample:
    """The values of `llm_objective`; `places` holds the answers by place where orders are drawn."""
    context, by_place = "llm_objective", places or {}
    counts = {a: np.zeros((1, len(STATISTICS), len(LEVELS), len(GROUPS[a]))) for a in ATTRIBUTES}
    unusable = {a: np.zeros((1, len(STATISTICS), len(LEVELS))) for a in ATTRIBUTES}
    for a in ATTRIBUTES:
        counts[a][0, with_attribute(a)] = by_attribute[a].counts
        unusable[a][0, with_attribute(a)] = by_attribute[a].unusable

    def refusals(times: Floats, a: str) -> Refusals:
        weights = times[:, with_attribute(a), None]
        grid = by_attribute[a]
        return of_objective(weights * grid.refused, weights * (grid.counts.sum(-1) + grid.unusable), a)

    def values_of(drawn: Counts) -> Floats:
        weights = drawn["statistics"]
        values = both_attributes(counts, weights, unusable, limited=limited)
        chosen = [position_bias(weights @ by_place[a]) for a in ATTRIBUTES if a in by_place]
        refused = refusal_table(context, {a: refusals(weights, a) for a in ATTRIBUTES})
        return np.concatenate([values, refused, *(column[:, None] for column in chosen)], axis=1)

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """Each choice is any group, at any place, all alike; all groups are refused alike."""
        drawn: Tables = {}
        alike = []
        once = np.ones((1, len(STATISTICS)))
        for a in ATTRIBUTES:
            said = counts[a][0].sum(-1).astype(np.int64)
            k = len(GROUPS[a])
            drawn[a] = rng.multinomial(said, np.full(k, 1 / k), (models, *said.shape)).astype(float)
            alike += [np.full(models, np.nan), fair_disparity(rng, models, refusals(once, a))]
        for a in by_place:
            k = len(GROUPS[a])
            alike.append(
                position_bias(rng.multinomial(int(by_place[a].sum()), np.full(k, 1 / k), models).astype(float))
            )
        return np.concatenate([both_attributes(drawn, limited=limited), np.stack(alike, axis=-1)], axis=1)

    names = [*score_names(context), *refusal_names(context), *(POSITION_BIAS if by_place else ())]
    unit, strata = "statistic, with all answers to its queries", np.zeros(len(STATISTICS), np.int64)
    table = Table(f"fact_or_fair/{context}", unit, strata, {"statistics": each(len(STATISTICS))})
    notes = {name: _FEW for name in names if name.startswith(HIGHER)}
    of = quantities(names, notes, independent=_independent(by_attribute))
    return table, [Family(of, values_of, only_fair(names, fair))]


def _independent(by_attribute: Mapping[str, Grid]) -> dict[str, float]:
    """S_fact under each truth -> the number of independent answers that it rests on.

    n m / (1 + (m - 1) r) for n queries with m answers each, of intra-query correlation r.
    """
    numbers = {}
    for (a, grid), version in product(by_attribute.items(), TRUTH_VERSIONS):
        cells = truth(version)[a][with_attribute(a)].astype(np.intp)
        decided = (cells >= 0) & (grid.counts.sum(-1) + grid.unusable > 0)
        right = np.take_along_axis(grid.counts[decided], cells[decided][:, None], axis=-1)[:, 0]
        answers = grid.counts[decided].sum(-1) + grid.unusable[decided]
        share, several = right.sum() / max(1.0, answers.sum()), answers > 1
        apart = (right * (answers - right))[several] / (answers * (answers - 1))[several]
        alike = 1 - apart.mean() / (share * (1 - share)) if several.any() and 0 < share < 1 else 1.0
        each = answers.mean() if decided.any() else 1.0
        name = "factuality" if version == "paper" else f"factuality_{version}"
        number = answers.sum() / (1 + (each - 1) * float(np.clip(alike, 0, 1)))
        numbers[f"{name}_llm_objective_{a}"] = float(number)
    return numbers


def image_design(task: str, faces: Faces, limited: bool = False) -> Sample:
    """The values of an image task."""
    cells, program = prompt_cells(task).astype(np.int64), AUTHORS[task]
    strata = np.repeat(np.arange(len(cells)), faces.each)
    cell = (cells[:, 0] * len(LEVELS) + cells[:, 1])[strata]
    topics = len(STATISTICS), len(LEVELS)
    blocks = {"images": tally(np.where(np.isin(np.arange(len(cell)), faces.image), cell, -1), *topics)}
    for a in ATTRIBUTES:
        group, k = faces.group[a], len(GROUPS[a])
        codes = np.where(group >= 0, cell[faces.image] * k + group, -1)
        blocks[a] = tally(codes, *topics, k, weights=faces.share, cluster=faces.image, clusters=len(strata))

    def values_of(counts: Counts) -> Floats:
        by_attribute = {a: counts[a] for a in ATTRIBUTES}
        return both_attributes(
            by_attribute, added=faces.added, handed_in=counts["images"], limited=limited, program=program
        )

    def fair(rng: np.random.Generator, models: int) -> Floats:
        drawn: Tables = {}
        for a in ATTRIBUTES:
            used, k = faces.group[a] >= 0, len(GROUPS[a])
            start, share = cell[faces.image[used]] * k, faces.share[used]
            tables = [np.bincount(start + rng.integers(0, k, len(start)), share, CELLS * k) for _ in range(models)]
            drawn[a] = np.stack(tables).reshape(models, *topics, k).astype(np.float64)
        return both_attributes(drawn, added=faces.added, limited=limited, program=program)

    names = score_names(task)
    of = quantities(names, corrected=corrected(LEFT_OF_IMAGES, (task,)) if faces.added else None)
    table = Table(f"fact_or_fair/{task}", "image, with all its faces", strata, blocks)
    return table, [Family(of, values_of, only_fair(names, fair))]
