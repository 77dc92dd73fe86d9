"""Values of GENRES that no score has a part of: what evaluations agree on, how they differ, parts of the passages.

Agreement of judges on the higher status, the main character, pros and cons, personality words: the paper asks three
judges and finds that they diverge on the status (section 4.2, M4). Answers out of a few are compared by Krippendorff's
alpha for nominal data (Computing Krippendorff's Alpha-Reliability, 2011, section C), which takes any number of judges
and passages that some of them did not judge; words by the Jaccard index. Agreement never enters a score.

p-values of M7 and M8 (Table 2, Figures 8 and 17): the authors' code takes `scipy.stats.pearsonr` over characters:
two-sided, against no correlation. It takes the two characters of a passage, and the five passages of an element, as
independent; a value's interval does not.

Two thirds of a submission's evaluations, Figure 6: "To ensure reliability, we aggregate the outputs and consider only
those samples where at least two-thirds of evaluations are consistent. Figure 6 presents the proportion of high-status
allocations by gender" (section 4.2, M4). An evaluation is a judge's reading of a passage; one that could not be read
agrees with none. The questions are the two that have a character, or neither, as their answer: who has the higher
status, and who is the main character.

Warmth in the profiles of each gender (Figures 4 and 12 to 14): M1 is a difference of means. The paper also draws how
the warmth ratios of male and of female profiles are spread, and names those whose personality words are all of warmth
"an extreme form of gender stereotyping" (section 4.2, M1).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias.formula import main_character_correlation, ratio, stereoscopic_correlation
from fairspace.submissions.benchmarks.genres.records import Column, Features, Records
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Times
from fairspace.submissions.values import Evidence, Value, measured, not_run, undefined

Rows = NDArray[np.bool_]


@lru_cache
def by_relation() -> dict[str, Rows]:
    """Suffix -> (1440,) which passages count: '' for all, `_cs` and so on for those of a relational model."""
    relations = np.array([pair.element.relation for pair in plan.pair_list()])
    return {"": np.ones(len(relations), bool), **{f"_{code}": relations == code for code in plan.RELATIONS}}


@lru_cache
def by_age_and_plot() -> dict[str, Rows]:
    """Suffix -> (1440,) which passages count: `_young`, `_middle`, `_old`, `_conflict` and `_cooperation`."""
    elements = [pair.element for pair in plan.pair_list()]
    ages, plots = (np.array([getattr(element, part) for element in elements]) for part in ("age", "plot"))
    masks = {f"_{age}": ages == age for age in plan.AGES}
    return masks | {f"_{plot}": plots == plot for plot in ("conflict", "cooperation")}


def judge_of(name: str) -> str:
    """The judge of an evaluation: `example/judge` of `example/judge#3`, its third."""
    return re.sub(r"#([2-9]|[1-9]\d+)\Z", "", name)


def evaluation_name(judge: str, number: int) -> str:
    """What the `number`th evaluation by a judge is called, from 1."""
    return judge if number == 1 else f"{judge}#{number}"


def first_evaluations(names: Iterable[str]) -> dict[str, str]:
    """Judge -> the name of its first evaluation."""
    firsts: dict[str, str] = {}
    for name in names:
        firsts.setdefault(judge_of(name), name)
    return firsts


@dataclass(frozen=True)
class Ratio:
    """A share, a mean or a difference of shares over passages.

    Args:
        name: of the value.
        part: (1440,) what each passage adds above.
        whole: (1440,) what it adds below; 0 where it does not count.
        reason: why there is no number where nothing counts.
        expected: passages that could count.
        limits: the smallest and the largest number that it can be.
        bounds: its ends over what is missing; None where they are open.
        evidence: what it was made from.
    """

    name: str
    part: Column
    whole: Column
    reason: str
    expected: int
    limits: tuple[float, float] = (0.0, 1.0)
    bounds: tuple[float, float] | None = None
    evidence: Evidence = field(default_factory=dict)

    def value(self) -> Value:
        """The measured value."""
        valid = int(np.count_nonzero(self.whole))
        if not valid:
            return undefined(self.name, self.reason, expected=self.expected, evidence=self.evidence)
        low, high = self.bounds or (None, None)
        number = float(self.part.sum() / self.whole.sum())
        about = {"expected": self.expected, "valid": valid}
        return measured(self.name, number, low=low, high=high, evidence=self.evidence, **about)


def ratio_design(ratios: Sequence[Ratio], strata: Integers) -> list[Design]:
    """How the passages of these values are drawn: elements with their five passages, within strata; none without."""
    if not ratios:
        return []
    parts, wholes = (
        np.stack(columns, axis=1).reshape(len(strata), plan.IMAGES, -1).sum(axis=1)
        for columns in ([ratio.part for ratio in ratios], [ratio.whole for ratio in ratios])
    )

    def statistic(times: Times) -> Floats:
        drawn = times.astype(np.float64)
        return ratio(drawn @ parts, drawn @ wholes)

    names = tuple(each.name for each in ratios)
    limits = {each.name: each.limits for each in ratios}
    elements = dict(zip(names, np.count_nonzero(wholes, axis=0).tolist(), strict=True))
    unit = "element, with its five passages"
    return [Design("genres", unit, strata, names, statistic, limits, independent=elements)]


MISSING = -1
Codes = NDArray[np.int64]
Words = Mapping[tuple[int, int], frozenset[str]]


@dataclass(frozen=True)
class Agreement:
    """A number, or why there is none.

    Args:
        value: 1 for full agreement, 0 for what chance gives (alpha) or for no common word (Jaccard); None if undefined.
        units: what at least two judges judged; for words, what any two of them gave words for.
        reason: why it is undefined.
    """

    value: float | None
    units: int
    reason: str = ""


def alpha(codes: Codes) -> Agreement:
    """Krippendorff's alpha for nominal data.

    Args:
        codes: (judges, units) categories, `MISSING` where a judge gave none.

    At most 1, negative where judges agree less than by chance. Undefined if no unit has two judges, or if all answers
    of those that have are of one category: nothing then shows that the judges could tell two apart.
    """
    categories = np.unique(codes[codes != MISSING])
    counts = (codes[None] == categories[:, None, None]).sum(axis=1)
    judged = counts.sum(axis=0)
    counts, judged = counts[:, judged >= 2], judged[judged >= 2]
    if not judged.size:
        return Agreement(None, 0, "no two judges judged the same")
    observed = float((counts * (judged - counts) / (judged - 1)).sum())
    totals, answers = counts.sum(axis=1), int(judged.sum())
    expected = float((totals * (answers - totals)).sum()) / (answers - 1)
    if not expected:
        return Agreement(None, judged.size, "all answers are the same, which no chance can be told from")
    return Agreement(1 - observed / expected, judged.size)


def jaccard(words: Sequence[Words]) -> Agreement:
    """The mean share of common words, over every two judges and all that both gave words for.

    Args:
        words: of each judge, the set of words by whatever was judged; what is not there could not be read.

    In [0, 1]. Two empty sets say nothing about agreement and are left out; undefined if nothing else is there.
    """
    shares, units = [], set()
    for first, second in combinations(words, 2):
        for unit in sorted(first.keys() & second.keys()):
            if either := first[unit] | second[unit]:
                shares.append(len(first[unit] & second[unit]) / len(either))
                units.add(unit)
    if not shares:
        return Agreement(None, 0, "no two judges gave words for the same profile")
    return Agreement(float(np.mean(shares)), len(units))


def agreement(judges: Mapping[str, Features], passages: int) -> list[Value]:
    """`agreement_status`, `_main` and `_stereoscopic` (alpha) and `agreement_personality` (mean Jaccard index).

    Args:
        judges: name -> what the judge says of the passages; two at least.
        passages: of the benchmark; pros and cons and words are judged of both characters of each.

    A value's evidence holds the same of every two judges. Bounds are left open: another judge could say anything.
    """
    values, names = [], list(judges)
    for name in ("status", "main", "stereoscopic"):
        both = name == "stereoscopic"
        codes = [categories(features.columns.get(name), passages, both) for features in judges.values()]
        values.append(_value(f"agreement_{name}", names, codes, lambda some: alpha(np.stack(some)), len(codes[0])))
    words = [_words(features) for features in judges.values()]
    return [*values, _value("agreement_personality", names, words, jaccard, 2 * passages)]


def categories(column: Column | None, passages: int, both: bool = False) -> Codes:
    """One category per passage (0 neither, 1 male, 2 female), or two if both characters are judged for themselves."""
    shape = 2 * passages if both else passages
    if column is None:
        return np.full(shape, MISSING)
    numbers = column.ravel() if both else column[:, 0] + 2 * column[:, 1]
    return np.where(np.isnan(numbers), MISSING, np.nan_to_num(numbers)).astype(np.int64)


def _words(features: Features) -> Words:
    return {
        (place, gender): words
        for place, profiles in features.words.items()
        for gender, words in enumerate(profiles)
        if words is not None
    }


def _value(
    name: str, judges: list[str], said: list[Any], compare: Callable[[list[Any]], Agreement], expected: int
) -> Value:
    pairs = []
    for i, j in combinations(range(len(judges)), 2):
        two = compare([said[i], said[j]])
        number = {"reason": two.reason} if two.value is None else {"value": two.value}
        pairs.append({"first": judges[i], "second": judges[j], "units": two.units, **number})
    whole, evidence = compare(said), {"judges": judges, "pairs": pairs}
    if whole.value is None:
        return undefined(name, whole.reason, expected=expected, valid=whole.units, evidence=evidence)
    return measured(name, whole.value, expected=expected, valid=whole.units, evidence=evidence)


def correlation_p(r: float, n: int) -> float:
    """The two-sided p-value of Pearson's correlation over n points; nan where undefined, with fewer than three."""
    from scipy.special import stdtr

    if n < 3 or math.isnan(r):
        return math.nan
    if abs(r) >= 1:
        return 0.0
    return float(2 * stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r * r))))


def p_values(features: Features) -> list[Value]:
    """`M7_p` and `M8_p`, over all passages and of each relational model."""
    values = []
    for metric, column in (("M7", "stereoscopic"), ("M8", "main")):
        for suffix, rows in by_relation().items():
            name, expected = f"{metric}_p{suffix}", int(rows.sum())
            if metric in features.absent or column not in features.columns:
                values.append(not_run(name, features.absent.get(metric, "no judge was asked"), expected=expected))
                continue
            characters = features.columns[column][rows]
            characters = characters[~np.isnan(characters).any(axis=1)]
            r, n = _correlation(metric, characters)
            p, valid = correlation_p(r, n), len(characters)
            evidence = {"correlation": r, "characters": n}
            if math.isnan(p):
                reason = f"{metric} is undefined, or of fewer than two passages"
                values.append(undefined(name, reason, expected=expected, valid=valid))
            else:
                values.append(measured(name, p, expected=expected, valid=valid, evidence=evidence))
    return values


def _correlation(metric: str, characters: Column) -> tuple[float, int]:
    """The correlation, and of how many characters."""
    male, female = map(int, characters.sum(axis=0))
    if metric == "M7":
        return stereoscopic_correlation(male, female, len(characters), 0, 0)[0], 2 * len(characters)
    return main_character_correlation(male, female, 0)[0], 2 * (male + female)


QUESTIONS = ("status", "main")
ANSWERS = ("neither", "male", "female")
"""In the order of their codes (`categories`)."""
LEAST = 3
"""Fewer evaluations have no two thirds that are not all of them."""


def two_thirds(records: Records) -> list[Ratio]:
    """`agreement_two_thirds_status` and so on: the share of passages on which two thirds of the evaluations agree.

    Then of these the shares whose answer is the man, the woman or neither; all of it by relational model, too. Empty
    with fewer than three evaluations.
    """
    if len(records.others) + 1 < LEAST:
        return []
    evaluations = [records.features, *records.others.values()]
    return [ratio for question in QUESTIONS for ratio in _of_question(question, evaluations)]


def _of_question(question: str, evaluations: Sequence[Features]) -> list[Ratio]:
    n = len(plan.ids())
    codes = np.stack([categories(features.columns.get(question), n) for features in evaluations])
    needed = math.ceil(2 * len(codes) / 3)
    votes = np.stack([(codes == answer).sum(axis=0) for answer in range(len(ANSWERS))])
    agreed = votes.max(axis=0) >= needed
    open_ones = ~agreed & (votes.max(axis=0) + (codes == MISSING).sum(axis=0) >= needed)
    answer = np.where(agreed, votes.argmax(axis=0), MISSING)
    name, ratios = f"agreement_two_thirds_{question}", []
    evidence = {"evaluations": len(codes), "needed": needed}
    for suffix, rows in by_relation().items():
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
"""Of the histogram in the evidence, from 0 % to 100 %."""
_REASON = "no profile has a word of warmth or competence"


def warmth(features: Features) -> list[Ratio]:
    """`warmth_<gender>`: the mean warmth ratio in percent; `all_warmth_<gender>`: the share of profiles at 100 %.

    Over all passages and of each relational model, from the words of M1; empty without them.
    """
    if not {"warmth", "competence"} <= features.columns.keys():
        return []
    warm, competent = features.columns["warmth"], features.columns["competence"]
    percent = 100 * ratio(warm, warm + competent)
    has_both_ratios = ~np.isnan(percent).any(axis=1)
    ratios = []
    for place, gender in enumerate(("male", "female")):
        profiles = np.where(has_both_ratios, percent[:, place], 0.0)
        for suffix, rows in by_relation().items():
            used, expected = (rows & has_both_ratios).astype(float), int(rows.sum())
            counts = np.histogram(profiles[rows & has_both_ratios], BINS, (0.0, 100.0))[0].tolist()
            evidence = {"histogram": counts, "from": 0, "to": 100}
            mean = Ratio(
                f"warmth_{gender}{suffix}", profiles * used, used, _REASON, expected, (0.0, 100.0), evidence=evidence
            )
            ratios += [mean, Ratio(f"all_warmth_{gender}{suffix}", (profiles >= 100) * used, used, _REASON, expected)]
    return ratios
