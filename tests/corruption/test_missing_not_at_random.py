"""Bounds hold the truth where what is missing depends on what it would have said: nothing is assumed about it.

Each simulation draws whole data, takes its value as the truth, hides samples with a probability that hangs on the group
and the answer (up to all of the unfavourable ones), and asks whether the bounds of what is left hold the truth. The
value of what is left alone must miss it by far somewhere, or the simulation would show nothing.
"""

from collections.abc import Callable

import numpy as np
import pytest

from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity
from fairspace.metrics.answer_consistency_difference.formula import answer_consistency_difference
from fairspace.metrics.counter_stereotype_penalty.formula import counter_stereotype_penalty
from fairspace.metrics.distribution_divergence.formula import distribution_divergence
from fairspace.metrics.fact_or_fair.formula import entropy_score, factuality, fairness_score, kld_score
from fairspace.metrics.generation_success_penalty.formula import generation_success_penalty
from fairspace.metrics.genres_bias.formula import status_difference, subject_sentence_difference
from fairspace.metrics.hallucination_inconsistency.formula import hallucination_inconsistency
from fairspace.metrics.representation_disparity.formula import representation_disparity
from fairspace.metrics.statistical_parity_difference.formula import statistical_parity_difference
from fairspace.metrics.stereotype_drift.formula import stereotype_drift
from fairspace.metrics.stereotypical_association.formula import stereotypical_association

Triple = tuple[float, float, float]
Simulation = Callable[[np.random.Generator], tuple[float, Triple]]
RUNS = 150


def hidden(rng: np.random.Generator, unfavourable: np.ndarray) -> np.ndarray:
    """Which samples are missing: unfavourable ones often, others seldom, in a measure that is drawn."""
    often, seldom = rng.uniform(0.3, 1.0), rng.uniform(0.0, 0.2)
    return rng.random(len(unfavourable)) < np.where(unfavourable, often, seldom)


def triple(found: tuple[object, object, object]) -> Triple:
    value, low, high = (float(np.asarray(part)) for part in found)
    return value, low, high


def representation(rng: np.random.Generator) -> tuple[float, Triple]:
    shown = rng.choice(6, size=160, p=rng.dirichlet(np.ones(6)))
    gone = hidden(rng, shown == np.bincount(shown, minlength=6).argmax())
    whole, left = np.bincount(shown, minlength=6), np.bincount(shown[~gone], minlength=6)
    return triple(representation_disparity(whole))[0], triple(representation_disparity(left, gone.sum()))


def divergence(rng: np.random.Generator) -> tuple[float, Triple]:
    shown, reference = rng.choice(3, size=160, p=rng.dirichlet(np.ones(3))), rng.dirichlet(np.ones(3))
    gone = hidden(rng, shown == rng.integers(3))
    whole, left = np.bincount(shown, minlength=3), np.bincount(shown[~gone], minlength=3)
    found = distribution_divergence(left, reference, gone.sum())
    return triple(distribution_divergence(whole, reference))[0], triple(found)


def accuracy(rng: np.random.Generator) -> tuple[float, Triple]:
    group = np.arange(300) % 3
    right = rng.random(300) < rng.random(3)[group]
    gone = hidden(rng, ~right & (group == rng.integers(3)))

    def gap(kept: np.ndarray) -> Triple:
        yes, no, lost = (np.bincount(group[m], minlength=3) for m in (kept & right, kept & ~right, ~kept))
        return accuracy_disparity(yes, no, np.zeros(3), lost)

    return gap(np.ones(300, bool))[0], gap(~gone)


def parity(rng: np.random.Generator) -> tuple[float, Triple]:
    group, said = np.arange(300) % 3, np.zeros(300, int)
    for g in range(3):
        said[group == g] = rng.choice(4, size=100, p=rng.dirichlet(np.ones(4)))
    gone = hidden(rng, (said == 0) & (group == 0))

    def gap(kept: np.ndarray) -> Triple:
        table = np.bincount(group[kept] * 4 + said[kept], minlength=12).reshape(3, 4)
        return statistical_parity_difference(table, np.zeros(3), np.bincount(group[~kept], minlength=3))

    return gap(np.ones(300, bool))[0], gap(~gone)


def drift(rng: np.random.Generator) -> tuple[float, Triple]:
    kinds = rng.uniform(-1, 1, 8)
    kind, wrong = rng.integers(8, size=200), rng.random(200) < 0.6
    gone = hidden(rng, wrong & (kinds[kind] > 0))
    whole, left = (np.bincount(kind[m], minlength=8) for m in (wrong, wrong & ~gone))
    open_ones = (np.full(1, kinds.min()), np.full(1, kinds.max()), np.array([gone.sum()]))
    return stereotype_drift(kinds, whole)[0], stereotype_drift(kinds, left, *open_ones)


def success(rng: np.random.Generator) -> tuple[float, Triple]:
    counter, chance = np.arange(600) % 6 > 0, rng.random(2)
    done = rng.random(600) < chance[counter.astype(int)]
    gone = hidden(rng, counter & ~done)

    def gap(kept: np.ndarray) -> Triple:
        kinds = [((kept & done & m).sum(), (kept & m).sum(), (~kept & m).sum()) for m in (~counter, counter)]
        return generation_success_penalty(*kinds[0], *kinds[1])

    return gap(np.ones(600, bool))[0], gap(~gone)


def penalty(rng: np.random.Generator) -> tuple[float, Triple]:
    counter, score = np.arange(600) % 6 > 0, rng.beta(rng.uniform(0.5, 4), rng.uniform(0.5, 4), size=600)
    gone = hidden(rng, counter & (score < 0.5))

    def gap(kept: np.ndarray) -> Triple:
        kinds = [(score[kept & m].sum(), (kept & m).sum(), (~kept & m).sum()) for m in (~counter, counter)]
        return counter_stereotype_penalty(*kinds[0], *kinds[1], 0.0, 1.0)

    return gap(np.ones(600, bool))[0], gap(~gone)


def consistency(rng: np.random.Generator) -> tuple[float, Triple]:
    difference = rng.integers(0, rng.integers(2, 11), size=200).astype(float)
    gone = hidden(rng, difference > 1)
    found = answer_consistency_difference(difference[~gone].sum(), (~gone).sum(), gone.sum())
    return float(difference.mean()), found


def hallucination(rng: np.random.Generator) -> tuple[float, Triple]:
    differs = rng.random(200) < rng.random()
    gone = hidden(rng, differs)
    return float(differs.mean()), hallucination_inconsistency(differs[~gone].sum(), (~gone).sum(), gone.sum())


def facts(rng: np.random.Generator) -> tuple[float, Triple]:
    right = rng.random(200) < rng.random()
    gone = hidden(rng, ~right)
    return float(right.mean()), factuality((right & ~gone).sum(), (~gone).sum(), gone.sum())


def fair(rng: np.random.Generator) -> tuple[float, Triple]:
    cell, said = np.arange(2000) % 10, np.zeros(2000, int)
    for c in range(10):
        said[cell == c] = rng.choice(4, size=200, p=rng.dirichlet(np.full(4, 3.0)))
    gone = hidden(rng, said == 0)

    def score(kept: np.ndarray) -> Triple:
        counts = np.bincount(cell[kept] * 4 + said[kept], minlength=40).reshape(5, 2, 4)
        lost = np.bincount(cell[~kept], minlength=10).reshape(5, 2)
        return fairness_score(entropy_score(counts, lost), kld_score(counts, lost))

    return score(np.ones(2000, bool))[0], score(~gone)


def association(rng: np.random.Generator) -> tuple[float, Triple]:
    instance, chosen = np.arange(300) % 5, np.zeros(300, int)
    for i in range(5):
        chosen[instance == i] = rng.choice(2, size=60, p=rng.dirichlet(np.ones(2)))
    gone = hidden(rng, chosen == 0)

    whole = np.bincount(instance * 2 + chosen, minlength=10).reshape(5, 2)
    answered = stereotypical_association(whole, np.zeros((5, 1)), np.ones((1, 2), bool))
    wins = np.bincount(instance[~gone] * 2 + chosen[~gone], minlength=10).reshape(5, 2)
    found = stereotypical_association(wins, np.bincount(instance[gone], minlength=5)[:, None], np.ones((1, 2), bool))
    return answered.score[0], found.score


def status(rng: np.random.Generator) -> tuple[float, Triple]:
    who = rng.choice(3, size=300, p=rng.dirichlet(np.ones(3)))  # male, female, neither
    gone = hidden(rng, who == 0)
    whole, left = np.bincount(who, minlength=3), np.bincount(who[~gone], minlength=3)
    return status_difference(whole[0], whole[1], 0)[0], status_difference(left[0], left[1], int(gone.sum()))


def subjects(rng: np.random.Generator) -> tuple[float, Triple]:
    male, female = rng.poisson(rng.uniform(3, 12, 2)[:, None], (2, 200))
    gone = hidden(rng, male > female)
    found = subject_sentence_difference(male[~gone], female[~gone], int(gone.sum()))
    return subject_sentence_difference(male, female, 0)[0], found


SIMULATIONS: tuple[Simulation, ...] = (
    *(representation, divergence, accuracy, parity, drift, success, penalty, consistency, hallucination),
    *(facts, fair, association, status, subjects),
)


@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda simulation: simulation.__name__)
def test_bounds_hold_the_truth_where_the_value_of_what_is_left_does_not(simulation: Simulation) -> None:
    rng = np.random.default_rng(7)
    largest = 0.0
    for _ in range(RUNS):
        truth, (value, low, high) = simulation(rng)
        if np.isnan(truth):
            continue
        assert low - 1e-9 <= truth <= high + 1e-9
        if not np.isnan(value):
            largest = max(largest, abs(value - truth) / max(abs(truth), 0.05))
    assert largest > 0.1
