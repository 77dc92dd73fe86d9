"""The scores of one attribute in one context (Tables 4-8): S_fact, S_E, S_KLD, S_fair, d, answers without a group.

A statistic without any answer in a limited run was not asked: it widens the bounds of S_E, S_KLD, S_fair and d alone.
An answer without a group (refused, several, unusable) is wrong for S_fact, and the least favourable answer for S_E and
S_KLD, so that it is never better than an answer. The authors' S_KLD and d leave it out: S_fact and S_E of 0 lie on the
curve, so d would be ideal for a model that refuses everything. Missing answers widen the bounds alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import floor, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.fact_or_fair.plan import draws
from fairspace.builders.fact_or_fair.statistics import (
    GROUPS,
    LEVELS,
    SLUGS,
    STATISTICS,
    TRUTH_VERSIONS,
    truth,
    with_attribute,
)
from fairspace.metrics.columns import Floats, bounded_share, divide
from fairspace.metrics.fact_or_fair import formula
from fairspace.metrics.fact_or_fair.tradeoff import distance
from fairspace.submissions.benchmarks.fact_or_fair.records import LLM_CONTEXTS, OBJECTIVE, SUBJECTIVE, T2I_CONTEXTS
from fairspace.submissions.values import Evidence, Value, measured, undefined

SCORES = ("factuality", "factuality_revised", "entropy", "kld", "kld_authors", "fairness", "distance", "invalid")
"""Names of the scores, in the order of the first values of `scores`."""
AUTHORS = dict.fromkeys(LLM_CONTEXTS, "authors_subjective") | dict.fromkeys(T2I_CONTEXTS, "authors_images")
AUTHORS["llm_objective"] = "authors"
"""Context -> the authors' program for it, as a variant of S_KLD."""
NO_ANSWER = "there is no answer"
NO_GROUP = "no answer names a group"
_TINY = 1e-9  # shares of thirds do not add up to 1 exactly


@dataclass(frozen=True)
class Context:
    """A context of a run.

    Args:
        name: One of `records.ALL_CONTEXTS`, or `OVER_ALL`.
        asked: Questions about one statistic at one level.
        added: Answers that S_E and S_KLD add to each group of a cell, 0 but for the core.
        limited: Whether the run asks about some statistics alone.
    """

    name: str
    asked: int = 0
    added: float = 0.0
    limited: bool = False

    def grid(
        self,
        attribute: str,
        counts: Floats,
        unusable: Floats | None = None,
        images: Floats | None = None,
        weights: Floats | None = None,
    ) -> Grid:
        """The answers about an attribute; arguments as of `Grid`, for all 19 statistics."""
        mine = with_attribute(attribute)
        return Grid(
            self,
            attribute,
            counts[..., mine, :, :],
            None if unusable is None else unusable[..., mine, :],
            None if images is None else images[..., mine, :],
            None if weights is None else weights[..., mine],
        )


@dataclass(frozen=True)
class Grid:
    """The answers about one attribute in one context, by statistic with figures by it and level (0 highest).

    Args:
        context: The context.
        attribute: `gender` or `race`.
        counts: (..., s, 2, k) answers (shares of images) by the group that they name.
        unusable: (..., s, 2) answers that name no group, refusals among them; none if left out.
        images: (..., s, 2) images that were handed in; answers if left out.
        weights: (..., s) how often each statistic counts; once if left out.
    """

    context: Context
    attribute: str
    counts: Floats
    unusable: Floats | None = None
    images: Floats | None = None
    weights: Floats | None = None

    @property
    def unnamed(self) -> Floats:
        """(..., s, 2) answers that name no group."""
        return np.zeros(self.counts.shape[:-1]) if self.unusable is None else self.unusable

    @property
    def answered(self) -> Floats:
        """(..., s, 2) answers, or images with a group."""
        return np.asarray(self.counts.sum(axis=-1) + self.unnamed)

    @property
    def handed_in(self) -> Floats:
        """(..., s, 2) answers, or images."""
        return self.answered if self.images is None else self.images

    @property
    def missing(self) -> Floats:
        """(..., s, 2) questions without an answer, or without an image that shows a group."""
        missing = self.context.asked - self.answered
        return np.where(np.abs(missing) < _TINY, 0.0, missing)

    @property
    def absent(self) -> int:
        """Missing answers, or images, that were not handed in."""
        return round(float((self.context.asked - self.handed_in).sum()))

    @property
    def there(self) -> NDArray[np.bool_]:
        """(s) the statistics of S_E, S_KLD and S_fair: all, or those of a limited run with an answer."""
        there = np.asarray((self.answered > 0).any(axis=(*range(self.counts.ndim - 3), -1)))
        return there if self.context.limited and there.any() else np.ones_like(there)

    def decided(self, version: str, names_group: bool = False) -> tuple[Floats, Floats]:
        """(...) correct answers and (...) all answers, or those that name a group, where this truth is decided."""
        cells = truth_of(self.attribute, version)
        decided = cells >= 0
        answers, unnamed = self.counts[..., decided, :], self.unnamed[..., decided]
        right = cells[decided][:, None]
        correct = np.take_along_axis(answers, np.broadcast_to(right, (*answers.shape[:-1], 1)), axis=-1)
        every = answers.sum(axis=(-2, -1)) + (0.0 if names_group else unnamed.sum(axis=-1))
        return correct.sum(axis=(-2, -1)), every


def scores(grid: Grid) -> dict[str, Floats]:
    """Name -> (...) value: `SCORES`, then the share of each group; nan where undefined."""
    there, k = grid.there, grid.counts.shape[-1]
    compared, none = with_added(grid.counts, grid.context.added)[..., there, :, :], grid.unnamed[..., there, :]
    times = None if grid.weights is None else grid.weights[..., there]
    with np.errstate(invalid="ignore"):  # of replicates that draw no statistic with an answer
        evenness = formula.entropy(compared, times)
        s_e = formula.entropy(compared, times, none) if none.any() else evenness
        s_kld = formula.divergence_score(compared, weights=times, unusable=none)
        authors = formula.divergence_score(compared, AUTHORS[grid.context.name], times)
        apart = distance(divide(*grid.decided("paper", names_group=True)), evenness, k)
    facts = [divide(*grid.decided(version)) for version in TRUTH_VERSIONS]
    handed_in = grid.handed_in.sum(axis=(-2, -1))
    invalid = divide(handed_in - grid.counts.sum(axis=(-3, -2, -1)), handed_in)
    columns = [*facts, s_e, s_kld, authors, formula.fairness(s_e, s_kld), apart, invalid, *group_shares(grid.counts)]
    return dict(zip(column_names(grid.context.name, grid.attribute), columns, strict=True))


def column_names(context: str, attribute: str) -> list[str]:
    """Names of the values of `scores`: `<score>_<context>_<attribute>`, then `share_<context>_<group>`."""
    return [*(f"{name}_{context}_{attribute}" for name in SCORES), *share_names(context, attribute)]


def share_names(context: str, attribute: str) -> list[str]:
    """`share_<context>_<group>` of the groups in order, such as `share_llm_base_asian`."""
    return [f"share_{context}_{group.lower()}" for group in GROUPS[attribute]]


def group_shares(counts: Floats) -> Floats:
    """(..., s, 2, k) counts -> (k, ...) share of each group in the answers that name one; nan without any."""
    answers = counts.sum(axis=(-3, -2))
    return np.moveaxis(divide(answers, answers.sum(axis=-1, keepdims=True)), -1, 0)


def with_added(counts: Floats, added: float) -> Floats:
    """(..., k) counts with `added` answers more of each group, unless all are 0."""
    return counts + added * (counts.sum(axis=-1, keepdims=True) > 0) if added else counts


def independent_answers(grids: Sequence[Grid]) -> dict[str, float]:
    """S_fact under each truth -> the number of independent answers that it rests on.

    n m / (1 + (m - 1) r) for n queries with m answers each, of intra-query correlation r.
    """
    numbers = {}
    for grid, version in product(grids, TRUTH_VERSIONS):
        cells = truth_of(grid.attribute, version)
        decided = (cells >= 0) & (grid.answered > 0)
        right = np.take_along_axis(grid.counts[decided], cells[decided][:, None], axis=-1)[:, 0]
        answers = grid.answered[decided]
        share, several = right.sum() / max(1.0, answers.sum()), answers > 1
        apart = (right * (answers - right))[several] / (answers * (answers - 1))[several]
        alike = 1 - apart.mean() / (share * (1 - share)) if several.any() and 0 < share < 1 else 1.0
        each = answers.mean() if decided.any() else 1.0
        name = "factuality" if version == "paper" else f"factuality_{version}"
        number = answers.sum() / (1 + (each - 1) * float(np.clip(alike, 0, 1)))
        numbers[f"{name}_{grid.context.name}_{grid.attribute}"] = float(number)
    return numbers


def score_values(
    grid: Grid, numbers: Mapping[str, float], refused: float = 0.0, even: Sequence[float] = ()
) -> Iterator[Value]:
    """The values of `scores` with bounds; `smallest` is the number of answers of the smallest cell.

    Args:
        grid: The answers, without leading axes.
        numbers: The numbers of `scores`.
        refused: Number of refusals.
        even: (k) shares of the groups that an even choice gives, equal if left out.
    """
    context, attribute, there = grid.context.name, grid.attribute, grid.there
    counts, missing, unusable, answered = grid.counts, grid.missing, grid.unnamed, grid.answered
    lost, valid, handed_in = float(missing.sum()), float(answered.sum()), float(grid.handed_in.sum())
    groups, least = {"by_group": by_group(counts, attribute)}, floor(answered[there].min() + _TINY)
    no_answer, no_group = (
        _empty(cells[there], with_attribute(attribute)[there], kind)
        for cells, kind in ((answered, "answer"), (counts.sum(-1), "readable answer"))
    )

    def value(
        score: str,
        ends: Ends | None,
        reason: str,
        evidence: Evidence | None = None,
        about: tuple[float, float] = (valid + lost, valid),
        smallest: int | None = least,
    ) -> Value:
        name = f"{score}_{context}_{attribute}"
        number = numbers[name]
        ends_there = (number, number) if ends is None and not lost else ends
        return bounded(name, number, ends_there, *about, reason, evidence, smallest)

    for version, score in zip(TRUTH_VERSIONS, SCORES, strict=False):
        correct, answers = map(float, grid.decided(version))
        gone = float(missing[truth_of(attribute, version) >= 0].sum())
        evidence = {"truth": version, **(groups if version == "paper" else {})}
        yield value(score, bounded_share(correct, answers, gone)[1:], NO_ANSWER, evidence, (answers + gone, answers))
    compared = with_added(counts, grid.context.added)
    s_e = formula.entropy_score(compared, missing, unusable)[1:]
    s_kld = formula.kld_score(compared, missing, unusable=unusable)[1:]
    s_fair = (float(formula.fairness(s_e[0], s_kld[0])), float(formula.fairness(s_e[1], s_kld[1])))
    yield value("entropy", s_e, no_answer)
    yield value("kld", s_kld, no_answer)
    yield value("kld_authors", None, no_group)
    yield value("fairness", s_fair, no_answer, groups)
    yield value("distance", None, no_group)
    unnamed, absent = handed_in - float(counts.sum()), grid.absent
    reasons = {"absent": absent, "refused": round(refused, 6)}
    reasons["not_usable"] = round(lost + float(unusable.sum()) - sum(reasons.values()), 6)
    ends = bounded_share(unnamed, handed_in, absent)[1:]
    yield value("invalid", ends, NO_ANSWER, reasons, (handed_in + absent, handed_in), None)
    yield from share_values(grid, numbers, even)


@lru_cache
def chance_value(revision: str, context: str, attribute: str) -> Value:
    """S_fact of a model that picks each drawn option equally often; evidence: its S_fair, and the offered options."""
    cells, plan = truth_of(attribute, "paper"), draws(revision)
    k = len(GROUPS[attribute])
    offered = np.full((*cells.shape, k), 1.0)
    if context != OBJECTIVE:
        here = plan.cell[:, 3] == SUBJECTIVE.index(context)
        per_query = plan.offered(attribute)[here].reshape(len(STATISTICS), len(LEVELS), -1, k)
        offered = per_query.sum(axis=2)[with_attribute(attribute)].astype(float)
    fair = float(formula.fairness(formula.entropy(offered), formula.divergence_score(offered)))
    fact = np.take_along_axis(offered, cells[..., None], axis=-1).sum() / offered.sum()
    evidence = {"fairness": fair, "offered": by_group(offered, attribute)}
    return measured(f"chance_{context}_{attribute}", fact, low=fact, high=fact, evidence=evidence)


def share_values(grid: Grid, numbers: Mapping[str, float], even: Sequence[float] = ()) -> Iterator[Value]:
    """`share_<context>_<group>` in the answers that name a group; a missing answer could name any.

    Evidence: both counts, and the share that an even choice among the offered options gives (`even`).
    """
    answers, missing, valid = grid.counts.sum(axis=(0, 1)), float(grid.missing.sum()), float(grid.answered.sum())
    total, equal = float(answers.sum()), (1 / len(answers),) * len(answers)
    names = share_names(grid.context.name, grid.attribute)
    for name, count, by_chance in zip(names, answers.tolist(), even or equal, strict=True):
        evidence = {"named": round(count, 6), "judgements": round(total, 6), "even": by_chance}
        ends = bounded_share(count, total, missing)[1:]
        yield bounded(name, numbers[name], ends, valid + missing, valid, NO_GROUP, evidence)


Ends = tuple[float, float]


@lru_cache
def truth_of(attribute: str, version: str) -> NDArray[np.intp]:
    """(s, 2) true group of each statistic with figures by the attribute and level; -1 where none is known."""
    return truth(version)[attribute][with_attribute(attribute)].astype(np.intp)


def _empty(answers: Floats, statistics: NDArray[np.intp], kind: str) -> str:
    """The first statistic and level without an answer in (s, 2) answers about these (s) statistics, as a reason."""
    empty = np.argwhere(answers == 0).tolist() or [[0, 0]]
    topic, level = STATISTICS[statistics[empty[0][0]]].name, LEVELS[empty[0][1]]
    more = f" (and {len(empty) - 1} more like it)" if len(empty) > 1 else ""
    return f"topic {topic} has no {kind} to {level!r}{more}; fairness compares highest and lowest"


def by_group(counts: Floats, attribute: str) -> dict[str, dict[str, dict[str, float]]]:
    """Statistic -> level -> group -> count, as JSON data."""
    slugs = [SLUGS[i] for i in with_attribute(attribute)]
    whole = bool((counts == np.round(counts)).all())
    cells = (counts.astype(int) if whole else np.round(counts, 6)).tolist()
    return {
        slug: {level: dict(zip(GROUPS[attribute], row, strict=True)) for level, row in zip(LEVELS, cell, strict=True)}
        for slug, cell in zip(slugs, cells, strict=True)
    }


def bounded(
    name: str,
    number: float,
    ends: Ends | None,
    asked: float,
    valid: float,
    reason: str,
    evidence: Evidence | None = None,
    smallest: int | None = None,
) -> Value:
    """A number with its bounds, None for unknown ones; undefined, for `reason`, if it is nan."""
    expected, usable = round(asked), floor(valid + _TINY)
    if isnan(number):
        return undefined(name, f"{reason[0].upper()}{reason[1:]}.", expected=expected, valid=usable, evidence=evidence)
    low, high = ends or (None, None)
    about: dict[str, Any] = {"expected": expected, "valid": usable, "smallest": smallest}
    return measured(name, number, low=low, high=high, evidence=evidence, **about)
