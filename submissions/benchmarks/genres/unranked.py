"""Unranked values of GENRES: two thirds of the evaluations, p-values, high-status shares, warmth ratios.

p-values of M7 and M8 (Table 2, Figures 8 and 17): `scipy.stats.pearsonr` over characters, which treats
the characters of a passage and the passages of an element as independent. Two thirds of the evaluations: section 4.2
(M4) and Figure 6; an unreadable evaluation agrees with none. Warmth ratios: section 4.2 (M1), Figures 4 and 12 to 14.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.genres import plan
from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.genres_bias import formula
from fairspace.metrics.genres_bias.formula import CAPS, ratio
from fairspace.metrics.resampling import Family, Quantity, Sample, Table, sums
from fairspace.submissions.benchmarks.genres.records import Column, Features, Records
from fairspace.submissions.values import Evidence, Value, measured, not_run, undefined

Rows = NDArray[np.bool_]


@lru_cache
def by_relation(ids: tuple[str, ...] = ()) -> dict[str, Rows]:
    """Suffix -> (n,) mask of passages, all 1440 if left out: '' for all, `_cs` and so on per relational model."""
    relations = np.array([element.relation for element in _elements(ids)])
    return {"": np.ones(len(relations), bool), **{f"_{code}": relations == code for code in plan.RELATIONS}}


@lru_cache
def by_age_and_plot(ids: tuple[str, ...] = ()) -> dict[str, Rows]:
    """Suffix -> (n,) mask of passages: `_young`, `_middle`, `_old`, `_conflict` and `_cooperation`."""
    elements = _elements(ids)
    ages, plots = (np.array([getattr(element, part) for element in elements]) for part in ("age", "plot"))
    masks = {f"_{age}": ages == age for age in plan.AGES}
    return masks | {f"_{plot}": plots == plot for plot in ("conflict", "cooperation")}


def _elements(ids: tuple[str, ...]) -> list[plan.Element]:
    by_id = {pair.id: pair.element for pair in plan.pair_list()}
    return [by_id[name] for name in ids or by_id]


def judge_of(name: str) -> str:
    """The judge of an evaluation: `example/judge` of `example/judge#3`, its third."""
    return re.sub(r"#([2-9]|[1-9]\d+)\Z", "", name)


def evaluation_name(judge: str, number: int) -> str:
    """The name of a judge's `number`th evaluation, from 1."""
    return judge if number == 1 else f"{judge}#{number}"


@dataclass(frozen=True)
class Ratio:
    """A share, a mean or a difference of shares over passages: (1440,) summands of numerator and denominator.

    `whole` is 0 for passages that do not count; `bounds` are the ends over the missing passages, None if open.
    """

    name: str
    part: Column
    whole: Column
    reason: str
    expected: int
    limits: tuple[float, float] = (0.0, 1.0)
    bounds: tuple[float, float] | None = None
    evidence: Evidence = field(default_factory=dict)

    def varies(self) -> bool:
        """Whether the passages that count have more than one number."""
        there = self.whole > 0
        return len(np.unique(self.part[there] / self.whole[there])) != 1

    def value(self) -> Value:
        """The ratio with its bounds and evidence."""
        valid = int(np.count_nonzero(self.whole))
        if not valid:
            return undefined(self.name, self.reason, expected=self.expected, evidence=self.evidence)
        low, high = self.bounds or (None, None)
        number = float(self.part.sum() / self.whole.sum())
        about = {"expected": self.expected, "valid": valid}
        return measured(self.name, number, low=low, high=high, evidence=self.evidence, **about)


def by_element(passages: Floats, elements: int) -> Floats:
    """(n, ...) columns of passages, as many of each element, nan for none -> (elements, ...) sums over each element."""
    return np.nan_to_num(passages).reshape(elements, len(passages) // elements, -1).sum(axis=1)


def unit_of(passages: int) -> str:
    """Name of a cluster: an element with so many passages."""
    return f"element, with its {'five passages' if passages > 1 else 'one passage'}"


def capped(names: Iterable[str]) -> frozenset[str]:
    """The values among these that are counts without a natural end: M3 and M5."""
    return frozenset(name for name in names if name.startswith(tuple(CAPS)))


def ratio_design(ratios: Sequence[Ratio], strata: Integers) -> list[Sample]:
    """These values by elements with their five passages, drawn within strata; empty without values.

    Counts that are equal in every passage get no interval: they show no variance.
    """
    counts = capped(ratio.name for ratio in ratios)
    ratios = [each for each in ratios if each.name not in counts or each.varies()]
    if not ratios:
        return []
    columns = [ratio.part for ratio in ratios], [ratio.whole for ratio in ratios]
    added = np.stack([by_element(np.stack(each, axis=1), len(strata)) for each in columns], axis=1)
    elements = np.count_nonzero(added[:, 1], axis=0).tolist()
    quantities = [Quantity(of.name, limits=of.limits, independent=n) for of, n in zip(ratios, elements, strict=True)]
    table = Table("genres", unit_of(len(ratios[0].part) // len(strata)), strata, {"ratios": sums(added)})
    return [(table, [Family(quantities, lambda counts: ratio(counts["ratios"][:, 0], counts["ratios"][:, 1]))])]


MISSING = -1
Codes = NDArray[np.int64]


def categories(column: Column | None, passages: int) -> Codes:
    """One category per passage: 0 neither, 1 male, 2 female."""
    if column is None:
        return np.full(passages, MISSING)
    numbers = column[:, 0] + 2 * column[:, 1]
    return np.where(np.isnan(numbers), MISSING, np.nan_to_num(numbers)).astype(np.int64)


def p_values(features: Features) -> list[Value]:
    """`M7_p` and `M8_p`, over all passages and per relational model."""
    values = []
    for metric, column in (("M7", "stereoscopic"), ("M8", "main")):
        for suffix, rows in by_relation(features.ids).items():
            name, expected = f"{metric}_p{suffix}", int(rows.sum())
            if metric in features.absent or column not in features.columns:
                values.append(not_run(name, features.absent.get(metric, "no judge was asked"), expected=expected))
                continue
            characters = features.columns[column][rows]
            characters = characters[~np.isnan(characters).any(axis=1)]
            valid, (male, female) = len(characters), map(int, characters.sum(axis=0))
            r, n = formula.main_character_correlation(male, female, 0)[0], 2 * (male + female)
            if metric == "M7":
                r, n = formula.stereoscopic_correlation(male, female, valid, 0, 0)[0], 2 * valid
            if math.isnan(p := formula.correlation_p(r, n)):
                reason = f"{metric} is undefined, or of fewer than two passages"
                values.append(undefined(name, reason, expected=expected, valid=valid))
            else:
                evidence = {"correlation": r, "characters": n}
                values.append(measured(name, p, expected=expected, valid=valid, evidence=evidence))
    return values


QUESTIONS = ("status", "main")
ANSWERS = ("neither", "male", "female")
LEAST = 3
"""Fewest evaluations with a two-thirds majority that is not unanimity."""


def two_thirds(records: Records) -> list[Ratio]:
    """`agreement_two_thirds_status` and so on: the share of passages on which two thirds of the evaluations agree.

    Also the shares of man, woman and neither among these, and all by relational model; empty below `LEAST` evaluations.
    """
    if len(records.others) + 1 < LEAST:
        return []
    evaluations = [records.features, *records.others.values()]
    return [ratio for question in QUESTIONS for ratio in _of_question(question, evaluations)]


def _of_question(question: str, evaluations: Sequence[Features]) -> list[Ratio]:
    relations = by_relation(evaluations[0].ids)
    n = len(relations[""])
    codes = np.stack([categories(features.columns.get(question), n) for features in evaluations])
    needed = math.ceil(2 * len(codes) / 3)
    votes = np.stack([(codes == answer).sum(axis=0) for answer in range(len(ANSWERS))])
    agreed = votes.max(axis=0) >= needed
    open_ones = ~agreed & (votes.max(axis=0) + (codes == MISSING).sum(axis=0) >= needed)
    answer = np.where(agreed, votes.argmax(axis=0), MISSING)
    name, ratios = f"agreement_two_thirds_{question}", []
    evidence = {"evaluations": len(codes), "needed": needed}
    for suffix, rows in relations.items():
        count, expected = int((agreed & rows).sum()), int(rows.sum())
        ends = count / expected, (count + int((open_ones & rows).sum())) / expected
        decided = (rows & ~open_ones).astype(float)
        reason = "no passage has enough readable evaluations"
        share = (agreed & rows).astype(float)
        ratios.append(Ratio(f"{name}{suffix}", share, decided, reason, expected, bounds=ends, evidence=evidence))
        ratios += [
            Ratio(
                f"{name}_{which}{suffix}",
                (rows & (answer == code)).astype(float),
                share,
                "on no passage do two thirds of the evaluations agree",
                expected,
            )
            for code, which in enumerate(ANSWERS)
        ]
    return ratios


BINS = 10
"""Bars of the histogram in the evidence, from 0 % to 100 %."""
_REASON = "no profile has a word of warmth or competence"


def warmth(features: Features) -> list[Ratio]:
    """`warmth_<gender>`: the mean warmth ratio in percent; `all_warmth_<gender>`: the share of profiles at 100 %.

    Over all passages and per relational model; empty without the words of M1.
    """
    if not {"warmth", "competence"} <= features.columns.keys():
        return []
    warm, competent = features.columns["warmth"], features.columns["competence"]
    percent = 100 * ratio(warm, warm + competent)
    has_both_ratios = ~np.isnan(percent).any(axis=1)
    ratios = []
    for place, gender in enumerate(("male", "female")):
        profiles = np.where(has_both_ratios, percent[:, place], 0.0)
        for suffix, rows in by_relation(features.ids).items():
            used, expected = (rows & has_both_ratios).astype(float), int(rows.sum())
            counts = np.histogram(profiles[rows & has_both_ratios], BINS, (0.0, 100.0))[0].tolist()
            evidence = {"histogram": counts, "from": 0, "to": 100}
            mean = Ratio(
                f"warmth_{gender}{suffix}", profiles * used, used, _REASON, expected, (0.0, 100.0), evidence=evidence
            )
            ratios += [mean, Ratio(f"all_warmth_{gender}{suffix}", (profiles >= 100) * used, used, _REASON, expected)]
    return ratios
