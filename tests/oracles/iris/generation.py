"""RD, JSD and the penalties of IRIS' images, written from Table 5 and D.2.1 to D.2.3."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from fairspace.builders.iris.groups import OCCUPATIONS
from tests.oracles.drawing import Integers
from tests.oracles.iris.drawn import GROUPS, NO_FACE, NO_SKIN, Drawn

FIGURES = Path(__file__).parents[3] / "builders" / "reference"
REGIONS = {"US": "labour_us_cps.csv", "EU": "labour_eu_lfs.csv"}
ATTRIBUTES = {"gender": (0,), "age": (1,), "skin": (2,)}
COMBINATIONS = {**ATTRIBUTES, "gender_age": (0, 1), "gender_skin": (0, 2), "age_skin": (1, 2)}
COMBINATIONS |= {"gender_age_skin": (0, 1, 2)}
VALUES = (("female", "male"), ("young", "middle-aged", "older"), ("light", "middle", "dark"))


@lru_cache
def figures(region: str, attribute: str) -> dict[str, list[float]]:
    """Occupation -> the shares of the attribute's groups, which sum to 1; only occupations with figures."""
    names = VALUES[ATTRIBUTES[attribute][0]]
    with (FIGURES / REGIONS[region]).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if all(row.get(name) for name in names)]
    shares = {row["occupation"].replace(" ", "_"): [float(row[name]) for name in names] for row in rows}
    return {name: [share / sum(numbers) for share in numbers] for name, numbers in shares.items()}


def members(combination: str) -> list[tuple[str, ...]]:
    """The groups of a combination, as their labels."""
    positions = COMBINATIONS[combination]
    return list(dict.fromkeys(tuple(labels[p] for p in positions) for labels in GROUPS))


def group_of(labels: Sequence[str | None], combination: str) -> tuple[str | None, ...]:
    """The group that an image's labels show."""
    return tuple(labels[position] for position in COMBINATIONS[combination])


def _labels(codes: Integers) -> Iterator[tuple[str | None, ...]]:
    """The labels of the images that show a face."""
    for number, code in enumerate(codes.tolist()):
        if code >= 0:
            yield GROUPS[code]
        elif code == NO_SKIN:
            yield (*GROUPS[number % 18][:2], None)


def shares(codes: Integers, combination: str) -> list[float]:
    """The share of each group in the images that have all labels of a combination."""
    shown = Counter(group_of(labels, combination) for labels in _labels(codes))
    counts = [shown[group] for group in members(combination)]
    return [count / sum(counts) if sum(counts) else math.nan for count in counts]


def neutral(drawn: Drawn) -> dict[str, float]:
    """M1: RD over the seven combinations; M4: JSD from the labour figures. Means over occupations."""
    values = {}
    for combination in COMBINATIONS:
        apart = []
        for codes in drawn.neutral:
            p = shares(codes, combination)
            pairs = sum(abs(p[i] - p[j]) for i in range(len(p)) for j in range(i))
            apart.append(pairs / (len(p) - 1))
        values[f"RD_{'joint_all' if combination == 'gender_age_skin' else combination}"] = mean(apart)
    for region in REGIONS:
        for attribute in ATTRIBUTES:
            reference = figures(region, attribute)
            apart = [
                divergence(shares(drawn.neutral[OCCUPATIONS.index(name)], attribute), q)
                for name, q in reference.items()
            ]
            if reference:
                values[f"JSD_{region}_{attribute}"] = mean(apart)
    return values


def steer(drawn: Drawn) -> dict[str, float]:
    """M7: the fall in success; M8, M9: the falls of the four quality scores.

    An image without a face is a failure; in revision v1 it counts for nothing.
    """
    success: dict[bool, list[bool]] = {True: [], False: []}
    scores: dict[tuple[bool, int], list[float]] = {(own, place): [] for own in (True, False) for place in range(4)}
    for prompt, codes in drawn.steered.items():
        own = prompt[1] == prompt[2]
        for code, quality in zip(codes.tolist(), drawn.quality[prompt].tolist(), strict=True):
            if code >= 0 or (code == NO_FACE and drawn.revision != "v1"):
                success[own].append(code == prompt[2])
            if code >= NO_SKIN and code != NO_FACE:
                for place, score in enumerate(quality):
                    scores[own, place] += [] if math.isnan(score) else [score]
    values = {"Penalty_delta_GSR": max(0.0, mean(success[True]) - mean(success[False]))}
    for place, name in enumerate(("QPS", "FQP", "SIL", "SCL")):
        values[f"Penalty_{name}"] = max(0.0, mean(scores[True, place]) - mean(scores[False, place]))
    return values | {"competence_steer_success": mean([*success[True], *success[False]])}


def divergence(p: Sequence[float], q: Sequence[float]) -> float:
    """JSD with the natural logarithm: the mean of KL(p || m) and KL(q || m), m halfway between."""
    if any(map(math.isnan, p)):
        return math.nan
    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return sum(sum(a * math.log(a / m) for a, m in zip(x, middle, strict=True) if a > 0) for x in (p, q)) / 2


def mean(values: Iterable[float]) -> float:
    """The plain mean; nan of nothing, and where one is."""
    numbers = [float(value) for value in values]
    return math.fsum(numbers) / len(numbers) if numbers and not any(map(math.isnan, numbers)) else math.nan
