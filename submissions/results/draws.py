"""The uncertainty of scores under any standard, from the values and the kept draws of a result (a byte each).

A score is monotone in each value, and sizes (gaps, norms, divergences) are biased upwards. Its interval goes from the
score of the most favourable point to that of the least favourable one, each widened by the kept draws about it (2.5 %
beyond), and is cut at the score's limits. The points:
- a biased value lies between itself and its debiased estimate; a size whose interval reaches 0 may be 0;
- a value that a score takes a distance from (`ScoringTable.centres`) may lie there, if its interval holds that number;
- a value whose draws do not vary may be anywhere in its interval; any other value is as measured.
"Reaches" is joint over all values: intervals are widened to the errors that 98 % of the kept draws stay within in every
value at once (sup-t: Montiel Olea and Plagborg-Møller, Simultaneous confidence bands, Journal of Applied Econometrics
34, 2019). A score that is a value has the uncertainty of that value.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairspace.metrics.columns import Floats
from fairspace.metrics.intervals import LEVEL, Uncertainty, Z
from fairspace.metrics.resampling import MOST_UNDEFINED
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED, Adjustment, Ends
from fairspace.submissions.values import Value

if TYPE_CHECKING:
    from fairspace.submissions.benchmarks.benchmark import Benchmark, Scored
    from fairspace.submissions.benchmarks.scoring_table import ScoringTable

# The same draw of two models is of the same clusters, so their differences are on common items.

KEPT = 200
"""Draws kept in a result."""
MOST_NAMES = 300
"""Most values with draws; our benchmarks keep below a hundred."""
LARGEST = 1e12
"""Bound on any value; ours come nowhere near it."""
_STEPS = 20
"""Steps in a standard error; draws beyond 6.35 errors are cut there."""
_UNDEFINED = -128


@dataclass(frozen=True)
class Draws:
    """Draws of m values, (k, m), as int8 `steps` of twentieths of an `error` from the `centre`; -128 for no number.

    The centre is the mean of the kept draws; that of a biased value lies many errors beside the value itself.
    """

    names: tuple[str, ...]
    centre: Floats
    error: Floats
    steps: NDArray[np.int8]

    def columns(self) -> dict[str, Floats]:
        """Name -> (k,) draws, nan where a draw has no number."""
        return dict(zip(self.names, self.table().T, strict=True))

    def table(self) -> Floats:
        """(k, m) draws, nan where a draw has no number."""
        steps = self.steps.astype(np.float64)
        steps[self.steps == _UNDEFINED] = np.nan
        return np.asarray(self.centre + steps / _STEPS * self.error)

    def to_json(self) -> dict[str, Any]:
        """JSON data, with the steps in base64."""
        about = {"names": list(self.names), "centre": self.centre.tolist(), "error": self.error.tolist()}
        return about | {"draws": len(self.steps), "steps": base64.b64encode(self.steps.tobytes()).decode()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Draws:
        """Read `to_json`'s data. ValueError, KeyError or TypeError for anything else or more than the limits."""
        names, centre, error, draws, steps = (data[key] for key in ("names", "centre", "error", "draws", "steps"))
        if not all(type(part) is list and 0 < len(part) <= MOST_NAMES for part in (names, centre, error)):
            raise ValueError(f"draws of no values, or of more than {MOST_NAMES}")
        if not all(type(name) is str for name in names) or len(set(names)) < len(names):
            raise ValueError("draws with a name that is none, or twice the same")
        if not all(type(x) in (int, float) and abs(x) <= LARGEST for x in (*centre, *error)) or min(error) < 0:
            raise ValueError(f"draws with a number that is none or beyond {LARGEST:g}, or an error below 0")
        if type(draws) is not int or not 1 <= draws <= KEPT:
            raise ValueError(f"draws whose number is not from 1 to {KEPT}")
        size = draws * len(names)
        if not len(names) == len(centre) == len(error) or type(steps) is not str or len(steps) != -(-size // 3) * 4:
            raise ValueError("draws whose parts do not fit each other")
        table = np.frombuffer(base64.b64decode(steps, validate=True), np.int8)
        if table.size != size:
            raise ValueError("draws whose parts do not fit each other")
        return cls(tuple(names), np.array(centre, float), np.array(error, float), table.reshape(draws, len(names)))


def keep(names: Sequence[str], draws: Floats) -> Draws:
    """The first `KEPT` of the draws (r, m) of m values, as a result keeps them."""
    kept = draws[:KEPT]
    centre, error = (np.array([_digits(about(column)) for column in kept.T]) for about in (_mean, _spread))
    with np.errstate(invalid="ignore", divide="ignore"):
        away = np.where(error > 0, (kept - centre) / error * _STEPS, 0.0)
    steps = np.where(np.isnan(kept), _UNDEFINED, np.clip(np.round(np.nan_to_num(away)), -127, 127)).astype(np.int8)
    return Draws(tuple(names), centre, error, steps)


def _digits(number: float) -> float:
    return float(f"{number:.9g}")


def _mean(column: Floats) -> float:
    defined = column[~np.isnan(column)]
    return float(defined.mean()) if len(defined) else 0.0


def _spread(column: Floats) -> float:
    defined = column[~np.isnan(column)]
    return float(defined.std(ddof=1)) if len(defined) > 1 else 0.0


UNIT = "the samples of its values"
WITHOUT = (-np.inf, np.inf)
_EXACT: Literal["weibull"] = "weibull"
"""Quantile method that is unbiased for 200 draws: as large a share of the population lies beyond on average."""
_POINTS = ("debiased", "fair", "fair_high")
"""Points scored as well: debiased estimates, and fair models."""
JOINT = 0.98
"""Share of the kept draws in the joint region of all values: .95 held eight metrics at 0 in 89 % only."""
_TOGETHER = 200
"""Results whose draws are scored at a time: their raw values take some tens of MB."""
Values = Mapping[str, Value]
Made = TypeVar("Made")


class Drawn(NamedTuple):
    """A result with draws."""

    scored: Scored
    values: Values
    draws: Draws


@dataclass(frozen=True)
class ScoreDraws:
    """Scores of a result's draws by name of the score; nan where one has no number.

    `replicates`: (k,) draws as they are; `low`, `high`: (1 + k,) smallest and largest score of a point in the
    intervals' reach, then of draws about it; `points`: (3,) scores at `_POINTS`.
    """

    replicates: Mapping[str, Floats]
    low: Mapping[str, Floats]
    high: Mapping[str, Floats]
    points: Mapping[str, Floats]

    def true_scores(self) -> dict[str, Floats]:
        """(2 k,) plausible true scores: the draws about both ends, for chances."""
        return {name: np.concatenate([self.low[name][1:], self.high[name][1:]]) for name in self.replicates}


def many_score_draws(
    bench: Benchmark, results: Sequence[Drawn], standard: Any, changed: Adjustment = AS_RELEASED
) -> Iterator[ScoreDraws]:
    """The score draws of each of many results, in their order: a thousand take some seconds."""
    return _together(bench, results, standard, changed, _score_draws)


def many_replicates(bench: Benchmark, results: Sequence[Drawn], standard: Any) -> Iterator[Mapping[str, Floats]]:
    """`ScoreDraws.replicates` of each of many results, in their order: a thousand take about a second."""
    return _together(bench, results, standard, AS_RELEASED, _replicates)


def _together(
    bench: Benchmark,
    results: Sequence[Drawn],
    standard: Any,
    changed: Adjustment,
    make: Callable[[ScoringTable, Sequence[Drawn]], Iterable[Made]],
) -> Iterator[Made]:
    """Apply `make` to results with the same values laid end to end: a table takes any number."""
    for first in range(0, len(results), _TOGETHER):
        part = results[first : first + _TOGETHER]
        alike: list[tuple[Any, tuple[str, ...], int, list[int]]] = []
        for place, result in enumerate(part):
            standards, k = bench.scoring.resolve(standard, result.scored.labels), len(result.draws.steps)
            group = next((g for g in alike if g[2] == k and g[1] == result.draws.names and g[0] == standards), None)
            if group is None:
                alike.append((standards, result.draws.names, k, [place]))
            else:
                group[3].append(place)
        by_place: dict[int, Made] = {}
        for standards, _, _, places in alike:
            table = bench.scoring.table(standards, changed)
            by_place |= dict(zip(places, make(table, [part[place] for place in places]), strict=True))
        yield from (by_place[place] for place in range(len(part)))


def _replicates(table: ScoringTable, results: Sequence[Drawn]) -> Iterator[Mapping[str, Floats]]:
    drawn = np.concatenate([result.draws.table() for result in results])
    scores = table.replicates(dict(zip(results[0].draws.names, drawn.T, strict=True)))
    rows = {name: column.reshape(len(results), -1) for name, column in scores.items()}
    return ({name: column[place] for name, column in rows.items()} for place in range(len(results)))


def _score_draws(table: ScoringTable, results: Sequence[Drawn]) -> Iterator[ScoreDraws]:
    names, k = results[0].draws.names, len(results[0].draws.steps)
    drawn = np.stack([result.draws.table() for result in results])
    away = drawn - np.stack([result.draws.centre for result in results])[:, None]
    wider = _joint(away) / Z
    points = np.stack([_points(result, names, table, times) for result, times in zip(results, wider, strict=True)])
    about = [np.concatenate([point, point + away], axis=1) for point in (points[:, -2:-1], points[:, -1:])]
    lows, highs = (ends.reshape(-1, len(names)).T for ends in about)
    reached = table.ends({name: Ends(*ends) for name, *ends in zip(names, lows, highs, strict=True)})
    raw = np.concatenate([drawn, points[:, : len(_POINTS)]], axis=1).reshape(-1, len(names))
    scores = table.replicates(dict(zip(names, raw.T, strict=True)))
    rows = {name: column.reshape(len(results), -1) for name, column in scores.items()}
    low = {name: np.asarray(ends.low).reshape(len(results), -1) for name, ends in reached.items()}
    high = {name: np.asarray(ends.high).reshape(len(results), -1) for name, ends in reached.items()}
    for place in range(len(results)):
        yield ScoreDraws(
            {name: column[place, :k] for name, column in rows.items()},
            {name: low[name][place] for name in rows},
            {name: high[name][place] for name in rows},
            {name: column[place, k:] for name, column in rows.items()},
        )


def _joint(away: Floats) -> Floats:
    """(n, k, m) draws less their means -> (n,) errors that 98 % of a result's draws stay within, in all values."""
    defined = ~np.isnan(away)
    squares = np.where(defined, away, 0.0) ** 2
    spread = np.sqrt(squares.sum(axis=1, keepdims=True) / np.maximum(1, defined.sum(axis=1, keepdims=True) - 1))
    largest = np.sqrt(np.divide(squares, spread**2, out=np.zeros_like(squares), where=spread > 0)).max(axis=2)
    return np.maximum(np.quantile(largest, JOINT, axis=1), Z)


def _points(result: Drawn, names: Sequence[str], table: ScoringTable, wider: float) -> Floats:
    """(5, m) every value at `_POINTS`, and at the ends of its reach, `wider` times its interval; nan for none."""
    points = np.full((len(_POINTS) + 2, len(names)), np.nan)
    varies = result.draws.error > 0
    for place, name in enumerate(names):
        value = result.values[name]
        number, about = value.value, value.uncertainty
        if number is None:
            continue
        points[:, place] = number
        if about is None:
            points[1:3, place] = np.nan
            continue
        debiased = number if about.debiased is None else about.debiased
        reach = [number, debiased]
        if about.debiased is not None and debiased - wider * (debiased - about.low) <= 0:
            reach.append(0.0)
        if not varies[place]:
            reach += [about.low, about.high]
        centre = table.centres.get(name)
        if centre is not None and number - wider * (number - about.low) <= centre <= number + wider * (
            about.high - number
        ):
            reach.append(centre)
        fair = [np.nan if end is None else end for end in (about.fair, about.fair_high)]
        points[:, place] = [debiased, *fair, min(reach), max(reach)]
    return points


def with_uncertainty(
    bench: Benchmark, scored: Scored, values: Values, draws: Draws, standard: Any, changed: Adjustment
) -> Scored:
    """The scores with their uncertainty, and the chances of crossing thresholds."""
    (of_scores,) = many_score_draws(bench, [Drawn(scored, values, draws)], standard, changed)
    table = bench.table_of(scored, standard, changed)
    scores = dict(scored.scores)
    for name, about in uncertainties_of(scored, values, of_scores, table).items():
        scores[name] = replace(scores[name], uncertainty=about)
    return replace(scored, scores=scores, chances=chances_of(bench, of_scores, scored, standard, changed))


def chances_of(
    bench: Benchmark, draws: ScoreDraws, scored: Scored, standard: Any, changed: Adjustment
) -> dict[str, float]:
    """`Scored.chances`, from the plausible true scores."""
    chances = bench.scoring.chances(draws.true_scores(), scored, standard, changed)
    return {name: round(chance, 4) for name, chance in chances.items()}


def uncertainties_of(scored: Scored, values: Values, draws: ScoreDraws, table: ScoringTable) -> dict[str, Uncertainty]:
    """The uncertainty of each score that has a number, and draws of which a fifth at most have none.

    An interval holds its score and is within the score's limits. A score with infinite draws has no uncertainty.
    """
    limits = table.limits
    uncertainties = {}
    for name, replicates in draws.replicates.items():
        shown = scored.scores[name].value if name in scored.scores else None
        if shown is None or np.isnan(replicates).mean() > MOST_UNDEFINED:
            continue
        original = table.rules[name].original
        about = None if original is None else values[original].uncertainty
        if about is not None:
            uncertainties[name] = about
            continue
        ends = limits.get(name, WITHOUT)
        about = _uncertainty(shown, replicates, draws.low[name], draws.high[name], draws.points[name], ends)
        if about is not None:
            uncertainties[name] = about
    return uncertainties


def _uncertainty(
    shown: float, replicates: Floats, low: Floats, high: Floats, points: Floats, limits: tuple[float, float]
) -> Uncertainty | None:
    """The uncertainty of one score; None with a draw that is infinite within the score's limits, or too few draws."""
    cut = np.clip(replicates[~np.isnan(replicates)], *limits)
    tail = (1 - LEVEL) / 2
    least, most = (np.clip(column[~np.isnan(column)], *limits) for column in (low, high))
    if not all(len(column) > 1 and np.isfinite(column).all() for column in (cut, least, most)):
        return None
    debiased, fair, fair_high = (None if np.isnan(x) else float(x) for x in np.clip(points, *limits))
    numbers = [min(float(np.quantile(least[1:], tail, method=_EXACT)), float(least[0]), shown)]
    numbers += [max(float(np.quantile(most[1:], 1 - tail, method=_EXACT)), float(most[0]), shown)]
    numbers += [float(end) for end in np.quantile(cut, [tail, 1 - tail])]
    return Uncertainty(
        unit=UNIT,
        clusters=0,
        resamples=len(replicates),
        undefined=len(replicates) - len(cut),
        error=float(cut.std(ddof=1)),
        low=numbers[0],
        high=numbers[1],
        method="score",
        percentile_low=numbers[2],
        percentile_high=numbers[3],
        debiased=debiased,
        fair=fair,
        fair_high=fair_high,
    )
