"""Resampling designs of the stereotypical bias benchmark: which answers are drawn together.

What is drawn is a picture. A spliced pair of faces is asked about once for each of the 20 occupations and descriptors,
and stands in one order of its sides: a cluster of 20 answers that enters two cells, with the two groups as its stratum.
(Age and shared group are spread evenly; leaving them out of the strata makes the intervals a little wider.) An image of
a persona trait is asked about for gender and for race: a cluster of two answers, with its trait as the stratum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from fairspace.metrics.stereotypical_association.formula import association, largest_association
from fairspace.submissions.benchmarks.stereotypical_bias.measure import (
    DESCRIBING,
    cell_values,
    names,
    position_share,
    refusal_values,
)
from fairspace.submissions.benchmarks.stereotypical_bias.parse import NOT_AVAILABLE
from fairspace.submissions.benchmarks.stereotypical_bias.records import (
    CELLS,
    Answers,
    Cell,
    Integers,
    Records,
    questions,
)
from fairspace.submissions.uncertainty.design import Design, Floats, Times

_UNITS = {"vision": "pair of faces, with its 20 answers", "language": "image, asked for gender and for race"}
_TASKS: Mapping[str, tuple[str, ...]] = {
    "vision_gender": ("vision_gender",),
    "vision_race": ("vision_race",),
    "language": ("language_gender", "language_race"),
}
"""Kind of picture -> the tasks that ask about it."""

_NOTE = (
    "Between nothing and twice what a fair model shows, as few as 74 % of the intervals of simulated submissions hold "
    "the truth; above that 88 to 96 %, and of a fair model 93 % or more."
)


def designs(records: Records) -> list[Design]:
    """One design for each kind of picture that the submission answers questions about."""
    answered = [AnsweredCell(cell, answers) for cell in CELLS if (answers := records.cells[cell.name]) is not None]
    by_picture = {
        pictures: [part for part in answered if part.cell.task in tasks] for pictures, tasks in _TASKS.items()
    }
    return [_design(pictures, parts) for pictures, parts in by_picture.items() if parts]


@dataclass(frozen=True)
class AnsweredCell:
    """One cell with its answers, as counts of its pictures.

    The counts are a column: the wins of each group for each instance, then the responses without a choice, then the
    answers per position, then all responses and the refusals per kind of picture.
    """

    cell: Cell
    answers: Answers

    @property
    def places(self) -> int:
        """Sides of a picture, or places in the sentence."""
        return questions(self.cell).options.shape[1]

    @property
    def pictures(self) -> Integers:
        """(n,) the picture of each question: the rows of a vision task go pair by pair, those of a persona by image."""
        asked = questions(self.cell)
        return asked.rows if self.cell.scenario == "persona" else asked.rows // _instances(self.cell)

    @property
    def size(self) -> int:
        """Rows of its counts."""
        return len(self.cell.instances) * len(self.cell.groups) + 1 + self.places + 2 * self.kinds

    @property
    def kinds(self) -> int:
        """Of pictures."""
        return len(self.cell.shows)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the values."""
        return tuple(names(self.cell))

    def counts(self, pictures: int) -> csr_array:
        """(size, pictures) what each picture adds to the counts."""
        rows = self._rows()
        used = rows >= 0
        columns = np.broadcast_to(self.pictures[:, None], rows.shape)[used]
        return csr_array((np.ones(len(columns), np.float32), (rows[used], columns)), shape=(self.size, pictures))

    def _rows(self) -> Integers:
        """(n, 4) the rows of the counts that each question enters, -1 for none."""
        asked, answers, k = questions(self.cell), self.answers, len(self.cell.groups)
        wins = len(self.cell.instances) * k
        not_available = np.where(answers.given, wins, -1)
        handed_in = wins + 1 + self.places
        group = np.where(answers.group != NOT_AVAILABLE, asked.instance * k + answers.group, not_available)
        position = np.where(answers.position != NOT_AVAILABLE, wins + 1 + answers.position, -1)
        responses = np.where(answers.given, handed_in + asked.kind, -1)
        refusals = np.where(answers.refused, handed_in + self.kinds + asked.kind, -1)
        return np.stack([group, position, responses, refusals], axis=1)

    def values(self, counts: Floats) -> Floats:
        """(b, size) counts -> (b, values) in the order of `names`, nan where undefined."""
        n, k = len(self.cell.instances), len(self.cell.groups)
        ends = np.cumsum([n * k, 1, self.places, self.kinds])
        wins, not_available, positions, given, refused = np.split(counts, ends, axis=1)
        choices = cell_values(wins.reshape(-1, n, k), len(self.answers.group), not_available[:, 0], positions)
        return np.concatenate([choices, refusal_values(refused, given, self.cell.shows)], axis=1)

    def fair(self, rng: np.random.Generator, models: int) -> Floats:
        """(models, values) of models that treat all alike that a question offers: groups, places, and refusals."""
        asked, offers = questions(self.cell), self.cell.offers
        n, k = len(self.cell.instances), len(self.cell.groups)
        answered = self.answers.group != NOT_AVAILABLE
        kinds = np.bincount((asked.instance * len(offers) + asked.offer)[answered], minlength=n * len(offers))
        wins = np.zeros((models, n, k))
        for kind, offered in enumerate(offers):
            share = np.full(int(offered.sum()), 1 / offered.sum())
            wins[:, :, offered] += rng.multinomial(kinds[kind :: len(offers)], share, (models, n))
        positions = rng.multinomial(int(answered.sum()), np.full(self.places, 1 / self.places), models)
        scores = association(wins, len(answered))
        return np.column_stack(
            [*scores, np.full(models, np.nan), position_share(positions), self._fair_refusals(rng, models)]
        )

    def _fair_refusals(self, rng: np.random.Generator, models: int) -> Floats:
        """(models, 1 or 2) of models that refuse as often whoever is shown; the rate itself has no fair one."""
        given = np.bincount(questions(self.cell).kind[self.answers.given], minlength=self.kinds)
        rate = self.answers.refused.sum() / max(1, given.sum())
        refused = rng.binomial(given, rate, (models, self.kinds)).astype(np.float64)
        values = refusal_values(refused, given.astype(np.float64), self.cell.shows)
        values[:, 0] = np.nan
        return values


def _instances(cell: Cell) -> int:
    """Questions about one picture of a vision task."""
    return sum(len(other.instances) for other in CELLS if other.task == cell.task)


def _design(pictures: str, parts: list[AnsweredCell]) -> Design:
    strata = _strata(parts[0])
    counts = vstack([part.counts(len(strata)) for part in parts], format="csr")
    ends = np.cumsum([part.size for part in parts])[:-1]

    def statistic(times: Times) -> Floats:
        split = np.split((counts @ times.T).T.astype(np.float64), ends, axis=1)
        return np.concatenate([part.values(x) for part, x in zip(parts, split, strict=True)], axis=1)

    named = [name for part in parts for name in part.names]
    scores = [name for part in parts for name in part.names[:2]]
    largest = {name: largest_association(len(part.cell.groups)) for part in parts for name in part.names[:2]}
    biased = frozenset(name for name in named if not name.endswith(DESCRIBING))
    return Design(
        task=f"stereotypical_bias/{pictures}",
        unit=_UNITS[pictures.partition("_")[0]],
        strata=strata,
        names=tuple(named),
        statistic=statistic,
        limits={name: (0.0, largest.get(name, 1.0)) for name in named},
        biased=biased,
        fair=lambda rng, models: np.concatenate([part.fair(rng, models) for part in parts], axis=1),
        notes=dict.fromkeys(scores, _NOTE),
        intervals=dict.fromkeys(biased, "normal"),
        tested=frozenset(scores),
    )


def _strata(part: AnsweredCell) -> Integers:
    """(pictures,) the two groups of a pair, the trait of an image."""
    asked = questions(part.cell)
    strata = np.zeros(int(part.pictures.max()) + 1, np.int64)
    strata[part.pictures] = asked.instance if part.cell.scenario == "persona" else asked.offer
    return strata
