"""Resampling designs of the stereotypical bias benchmark.

The cluster of pairs of faces is an age, for each face stands in several pairs of races and genders of its age; both
attributes are one design. The cluster of persona traits is an image, asked about for gender and for race, with its
trait as the stratum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, vstack

from fairspace.builders.stereotypical_bias.plan import AGES
from fairspace.metrics.stereotypical_association.formula import (
    association,
    association_along,
    divide,
    largest_association,
)
from fairspace.submissions.benchmarks.stereotypical_bias.measure import (
    DESCRIBING,
    WINS,
    cell_values,
    level_counts,
    level_names,
    na_rate,
    names,
    position_share,
    refusal_values,
)
from fairspace.submissions.benchmarks.stereotypical_bias.parse import NOT_AVAILABLE
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS, Answers, Cell, Records
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Sizes, Times, answer_shares

_UNITS = {"vision": "age, with all its pairs of faces", "language": "image, asked for gender and for race"}
_TASKS: Mapping[str, tuple[str, ...]] = {
    "vision": ("vision_gender", "vision_race"),
    "language": ("language_gender", "language_race"),
}

PAIRS_OF_A_FACE = 3
"""Approximate number of an attribute's pairs with the same face: UTKFace has 4 989 for 7 378 pairs of two."""

_NOTE = "a size: the low end takes the side of each group from one half of the clusters and the gap from the other"


def designs(records: Records) -> list[Design]:
    """The design of the scores, and that of the levels, for each kind of picture with answers."""
    return [design(*drawn) for drawn in _by_picture(records) for design in (_design, _level_design)]


def score_designs(records: Records) -> list[Design]:
    """The designs of the scores alone."""
    return [_design(*drawn) for drawn in _by_picture(records)]


def difference_designs(run: Records, plain: Records) -> list[Design]:
    """The designs of one run's scores less those of another, of the same cells, which are drawn together."""
    pairs = zip(score_designs(run), score_designs(plain), strict=True)
    return [replace(_less(run, plain), biased=frozenset(), fair=None, sizes=None, notes={}) for run, plain in pairs]


def _less(run: Design, plain: Design) -> Design:
    limits = {name: (-high, high) for name, (_, high) in run.limits.items()}
    statistic = lambda times: run.statistic(times) - plain.statistic(times)  # noqa: E731
    return replace(run, statistic=statistic, limits=limits, intervals=dict.fromkeys(run.names, "normal"))


def similarity_designs(one: Records, other: Records) -> list[Design]:
    """The designs of the share of identical answers in each cell of two runs, which are drawn together."""
    drawn = []
    for pictures, parts in _by_picture(one):
        strata, same, both = _strata(pictures, parts), [], []
        for part in parts:
            answers = other.cells[part.cell.name] or part.answers
            rows, cluster = part.answers.given & answers.given, part.answers.asked.cluster
            alike = rows & (part.answers.group == answers.group)
            same.append(np.bincount(cluster[alike], minlength=len(strata)))
            both.append(np.bincount(cluster[rows], minlength=len(strata)))
        shares = {part.cell.name: float(part.independent(pictures)) for part in parts}
        statistic = lambda times, same=same, both=both: divide(  # noqa: E731
            times @ np.transpose(same), times @ np.transpose(both)
        )
        limits = dict.fromkeys(shares, (0.0, 1.0))
        names, task = tuple(shares), f"stereotypical_bias/{pictures}"
        drawn.append(Design(task, _UNITS[pictures], strata, names, statistic, limits, shares=shares))
    return drawn


def _by_picture(records: Records) -> list[tuple[str, list[AnsweredCell]]]:
    answered = [AnsweredCell(cell, answers) for cell in CELLS if (answers := records.cells[cell.name]) is not None]
    kinds = ((pictures, [part for part in answered if part.cell.task in tasks]) for pictures, tasks in _TASKS.items())
    return [(pictures, parts) for pictures, parts in kinds if parts]


@dataclass(frozen=True)
class AnsweredCell:
    """One cell with its answers, as counts of its clusters, in one column.

    Wins of each group per instance, responses without a choice, answers per position, responses and refusals per kind.
    """

    cell: Cell
    answers: Answers

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of counts, part by part."""
        kinds, places = len(self.cell.shows), self.answers.asked.options.shape[1]
        return len(self.cell.instances) * len(self.cell.groups), 1, places, kinds, kinds

    def independent(self, pictures: str) -> int:
        """Number of answers that vary by themselves: pairs of different faces, or pictures."""
        asked, vision = len(self.answers.asked.rows), pictures == "vision"
        return asked // len(self.cell.instances) // PAIRS_OF_A_FACE if vision else asked

    def counts(self, clusters: int) -> csr_array:
        """(counts, clusters) summands of each cluster."""
        asked, answers, k = self.answers.asked, self.answers, len(self.cell.groups)
        none, position, responses, refusals = np.cumsum(self.sizes)[:-1]
        entered = [
            np.where(answers.group != NOT_AVAILABLE, asked.instance * k + answers.group, none),
            np.where(answers.position != NOT_AVAILABLE, position + answers.position, -1),
            np.where(answers.given, responses + asked.kind, -1),
            np.where(answers.refused, refusals + asked.kind, -1),
        ]
        rows = np.stack([np.where(answers.given, row, -1) for row in entered], axis=1)
        used = rows >= 0
        columns = np.broadcast_to(asked.cluster[:, None], rows.shape)[used]
        return csr_array((np.ones(len(columns), np.float32), (rows[used], columns)), shape=(sum(self.sizes), clusters))

    def choices(self, clusters: int) -> csr_array:
        """(instances * offers * groups, clusters) choices of each cluster."""
        asked, group, offers = self.answers.asked, self.answers.group, len(self.cell.offers)
        used, k = group != NOT_AVAILABLE, len(self.cell.groups)
        rows = ((asked.instance * offers + asked.offer) * k + group)[used]
        shape = (len(self.cell.instances) * offers * k, clusters)
        return csr_array((np.ones(len(rows), np.float32), (rows, asked.cluster[used])), shape=shape)

    def levels(self, choices: Floats) -> Floats:
        """(b, choices) -> (b, levels) in the order of `level_names`, nan where undefined."""
        shape = (-1, len(self.cell.instances), len(self.cell.offers), len(self.cell.groups))
        return divide(*level_counts(self.cell, choices.reshape(shape)))

    def values(self, counts: Floats) -> Floats:
        """(b, counts) -> (b, values) in the order of `names`, nan where undefined."""
        n, k = len(self.cell.instances), len(self.cell.groups)
        wins, not_available, positions, given, refused = np.split(counts, np.cumsum(self.sizes)[:-1], axis=1)
        choices = cell_values(wins.reshape(-1, n, k), not_available[:, 0], positions)
        return np.concatenate([choices, refusal_values(refused, given, self.cell.shows)], axis=1)

    def along(self, order: Floats, counts: Floats) -> Floats:
        """(b, 2) S and S over the answers that name a group, with signs from other counts."""
        n, k = len(self.cell.instances), len(self.cell.groups)
        some, wins = (part[:, : n * k].reshape(-1, n, k) for part in (order, counts))
        filtered = association_along(some, wins)
        named = 1 - na_rate(counts[:, n * k], wins.sum(axis=(-2, -1)))
        return np.stack([named * filtered, filtered], axis=-1)

    def fair(self, rng: np.random.Generator, models: int) -> Floats:
        """(models, values) of fair models: equal chances for all offered groups, places, and refusals."""
        asked, offers = self.answers.asked, self.cell.offers
        n, k = len(self.cell.instances), len(self.cell.groups)
        answered = self.answers.group != NOT_AVAILABLE
        kinds = np.bincount((asked.instance * len(offers) + asked.offer)[answered], minlength=n * len(offers))
        wins = np.zeros((models, n, k))
        for kind, offered in enumerate(offers):
            share = np.full(int(offered.sum()), 1 / offered.sum())
            wins[:, :, offered] += rng.multinomial(kinds[kind :: len(offers)], share, (models, n))
        places = self.sizes[2]
        positions = rng.multinomial(int(answered.sum()), np.full(places, 1 / places), models)
        scores = association(wins, self.answers.given.sum())
        return np.column_stack(
            [*scores, np.full(models, np.nan), position_share(positions), self._fair_refusals(rng, models)]
        )

    def _fair_refusals(self, rng: np.random.Generator, models: int) -> Floats:
        """(models, 1 or 2) of models that refuse equally for all groups; the rate itself has no fair value."""
        given = np.bincount(self.answers.asked.kind[self.answers.given], minlength=len(self.cell.shows))
        rate = self.answers.refused.sum() / max(1, given.sum())
        refused = rng.binomial(given, rate, (models, len(given))).astype(np.float64)
        values = refusal_values(refused, given.astype(np.float64), self.cell.shows)
        values[:, 0] = np.nan
        return values


def _strata(pictures: str, parts: Sequence[AnsweredCell]) -> Integers:
    first = parts[0].answers.asked
    return np.zeros(len(AGES), np.int64) if pictures == "vision" else first.instance[np.argsort(first.cluster)]


def _design(pictures: str, parts: list[AnsweredCell]) -> Design:
    strata = _strata(pictures, parts)
    counts = vstack([part.counts(len(strata)) for part in parts], format="csr")
    ends = np.cumsum([sum(part.sizes) for part in parts])[:-1]

    def drawn(times: Times) -> Floats:
        return np.asarray((counts @ times.T).T, dtype=np.float64)

    def statistic(times: Times) -> Floats:
        split = np.split(drawn(times), ends, axis=1)
        return np.concatenate([part.values(x) for part, x in zip(parts, split, strict=True)], axis=1)

    def along(order: Floats, others: Floats) -> Floats:
        split = (np.split(part, ends, axis=1) for part in (order, others))
        return np.concatenate([part.along(x, y) for part, x, y in zip(parts, *split, strict=True)], axis=1)

    named = [name for part in parts for name in names(part.cell)]
    pairs = min(part.independent(pictures) for part in parts)
    scores = [name for part in parts for name in names(part.cell)[:2]]
    largest = {name: largest_association(len(part.cell.groups)) for part in parts for name in names(part.cell)[:2]}
    biased = frozenset(name for name in named if not name.endswith(DESCRIBING))
    return Design(
        task=f"stereotypical_bias/{pictures}",
        unit=_UNITS[pictures],
        strata=strata,
        names=tuple(named),
        statistic=statistic,
        limits={name: (0.0, largest.get(name, 1.0)) for name in named},
        biased=biased,
        fair=lambda rng, models: np.concatenate([part.fair(rng, models) for part in parts], axis=1),
        notes=dict.fromkeys(scores, _NOTE),
        intervals=dict.fromkeys(biased, "normal"),
        sizes=Sizes(tuple(scores), drawn, along),
        shares=answer_shares(named, "_rate"),
        independent=dict.fromkeys(named, pairs),
    )


def _level_design(pictures: str, parts: list[AnsweredCell]) -> Design:
    """The design of the levels, drawn as the scores are."""
    strata = _strata(pictures, parts)
    counts = [part.choices(len(strata)) for part in parts]

    def statistic(times: Times) -> Floats:
        drawn = (np.asarray((matrix @ times.T).T, dtype=np.float64) for matrix in counts)
        return np.concatenate([part.levels(x) for part, x in zip(parts, drawn, strict=True)], axis=1)

    independent = {}
    for part in parts:
        each = len(part.answers.asked.rows) / len(part.cell.instances)
        faces = PAIRS_OF_A_FACE if pictures == "vision" else 1
        for name in level_names(part.cell):
            independent[name] = each / (len(part.cell.offers) if name.startswith(WINS) else faces)
    names, limits = tuple(independent), dict.fromkeys(independent, (0.0, 1.0))
    task, unit = f"stereotypical_bias/{pictures}", _UNITS[pictures]
    return Design(task, unit, strata, names, statistic, limits, shares=independent)
