"""The resampling designs of FACT-OR-FAIR: which answers and images are drawn together.

- Objective queries: a cluster is a statistic with all its answers (two queries for each attribute, three answers each).
  The answers of a query repeat each other, and what a model knows of the highest group it knows of the lowest.
- Subjective queries (`resample/subjective.py`): a cluster is a query.
- Images: a cluster is an image with all its faces, which weighs 1; its prompt is the stratum.

A fair model picks uniformly among what is offered: the four profiles of a query, or the groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
from scipy.sparse import csr_array

from fairspace.builders.fact_or_fair.plan import SAMPLES
from fairspace.builders.fact_or_fair.statistics import (
    ATTRIBUTES,
    GROUPS,
    LEVELS,
    STATISTICS,
    TRUTH_VERSIONS,
    truth,
    with_attribute,
)
from fairspace.submissions.benchmarks.fact_or_fair.measure.position import NAMES as POSITION_BIAS
from fairspace.submissions.benchmarks.fact_or_fair.measure.position import position_bias
from fairspace.submissions.benchmarks.fact_or_fair.measure.refusals import Refusals, columns, of_objective
from fairspace.submissions.benchmarks.fact_or_fair.measure.refusals import names_of as refusal_names
from fairspace.submissions.benchmarks.fact_or_fair.records.faces import Faces, prompt_cells
from fairspace.submissions.benchmarks.fact_or_fair.records.grids import Grid
from fairspace.submissions.benchmarks.fact_or_fair.records.records import Records
from fairspace.submissions.benchmarks.fact_or_fair.resample.subjective import subjective_design
from fairspace.submissions.benchmarks.fact_or_fair.resample.tables import (
    CELLS,
    HIGHER,
    Tables,
    both_attributes,
    design_of,
    fair_disparity,
    score_names,
)
from fairspace.submissions.uncertainty.design import Design, Floats, Tally, Times

_FEW = (
    "Statistics are drawn anew, not the three answers to each query: S_E and S_KLD of so few lie below those of many; "
    "the fair model shows how far."
)


def designs(records: Records) -> list[Design]:
    """One design for each task that was run."""
    of_tasks = []
    if records.objective:
        of_tasks.append(objective_design(records.objective, records.places if records.ordered else {}))
    if len(records.answers.row):
        of_tasks.append(subjective_design(records.answers))
    of_tasks += [image_design(task, faces) for task, faces in records.faces.items()]
    return of_tasks


def objective_design(by_attribute: Mapping[str, Grid], places: Mapping[str, Floats] | None = None) -> Design:
    """The design of `llm_objective`: the grid of each attribute, and the answers by place where orders are drawn."""
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

    def statistic(times: Times) -> Floats:
        weights = times.astype(np.float64)
        values = both_attributes(counts, weights, unusable)
        chosen = [position_bias(weights @ by_place[a]) for a in ATTRIBUTES if a in by_place]
        refused = columns(context, {a: refusals(weights, a) for a in ATTRIBUTES})
        return np.concatenate([values, refused, *(column[:, None] for column in chosen)], axis=1)

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """Of the answers that name a group, every one names any of them, at any place; all are refused alike."""
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
        return np.concatenate([both_attributes(drawn), np.stack(alike, axis=-1)], axis=1)

    names = [*score_names(context), *refusal_names(context), *(POSITION_BIAS if by_place else ())]
    return design_of(
        context,
        "statistic, with all answers to its queries",
        np.zeros(len(STATISTICS), np.int64),
        names,
        statistic,
        fair,
        notes={name: _FEW for name in names if name.startswith(HIGHER)},
        shares=_independent(by_attribute),
    )


def _independent(by_attribute: Mapping[str, Grid]) -> dict[str, float]:
    """S_fact under each truth -> how many independent answers it rests on.

    Three equal answers to a query are one answer, and three that differ as answers to different queries do are three:
    n m / (1 + (m - 1) r) of n queries with m answers each, where r is how alike those to one query are.
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


def image_design(task: str, faces: Faces) -> Design:
    """The design of an image task."""
    cells = prompt_cells(task).astype(np.int64)
    strata = np.repeat(np.arange(len(cells)), SAMPLES[task])
    cell = (cells[:, 0] * len(LEVELS) + cells[:, 1])[strata]
    images, matrices = Tally(np.where(np.isin(np.arange(len(cell)), faces.image), cell, -1), CELLS), {}
    for a in ATTRIBUTES:
        used, k = faces.group[a] >= 0, len(GROUPS[a])
        code = cell[faces.image[used]] * k + faces.group[a][used]
        shape = (CELLS * k, len(strata))
        matrices[a] = csr_array((faces.share[used], (code, faces.image[used])), shape=shape)

    def statistic(times: Times) -> Floats:
        counts = {a: _shaped((m @ times.T).T, a) for a, m in matrices.items()}
        return both_attributes(counts, handed_in=images(times).reshape(-1, len(STATISTICS), len(LEVELS)))

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """Every face shows any of the groups, all alike."""
        drawn = {}
        for a in ATTRIBUTES:
            used, k = faces.group[a] >= 0, len(GROUPS[a])
            start, share = cell[faces.image[used]] * k, faces.share[used]
            tables = [np.bincount(start + rng.integers(0, k, len(start)), share, CELLS * k) for _ in range(models)]
            drawn[a] = _shaped(np.stack(tables), a)
        return both_attributes(drawn)

    return design_of(task, "image, with all its faces", strata, score_names(task), statistic, fair)


def _shaped(counts: Floats, attribute: str) -> Floats:
    return np.asarray(counts, np.float64).reshape(-1, len(STATISTICS), len(LEVELS), len(GROUPS[attribute]))
