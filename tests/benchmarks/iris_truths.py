"""Models of IRIS with known true values, for coverage simulations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from fairspace.builders.iris.groups import (
    COMBINATIONS,
    GROUP_NAMES,
    GROUPS,
    OCCUPATIONS,
    REGIONS,
    combination_codes,
    combination_size,
    group_attributes,
    shares,
)
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.columns import Floats
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.metrics.representation_disparity.formula import disparity
from fairspace.metrics.resampling import Sample
from fairspace.submissions.benchmarks.iris.answer_quantities import (
    occupation_design,
    pair_design,
    tournament_design,
    tournament_name,
)
from fairspace.submissions.benchmarks.iris.image_quantities import PENALTIES, indicator, neutral_design, steer_design
from fairspace.submissions.benchmarks.iris.records import QUALITY, PairAnswers
from fairspace.submissions.format.schema import RANGES

_K, _G = len(OCCUPATIONS), len(GROUPS)
_MERGE = {
    name: indicator(combination_codes(group_attributes(np.arange(_G)), name), combination_size(name))
    for name in COMBINATIONS
}
LEVELS = {c: f"{('single', 'dual', 'triple')[len(p) - 1]}_{c}" for c, p in COMBINATIONS.items()}
LEVELS["gender_age_skin"] = "triple_joint_all"
_US = shares(REGIONS[0])["gender"][:, 0]
FEMALE = np.where(np.isnan(_US), 0.5, _US)
"""Share of women by occupation, one half where the region has no figure."""


@dataclass(frozen=True)
class Truth:
    """One task of a model with its true values; `sample` draws a submission's design at the protocol's size."""

    name: str
    values: Mapping[str, float]
    sample: Callable[[np.random.Generator], Sample]


def _choices(rng: np.random.Generator, shares_of: Floats) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """(n,) one code of each row of (n, k) shares."""
    return np.asarray((shares_of.cumsum(axis=1) < rng.random((len(shares_of), 1)) * 0.9999999).sum(axis=1))


def neutral(name: str, groups: Floats) -> Truth:
    values = {
        f"RD_{'joint_all' if c == 'gender_age_skin' else c}": float(disparity(groups @ m).mean())
        for c, m in _MERGE.items()
    }
    values |= _divergences(groups, lambda attribute, code: f"JSD_{code}_{attribute}")

    def sample(rng: np.random.Generator) -> Sample:
        return neutral_design(group_attributes(_choices(rng, np.repeat(groups, iris_gen_52.IMAGES, axis=0))))

    return Truth(name, values, sample)


def _divergences(weights: Floats, name: Callable[[str, str], str]) -> dict[str, float]:
    found = {}
    for region in REGIONS:
        for attribute, reference in shares(region).items():
            rows = ~np.isnan(reference).any(axis=1)
            p = (weights @ _MERGE[attribute])[rows]
            found[name(attribute, region.code)] = float(
                divergence(p / p.sum(axis=1, keepdims=True), reference[rows]).mean()
            )
    return found


def steer(name: str, gap: float) -> Truth:
    """Success of 0.6 and scores in the middle of their range; `gap` of the range less for counter-stereotypes."""
    width = np.array([1.0, *(high - low for low, high in (RANGES[c] for c in QUALITY.values()))])
    least = np.array([0.0, *(RANGES[c][0] for c in QUALITY.values())])
    prompt = np.arange(6 * iris_steer_60.STEREOTYPES * iris_steer_60.IMAGES) // iris_steer_60.IMAGES
    mean = np.where(prompt % 6 == 0, 0.6, 0.6 - gap)

    def sample(rng: np.random.Generator) -> Sample:
        scores = rng.beta(8 * mean[:, None], 8 * (1 - mean[:, None]), size=(len(mean), len(width)))
        scores[:, 0] = rng.random(len(mean)) < mean
        return steer_design(least + width * scores)

    return Truth(name, dict(zip(PENALTIES, (gap * width).tolist(), strict=True)), sample)


def occupation(name: str, accuracy: Floats, wrong: Floats) -> Truth:
    """Right with the (18,) accuracy of the image's group; wrong answers follow (52, 52) shares by true occupation."""
    wrong = wrong * (1 - np.eye(_K))
    wrong /= wrong.sum(axis=1, keepdims=True)
    said = accuracy[:, None, None] * np.eye(_K) + (1 - accuracy[:, None, None]) * wrong
    values = {}
    for c, merge in _MERGE.items():
        weight = merge.T / merge.sum(axis=0)[:, None]
        values[f"AD_{LEVELS[c]}"] = float(np.ptp(weight @ accuracy))
        values[f"SPD_{LEVELS[c]}"] = float(np.ptp(weight @ said.mean(axis=1), axis=0).max())
    mass = said.mean(axis=0) * (1 - np.eye(_K))
    for region in REGIONS:
        for attribute, reference in shares(region).items():
            rows = ~np.isnan(reference).any(axis=1)
            part = mass[np.ix_(rows, rows)]
            for group, label in enumerate(GROUP_NAMES[attribute]):
                share = reference[rows, group]
                drift = (part * (share[None, :] - share[:, None])).sum() / part.sum()
                values[f"AbsSDS_{attribute}_{label}_{region.code}"] = abs(float(drift))
    truth, groups = iris_ideal_52.image_cells()

    def sample(rng: np.random.Generator) -> Sample:
        right = rng.random(len(truth)) < accuracy[groups]
        return occupation_design(np.where(right, truth, _choices(rng, wrong[truth])))

    return Truth(name, values, sample)


def tournament(name: str, strength: Floats) -> Truth:
    """A round is won in proportion to the (18, 52) strengths of its competitors for its profile."""
    competitors = iris_ideal_52.tournament_competitors()
    profile = np.arange(len(competitors)) // iris_ideal_52.ROUNDS
    chance = strength[profile[:, None], competitors]
    chance = chance / chance.sum(axis=1, keepdims=True)
    wins = np.zeros((_K, _G))
    np.add.at(wins, (competitors, profile[:, None]), chance)
    values = _divergences(wins, tournament_name)

    def sample(rng: np.random.Generator) -> Sample:
        return tournament_design(competitors[np.arange(len(competitors)), _choices(rng, chance)])

    return Truth(name, values, sample)


def pair_answers(ratings: Floats, correct: Floats) -> PairAnswers:
    """Answers to the shipped pairs without a refusal, each with its label."""
    plan, labelled = iris_steer_60.pairs(), ~np.isnan(correct)
    refused = np.zeros((*ratings.shape[:2], ratings.shape[2] + correct.shape[2]), np.bool_)
    return PairAnswers(ratings, correct, labelled, refused, plan.groups, plan.combination)


def pairs(name: str, moved: float, consistent: float) -> Truth:
    """A pair's ratings differ by 1 with chance `moved`; its answers are right with a chance of the pair's own."""
    values = {f"ac_diff_{c}": moved for c in COMBINATIONS}
    a, b = 4 * consistent, 4 * (1 - consistent)
    values |= {f"dhr_inconsistency_{c}": 2 * a * b / ((a + b) * (a + b + 1)) for c in COMBINATIONS}

    def sample(rng: np.random.Generator) -> Sample:
        first = rng.integers(2, 9, size=(iris_steer_60.PAIRS, 9)).astype(float)
        ratings = np.stack([first, first + (rng.random(first.shape) < moved)], axis=1)
        right = rng.beta(a, b, size=(iris_steer_60.PAIRS, 1, 1))
        return pair_design(pair_answers(ratings, (rng.random((iris_steer_60.PAIRS, 2, 8)) < right).astype(float)))

    return Truth(name, values, sample)


def models() -> dict[str, tuple[Truth, ...]]:
    """Models of all five tasks.

    Nearly fair; a gap of one attribute; one rare group; as uneven as published ones; identical samples per item.
    """
    rng = np.random.default_rng(25)
    one = np.zeros(_G)
    one[9] = 1
    rare = np.full(_G, 1 / (_G - 0.9))
    rare[9] = 0.1 / (_G - 0.9)
    listed = np.flatnonzero(
        ~np.any([np.isnan(table).any(axis=1) for region in REGIONS for table in shares(region).values()], axis=0)
    )
    always = np.eye(_K)[np.full(_K, listed[0])]
    always[listed[0]] = np.eye(_K)[listed[1]]
    fixed = np.eye(_G)[rng.integers(0, _G, _K)]
    women = np.arange(_G) < 9
    even = np.full((_K, _G), 1 / _G)
    directed = np.exp(4 * FEMALE)[None, :] * np.ones((_K, 1))
    known = np.where(women[:, None], FEMALE, 1 - FEMALE)
    return {
        "near-fair": (
            neutral("near-fair", even),
            steer("near-fair", 0.0),
            occupation("near-fair", np.full(_G, 0.6), np.ones((_K, _K))),
            tournament("near-fair", np.ones((_G, _K))),
            pairs("near-fair", 0.02, 0.98),
        ),
        "one-sided": (
            neutral("one-sided", 0.7 * even + 0.3 * one),
            steer("one-sided", 0.03),
            occupation("one-sided", np.where(women, 0.57, 0.6), 1 + directed / directed.mean()),
            tournament("one-sided", np.sqrt(known)),
            pairs("one-sided", 0.3, 0.8),
        ),
        "rare group": (
            neutral("rare group", np.tile(rare, (_K, 1))),
            steer("rare group", 0.03),
            occupation("rare group", np.where(np.arange(_G) == 9, 0.45, 0.6), np.ones((_K, _K))),
            tournament("rare group", np.where(np.arange(_G)[:, None] == 9, known, 1.0)),
            pairs("rare group", 0.05, 0.95),
        ),
        "uneven": (
            neutral("uneven", rng.dirichlet(np.full(_G, 0.15), size=_K)),
            steer("uneven", 0.15),
            occupation("uneven", np.clip(rng.normal(0.5, 0.08, _G), 0, 1), directed * rng.gamma(0.3, size=(_K, _K))),
            tournament("uneven", known * rng.gamma(2.0, size=(_G, _K))),
            pairs("uneven", 0.8, 0.6),
        ),
        "deterministic": (
            neutral("deterministic", fixed),
            steer("deterministic", 0.15),
            occupation("deterministic", np.where(women, 1.0, 0.0), always),
            tournament("deterministic", np.exp(200 * known)),
            pairs("deterministic", 1.0, 0.9),
        ),
    }
