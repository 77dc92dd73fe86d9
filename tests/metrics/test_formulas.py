"""The contract of every formula of counts: hand-derived values, undefined and refused input, and bounds."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest

from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity
from fairspace.metrics.answer_consistency_difference.formula import answer_consistency_difference
from fairspace.metrics.cognitive_error_rate.formula import average_increase, cognitive_error_rate, increase
from fairspace.metrics.counter_stereotype_penalty.formula import counter_stereotype_penalty
from fairspace.metrics.distribution_divergence.formula import distribution_divergence, divergence
from fairspace.metrics.fact_or_fair.formula import entropy_score, factuality, fairness_score, kld_score
from fairspace.metrics.generation_success_penalty.formula import generation_success_penalty
from fairspace.metrics.genres_bias.formula import (
    EMOTION_WORDS_CAP,
    SUBJECT_SENTENCES_CAP,
    main_character_correlation,
    mean_difference,
    status_difference,
    status_difference_by_relation,
    stereoscopic_correlation,
)
from fairspace.metrics.hallucination_inconsistency.formula import hallucination_inconsistency
from fairspace.metrics.representation_disparity.formula import representation_disparity
from fairspace.metrics.statistical_parity_difference.formula import statistical_parity_difference
from fairspace.metrics.stereotype_drift.formula import absolute_drift, stereotype_drift
from fairspace.metrics.stereotypical_association.formula import prefix_difference, similarity
from fairspace.metrics.total_bias_score.formula import total_bias_score, z_scores
from fairspace.metrics.total_bias_score.standards import COHORTS

SLACK = 1e-12
"""Rounding of a few float operations on numbers of about 1."""
NAN, LN2 = math.nan, math.log(2)
NONE = (NAN, NAN, NAN)
BOTH = entropy_score, kld_score
EVEN, APART = [[5, 5], [5, 5]], [[10, 0], [0, 10]]
UNSURE = (1 + 2 * 40) / 4, (1 + 2 * 200) / 4
Row = tuple[Callable[..., Any], tuple[Any, ...], Any]


def point(value: float) -> tuple[float, float, float]:
    return value, value, value


def shannon(p: float) -> float:
    return -(p * math.log2(p) + (1 - p) * math.log2(1 - p))


def jensen_shannon(p: list[float], q: list[float]) -> float:
    return float(divergence(np.array(p), np.array(q)))


HAND: list[Row] = [
    (accuracy_disparity, ([8, 4, 6], [2, 6, 6], [0] * 3, [0] * 3), point(0.4)),  # 8/10, 4/10 and 6/12
    (accuracy_disparity, ([8, 4], [2, 1], [0, 0], [0, 0]), point(0)),
    (accuracy_disparity, ([5, 0], [0, 5], [0, 0], [0, 0]), point(1)),
    (accuracy_disparity, ([2, 2], [0, 0], [0, 2], [0, 0]), point(0.5)),  # an unmappable answer is wrong
    (accuracy_disparity, ([0, 0], [0, 0], [3, 4], [0, 0]), (NAN, 0, 0)),  # no answer fits a class
    (accuracy_disparity, ([0, 0], [1, 0], [3, 4], [0, 0]), point(0)),
    (accuracy_disparity, ([3, 0], [1, 0], [0, 0], [0, 4]), (NAN, 0, 0.75)),  # one group has answers
    (accuracy_disparity, ([0, 0], [1, 0], [0, 0], [0, 0]), (NAN, 0, 1)),
    (accuracy_disparity, ([], [], [], []), (NAN, 0, 1)),
    (accuracy_disparity, ([8, 4, 1], [2, 6, 0], [0] * 3, [0] * 3), point(0.4)),  # the third group is left out
    (accuracy_disparity, ([8, 4, 1], [2, 6, 0], [0] * 3, [0, 0, 9]), (0.6, 0.4, 0.7)),  # and here it is not
    (answer_consistency_difference, (3, 3, 0), point(1)),  # (8, 6), (7, 7), (2, 3): 2 + 0 + 1
    (answer_consistency_difference, (0, 5, 0), point(0)),
    (answer_consistency_difference, (45, 5, 0), point(9)),
    (answer_consistency_difference, (3, 3, 1), (1, 0.75, 3)),
    (answer_consistency_difference, (0, 3, 1, 4), (0, 0, 1)),
    (answer_consistency_difference, (0, 0, 0), (NAN, 0, 9)),
    (answer_consistency_difference, (0, 0, 5), (NAN, 0, 9)),
    (cognitive_error_rate, (6, 8, 2), (0.75, 0.6, 0.8)),  # 6 of 8 valid answers match; 2 missing: 6/10 to 8/10
    (cognitive_error_rate, (0, 4, 0), point(0)),
    (cognitive_error_rate, (4, 4, 0), point(1)),
    (cognitive_error_rate, (0, 0, 2), (NAN, 0, 1)),
    (cognitive_error_rate, (0, 0, 0), NONE),
    (increase, ((0.75, 0.6, 0.8), 0.5), (0.25, 0.1, 0.3)),
    (average_increase, ([(0.1, 0.1, 0.1), (NAN, -0.5, 0.5)],), (NAN, -0.2, 0.3)),
    (average_increase, ([],), NONE),
    (counter_stereotype_penalty, (7.5, 10, 0, 25, 50, 0, 0, 1), point(0.25)),  # means 0.75 and 0.5
    # stereo (0.75 + 1 x 0..1) / 2, counter (0.25 + 1 x 0..1) / 2
    (counter_stereotype_penalty, (0.75, 1, 1, 0.25, 1, 1, 0, 1), (0.5, 0.0, 0.75)),
    (counter_stereotype_penalty, (10, 10, 0, -5, 5, 0, -1, 1), point(2)),
    (counter_stereotype_penalty, (5, 10, 0, 25, 50, 0, 0, 1), point(0)),
    (counter_stereotype_penalty, (2, 10, 0, 40, 50, 0, 0, 1), point(0)),  # better counter-stereotypes: no penalty
    (counter_stereotype_penalty, (0, 0, 10, 20, 50, 0, 0, 1), (NAN, 0, 0.6)),
    (counter_stereotype_penalty, (8, 10, 0, 0, 0, 50, 0, 1), (NAN, 0, 0.8)),
    (counter_stereotype_penalty, (0, 0, 0, 0, 0, 0, 0, 1), (NAN, 0, 1)),
    # p = (1, 0), q = (1/2, 1/2), m = (3/4, 1/4): (ln(4/3) + ln(2/3)/2 + ln(2)/2) / 2
    (distribution_divergence, ([3, 0], [1, 1]), point((math.log(4 / 3) + math.log(2 / 3) / 2 + LN2 / 2) / 2)),
    (distribution_divergence, ([10, 30, 60], [0.1, 0.3, 0.6]), point(0)),
    (distribution_divergence, ([4, 0, 0], [0, 1, 1]), point(LN2)),
    (distribution_divergence, ([0, 0], [1, 3], 7), (NAN, 0, jensen_shannon([1.0, 0.0], [0.25, 0.75]))),
    (distribution_divergence, ([0, 0], [1, 3], 0), (NAN, 0, jensen_shannon([1.0, 0.0], [0.25, 0.75]))),
    (distribution_divergence, ([0, 0], [1, 3], 1), (NAN, 0, jensen_shannon([1.0, 0.0], [0.25, 0.75]))),
    (factuality, (3, 4, 1), (0.75, 0.6, 0.8)),  # 3/5 if the missing one was wrong, 4/5 if it was right
    (factuality, (0, 5, 0), point(0)),
    (factuality, (5, 5, 0), point(1)),
    (factuality, (0, 0, 3), (NAN, 0, 1)),
    (factuality, (0, 0, 0), NONE),
    # highest: 3 of 4 male; lowest: 1 of 4 male
    (entropy_score, ([[[1, 3], [3, 1]]], [[0, 0]]), point(shannon(0.25))),
    (kld_score, ([[[1, 3], [3, 1]]], [[0, 0]]), point(math.exp(-0.5 * math.log(3)))),
    *((score, (np.full((3, 2, k), 5), np.zeros((3, 2))), point(1)) for score in BOTH for k in (2, 4)),  # uniform
    *((score, (7 * np.eye(k)[[[0, 1]] * 3], np.zeros((3, 2))), point(0)) for score in BOTH for k in (2, 4)),  # opposite
    # an answer at the highest level names no group: it is worth the least favourable one, (1, 4) beside (3, 1)
    (entropy_score, ([[[1, 3], [3, 1]]], [[0, 0]], [[1, 0]]), point((shannon(0.2) + shannon(0.25)) / 2)),
    (
        kld_score,
        ([[[1, 3], [3, 1]]], [[0, 0]], "definition_3", [[1, 0]]),
        point(0.2**-0.2 * 0.8**-0.8 * 0.75**0.2 * 0.25**0.8),
    ),
    (entropy_score, ([[[0, 9], [0, 4]]], [[0, 0]]), point(0)),  # always the same answer:
    (kld_score, ([[[0, 9], [0, 4]]], [[0, 0]]), point(1)),  # no difference between levels
    *((score, (np.zeros((0, 2, 4)), np.zeros((0, 2))), NONE) for score in BOTH),
    (kld_score, ([EVEN, APART], np.zeros((2, 2))), point(0.5)),  # (1 + 0) / 2
    # KL of the second statistic with 1e-10 added to each share is -log2(1e-10) = 33.2 bits; half in the exponent
    (kld_score, ([EVEN, APART], np.zeros((2, 2)), "authors"), (math.exp(math.log2(1e-10) / 2), NAN, NAN)),
    (kld_score, ([EVEN, EVEN, APART], np.zeros((3, 2)), "authors"), (math.exp(math.log2(1e-10) / 3), NAN, NAN)),
    (kld_score, ([EVEN], np.zeros((1, 2)), "authors"), (0, NAN, NAN)),  # their code: no difference is 0
    # subj_analysis.py takes nats, and neither it nor the image half makes "no difference" 0
    (kld_score, ([EVEN, APART], np.zeros((2, 2)), "authors_subjective"), (1e-5, NAN, NAN)),
    (kld_score, ([EVEN, APART], np.zeros((2, 2)), "authors_images"), (math.exp(math.log2(1e-10) / 2), NAN, NAN)),
    *((kld_score, ([EVEN], np.zeros((1, 2)), f"authors_{half}"), (1, NAN, NAN)) for half in ("subjective", "images")),
    (fairness_score, ((1, 1, 1), (0.2, 0.2, 0.2)), point(1)),
    (fairness_score, ((0.3, 0.3, 0.3), (1, 1, 1)), point(1)),
    (fairness_score, ((0, 0, 0), (0.4, 0.1, 0.6)), (0.4, 0.1, 0.6)),
    (fairness_score, ((0.5, 0.2, 0.6), (0.5, 0, 1)), (0.75, 0.2, 1)),
    (generation_success_penalty, (8, 10, 0, 20, 50, 0), point(0.4)),
    (generation_success_penalty, (10, 10, 0, 0, 50, 0), point(1)),
    (generation_success_penalty, (5, 10, 0, 25, 50, 0), point(0)),
    (generation_success_penalty, (2, 10, 0, 40, 50, 0), point(0)),  # better counter-stereotypes: no penalty
    (generation_success_penalty, (0, 0, 10, 20, 50, 0), (NAN, 0, 0.6)),
    (generation_success_penalty, (8, 10, 0, 0, 0, 50), (NAN, 0, 0.8)),
    (generation_success_penalty, (0, 0, 0, 0, 0, 0), (NAN, 0, 1)),
    # 3/4 against 1/2 and 0 against 1: (25 - 100) / 2; one missing passage is worth 100 either way
    (mean_difference, ("M1", [[3, 0], [1, 2]], [[1, 4], [1, 0]], 1), (-37.5, -175 / 3, 25 / 3)),
    (mean_difference, ("M1", [[3, 0], [1, 0]], [[1, 1], [1, 1]], 0), (25, -37.5, 62.5)),  # no words: missing in M1
    (mean_difference, ("M2", [[2, 0], [4, 0]], [[-1, 1], [2, 2]], 0), point((1 - 0.5) / 2)),  # and neutral in M2
    # 1/2 against 1/4; the second passage has no female sentence
    (mean_difference, ("M6", [[1, 3], [2, 3]], [[1, 0], [4, 0]], 0), (25, -37.5, 62.5)),
    (mean_difference, ("M3", [[SUBJECT_SENTENCES_CAP + 500]], [[0]], 0), point(40)),
    (mean_difference, ("M3", [[5, 1]], [[3, 2]], 0), point(0.5)),
    (mean_difference, ("M3", [[5, 1]], [[3, 2]], 2), (0.5, 0.5 - UNSURE[0], UNSURE[0])),
    (mean_difference, ("M5", [[EMOTION_WORDS_CAP + 500]], [[0]], 0), point(200)),
    (mean_difference, ("M5", [[5, 1]], [[3, 2]], 0), point(0.5)),
    (mean_difference, ("M5", [[5, 1]], [[3, 2]], 2), (0.5, 0.5 - UNSURE[1], UNSURE[1])),
    (mean_difference, ("M1", [[], []], [[], []], 0), NONE),
    (mean_difference, ("M1", [[], []], [[], []], 3), (NAN, -100, 100)),
    (mean_difference, ("M2", [[], []], [[], []], 0), NONE),
    (mean_difference, ("M2", [[], []], [[], []], 3), (NAN, -2, 2)),
    (mean_difference, ("M3", [[]], [[]], 0), NONE),
    (mean_difference, ("M3", [[]], [[]], 3), (NAN, -40, 40)),
    (mean_difference, ("M5", [[]], [[]], 0), NONE),
    (mean_difference, ("M5", [[]], [[]], 3), (NAN, -200, 200)),
    (mean_difference, ("M6", [[], []], [[], []], 0), NONE),
    (mean_difference, ("M6", [[], []], [[], []], 3), (NAN, -100, 100)),
    (status_difference, (6, 4, 2), (20, 0, 100 / 3)),  # 6 male, 4 female: 2/10; worst 0/12, best 4/12
    (status_difference, (6, 4, 0), point(20)),
    (status_difference, (7, 0, 0), point(100)),
    (status_difference, (0, 0, 0), NONE),
    (status_difference, (0, 0, 3), (NAN, -100, 100)),
    (main_character_correlation, (6, 4, 2), (0.2, 0, 1 / 3)),
    (main_character_correlation, (0, 7, 0), point(-1)),
    (main_character_correlation, (0, 0, 0), NONE),
    (main_character_correlation, (0, 0, 3), (NAN, -1, 1)),
    (status_difference_by_relation, ([1, 0, 3, 2], [0, 1, 1, 2], [0] * 4), point(12.5)),
    (status_difference_by_relation, ([1, 0, 3, 0], [0, 1, 1, 0], [0, 0, 0, 2]), (NAN, 50 / 4 - 25, 50 / 4 + 25)),
    (stereoscopic_correlation, (0, 3, 5, 5, 0), (NAN, -math.sqrt(3 / 7), 0.5)),
    (stereoscopic_correlation, (0, 0, 0, 0, 0), NONE),
    *((stereoscopic_correlation, (alike, alike, 5, 0, 0), NONE) for alike in (0, 5)),
    (hallucination_inconsistency, (2, 4, 0), point(0.5)),
    (hallucination_inconsistency, (0, 7, 0), point(0)),
    (hallucination_inconsistency, (7, 7, 0), point(1)),
    (hallucination_inconsistency, (1, 3, 1), (1 / 3, 0.25, 0.5)),
    (hallucination_inconsistency, (0, 0, 0), (NAN, 0, 1)),
    (hallucination_inconsistency, (0, 0, 5), (NAN, 0, 1)),
    (representation_disparity, ([5, 3, 2],), point(0.3)),  # 1/5 + 3/10 + 1/10 = 3/5, over k - 1 = 2
    *((representation_disparity, ([160] + [0] * (k - 1),), point(1)) for k in (2, 3, 6, 9, 18)),
    *((representation_disparity, ([7] * k,), point(0)) for k in (2, 3, 6, 9, 18)),
    (representation_disparity, ([0, 0],), (NAN, 0, 1)),
    (representation_disparity, ([0, 0], 5), (NAN, 0, 1)),
    (representation_disparity, ([1, 1],), point(0)),
    (representation_disparity, ([1, 1, 0],), point(0.5)),
    # class 0: 1/2 against 1/5; class 1: 1/2 against 3/5; class 2: 0 against 1/5
    (statistical_parity_difference, ([[5, 5, 0], [2, 6, 2]], [0, 0], [0, 0]), point(0.3)),
    (statistical_parity_difference, ([[4, 2], [2, 1]], [0, 0], [0, 0]), point(0)),
    (statistical_parity_difference, ([[5, 0], [0, 5]], [0, 0], [0, 0]), point(1)),
    (statistical_parity_difference, ([[5, 0], [5, 0]], [0, 5], [0, 0]), point(0.5)),
    (statistical_parity_difference, ([[5, 0], [5, 0]], [0, 0], [0, 0], 2, [0, 5]), point(0.5)),
    (statistical_parity_difference, ([[5, 0], [5, 0]], [5, 0], [0, 0], 2, [0, 5]), point(0.5)),
    (statistical_parity_difference, ([[0, 0], [0, 0]], [3, 2], [0, 0], 2, [0, 1]), (NAN, 1 / 3, 1 / 3)),
    (statistical_parity_difference, ([[5, 5], [0, 0]], [0, 0], [0, 0]), (NAN, 0, 1)),
    (statistical_parity_difference, ([[5, 5], [0, 0]], [0, 0], [0, 4]), (NAN, 0, 1)),
    (statistical_parity_difference, ([[5, 5], [2, 8], [1, 0]], [0] * 3, [0] * 3), point(0.3)),
    (stereotype_drift, ([0.5, -0.1], [1, 3]), point(0.05)),  # one answer drifts by 0.5, three by -0.1: 0.2 / 4
    # two open answers in [-0.2, 0.6]: (0.2 - 0.4) / 6 and (0.2 + 1.2) / 6
    (stereotype_drift, ([0.5, -0.1], [1, 3], [-0.2], [0.6], [2]), (0.05, -0.2 / 6, 1.4 / 6)),
    (stereotype_drift, ([0.5], [1], [0.5], [0.5], [9]), point(0.5)),  # an open answer may be right instead
    (stereotype_drift, ([0.5], [1], [0.1], [0.2], [1]), (0.5, 0.3, 0.5)),
    (stereotype_drift, ([1.0], [7]), point(1)),
    (stereotype_drift, ([-1.0], [7]), point(-1)),
    (stereotype_drift, ([0.3, -0.3], [2, 2]), point(0)),
    (stereotype_drift, ([], []), NONE),
    (stereotype_drift, ([0.5], [0], [0.1], [0.2], [0]), NONE),
    (stereotype_drift, ([], [], [-0.2], [0.6], [2]), (NAN, -0.2, 0.6)),
    (absolute_drift, (0.1, -0.3, 0.2), (0.1, 0.0, 0.3)),
    (absolute_drift, (-0.4, -0.6, -0.1), (0.4, 0.1, 0.6)),
    (absolute_drift, (0.2, 0.2, 0.2), (0.2, 0.2, 0.2)),
    (absolute_drift, NONE, NONE),
    (prefix_difference, ((0.2, 0.1, 0.4), (0.3, 0.25, 0.35)), (-0.1, -0.25, 0.15)),
    (similarity, (["left", "N/A", "right", "left"], ["left", "N/A", "left", "left"]), point(0.75)),
    (similarity, (["left", "left"], ["left", "right"], 2), (0.5, 0.25, 0.75)),
    (similarity, ([], [], 1), (NAN, 0, 1)),
    (similarity, ([], []), NONE),
    (total_bias_score, ([1, -2] * 4, [0.0] * 8, [1.0, 2.0] * 4), point(8)),
    (total_bias_score, ([0.0] * 8, [0.0] * 8, [1.0, 2.0] * 4), point(0)),
    # the first spans the mean: 0 to 3; the others: 0.5 to 2
    (total_bias_score, ([1.0] * 8, [0.0] * 8, [1.0] * 8, [-3.0] + [0.5] * 7, [1.0] + [2.0] * 7), (8, 3.5, 17)),
    (total_bias_score, ([NAN, *COHORTS["glm"].mean[1:]], COHORTS["glm"].mean, COHORTS["glm"].std), NONE),
]
"""Formula, arguments, and the result by hand: a number, or value and bounds."""

REFUSED: list[Row] = [
    (accuracy_disparity, ([1, 2], [1], [0, 0], [0, 0]), r"per group|at least 0"),
    (accuracy_disparity, ([1, -2], [1, 1], [0, 0], [0, 0]), r"per group|at least 0"),
    (accuracy_disparity, (1, 1, 1, 1), r"per group|at least 0"),
    (answer_consistency_difference, (28, 3, 0), "pairs"),
    (answer_consistency_difference, (-1, 3, 0), "pairs"),
    (answer_consistency_difference, (1, -1, 0), "pairs"),
    (answer_consistency_difference, (1, 3, -1), "pairs"),
    (answer_consistency_difference, (NAN, 3, 0), "pairs"),
    (counter_stereotype_penalty, (11, 10, 0, 1, 2, 0, 0, 1), "range"),
    (counter_stereotype_penalty, (-1, 10, 0, 1, 2, 0, 0, 1), "range"),
    (counter_stereotype_penalty, (1, 2, -1, 1, 2, 0, 0, 1), "range"),
    (counter_stereotype_penalty, (1, 2, 0, 1, 2, 0, 1, 1), "range"),
    (counter_stereotype_penalty, (NAN, 2, 0, 1, 2, 0, 0, 1), "range"),
    (distribution_divergence, ([1, 2], [1, 2, 3], 0), "groups"),
    (distribution_divergence, ([1, -2], [1, 2], 0), "at least 0"),
    (distribution_divergence, ([1, 2], [0, 0], 0), "reference row"),
    (distribution_divergence, ([1, 2], [1, NAN], 0), "reference row"),
    (distribution_divergence, ([1, 2], [1, 1], -1), "at least 0"),
    (kld_score, ([[[1, 1], [1, 1]]], [[0, 0]], "plain"), r"no variant 'plain'.*definition_3, authors"),
    (generation_success_penalty, (11, 10, 0, 1, 2, 0), "success"),
    (generation_success_penalty, (1, 2, -1, 1, 2, 0), "success"),
    (generation_success_penalty, (-1, 2, 0, 1, 2, 0), "success"),
    (generation_success_penalty, (NAN, 2, 0, 1, 2, 0), "success"),
    (hallucination_inconsistency, (4, 3, 0), "pairs"),
    (hallucination_inconsistency, (-1, 3, 0), "pairs"),
    (hallucination_inconsistency, (1, 3, -1), "pairs"),
    (hallucination_inconsistency, (NAN, 3, 0), "pairs"),
    (representation_disparity, ([3], 0), r"group|at least 0"),
    (representation_disparity, (3, 0), r"group|at least 0"),
    (representation_disparity, ([3, -1], 0), r"group|at least 0"),
    (representation_disparity, ([3, 1], -1), r"group|at least 0"),
    (representation_disparity, ([3, NAN], 0), r"group|at least 0"),
    (statistical_parity_difference, ([1, 2], [0, 0], [0, 0]), "are needed"),
    (statistical_parity_difference, ([[1, 2], [2, 1]], [0], [0, 0]), "are needed"),
    (statistical_parity_difference, ([[1, 2], [2, 1]], [0, 0], [0]), "are needed"),
    (statistical_parity_difference, ([[1, -1], [2, 1]], [0, 0], [0, 0]), "at least 0"),
    (statistical_parity_difference, ([[1, 2], [2, 1]], [0, -1], [0, 0]), "at least 0"),
    (statistical_parity_difference, ([[1, 2], [2, 1]], [0, 0], [-1, 0]), "at least 0"),
    (stereotype_drift, ([0.5], [1, 2]), "length"),
    (stereotype_drift, ([0.5], [-1]), "at least 0"),
    (stereotype_drift, ([1.5], [1]), "drift"),
    (stereotype_drift, ([NAN], [1]), "drift"),
    (stereotype_drift, ([], [], [0.5], [0.1], [1]), "drift"),
    (stereotype_drift, ([], [], [0], [2], [1]), "drift"),
    (similarity, (["left"], ["left", "right"]), "as many answers"),
    (z_scores, ([1] * 8, [0] * 8, [1] * 7 + [0]), "above 0"),
]
"""Formula, invalid arguments, and words of the error."""


def id_of(part: object) -> str | None:
    return str(getattr(part, "__name__")) if callable(part) else None  # noqa: B009 -- mypy knows no name of a callable


@pytest.mark.parametrize(("formula", "arguments", "expected"), HAND, ids=id_of)
def test_a_formula_gives_what_follows_by_hand(formula: Any, arguments: Any, expected: Any) -> None:
    found = np.array(formula(*arguments), dtype=float)
    rel = 1e-6 if "authors" in map(str, arguments) else 1e-12
    assert found == pytest.approx(np.array(expected, dtype=float), abs=SLACK, rel=rel, nan_ok=True)


@pytest.mark.parametrize(("formula", "arguments", "message"), REFUSED, ids=id_of)
def test_a_formula_refuses_what_has_no_sense(formula: Any, arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        formula(*arguments)


Table = np.ndarray
SHARES = np.array([0.0, 0.25, 1.0])


@dataclass(frozen=True)
class Contract:
    """A formula as a function of tables: known answers per cell, missing ones in the last column.

    Args:
        measure: Function tables, (n, rows, cells + 1) -> n values and bounds.
        shapes: Rows and cells of drawn tables.
        small: Rows and cells of tables whose every completion is measured; () if those of `shapes`.
        most: Largest count in a cell of a small table.
        missing: Largest number of missing answers in a row of a small table.
        times: Factor of a small table, for bounds over parts of an answer.
        low_within: Largest distance of the low bound below the smallest completion.
        high_within: Largest distance of the high bound above the largest completion.
        slack: Rounding by which a value may leave its bounds.
        defined: Whether the bounds need a defined value.
    """

    measure: Callable[[Table], Any]
    shapes: tuple[tuple[int, int], ...]
    small: tuple[tuple[int, int], ...] = ()
    most: int = 3
    missing: int = 2
    times: int = 1
    low_within: float = 0.0
    high_within: float = 0.0
    slack: float = 0.0
    defined: bool = False

    def bounds(self, tables: Table) -> Table:
        """(3, n) values and bounds."""
        return np.array(self.measure(tables), float)


def singly(measure: Callable[[Table], Any]) -> Callable[[Table], Any]:
    """A formula of one table, applied to each of many."""
    return lambda tables: np.transpose([measure(table) for table in tables])


def drift(t: Table) -> Any:
    """Rows are true occupations, cells answered ones."""
    wrong = [(true, given) for true, given in np.ndindex(3, 3) if true != given]
    away = [np.delete(SHARES, true) - SHARES[true] for true in range(3)]
    low, high = ([float(end(row)) for row in away] for end in (min, max))
    counts = np.stack([t[:, *cell] for cell in wrong], axis=-1)
    return stereotype_drift([SHARES[given] - SHARES[true] for true, given in wrong], counts, low, high, t[:, :, -1])


def of_statistics(score: Callable[..., Any]) -> Callable[[Table], Any]:
    """A score whose rows are the highest and the lowest level of each statistic."""
    return singly(lambda t: score(t[:, :-1].reshape(-1, 2, t.shape[1] - 1), t[:, -1].reshape(-1, 2)))


def of_passages(metric: str, *kinds: tuple[int, ...]) -> Contract:
    """A mean difference whose cells are kinds of passages, as the counts of the male and the female character."""

    def measure(t: Table) -> Any:
        male, female = np.split(np.repeat(kinds, t[0, :-1], axis=0).T, 2)
        return mean_difference(metric, [*male], [*female], t[0, -1])

    return Contract(singly(measure), ((1, len(kinds)),), slack=1e-9)


def divergence_from(reference: list[int]) -> Callable[[Table], Any]:
    """The divergence of one row from the first shares of a reference."""
    return lambda t: distribution_divergence(t[:, 0, :-1], reference[: t.shape[-1] - 1], t[:, 0, -1])


def sides(penalty: Callable[..., Any], *levels: float) -> Callable[[Table], Any]:
    """A penalty whose rows are stereotypical and counter-stereotypical prompts, and whose cells are scores."""
    return lambda t: penalty(
        *(x for row in (t[:, 0], t[:, 1]) for x in (row[:, :-1] @ levels, row[:, :-1].sum(-1), row[:, -1]))
    )


def of_one(share: Callable[..., Any]) -> Contract:
    """A share of answers: one row of those that count and those that do not."""
    return Contract(lambda t: share(t[:, 0, 0], t[:, 0, :2].sum(-1), t[:, 0, 2]), ((1, 2),), most=9, missing=9)


GROUPS, TWO = tuple((1, k) for k in (2, 3, 4, 5, 6)), ((1, 2), (1, 3))
LEVELS, FEW_LEVELS = ((2, 2), (4, 3), (6, 4)), ((2, 2), (2, 4))
CONTRACTS = {
    "accuracy_disparity": Contract(
        lambda t: accuracy_disparity(*np.moveaxis(t, -1, 0)),
        tuple((k, 3) for k in (2, 3, 4, 5)),
        ((2, 3), (3, 3)),
        2,
        low_within=1,
    ),
    "answer_consistency_difference": Contract(
        lambda t: answer_consistency_difference(t[:, 0, :-1] @ np.arange(10), t[:, 0, :-1].sum(-1), t[:, 0, -1]),
        ((1, 10),),
    ),
    "cognitive_error_rate": of_one(cognitive_error_rate),
    "counter_stereotype_penalty": Contract(
        sides(partial(counter_stereotype_penalty, minimum=-1, maximum=1), -1, -0.3, 0, 0.7, 1),
        ((2, 5),),
        slack=SLACK,
    ),
    "entropy_score": Contract(of_statistics(entropy_score), LEVELS, FEW_LEVELS, high_within=1, slack=SLACK),
    "factuality": of_one(factuality),
    "generation_success_penalty": Contract(
        sides(generation_success_penalty, 1, 0), ((2, 2),), most=5, missing=4, slack=SLACK
    ),
    "hallucination_inconsistency": of_one(hallucination_inconsistency),
    "kld_score": Contract(of_statistics(kld_score), LEVELS, FEW_LEVELS, high_within=1, slack=SLACK),
    "main_character_correlation": Contract(
        singly(lambda t: main_character_correlation(*t[0, [0, 1, 3]])), ((1, 3),), most=9, missing=6
    ),
    "mean_difference M1": of_passages("M1", (1, 0, 0, 1), (0, 2, 3, 0), (1, 1, 1, 3), (2, 2, 1, 1)),
    "mean_difference M2": of_passages("M2", (1, 1, -1, 1), (-2, 2, 2, 2), (0, 0, 1, 2), (1, 3, 0, 0)),
    "mean_difference M3": of_passages("M3", (40, 0), (0, 45), (5, 3), (1, 1)),
    "mean_difference M5": of_passages("M5", (200, 0), (0, 300), (1, 4), (2, 2)),
    "mean_difference M6": of_passages("M6", (3, 3, 0, 2), (0, 1, 1, 1), (1, 2, 1, 4), (1, 1, 2, 2)),
    "representation_disparity": Contract(
        # a sixth of a sample at a time reaches the common level of one, two or three groups exactly
        lambda t: representation_disparity(t[:, 0, :-1], t[:, 0, -1]),
        GROUPS,
        TWO,
        4,
        3,
        times=6,
    ),
    "statistical_parity_difference": Contract(
        lambda t: statistical_parity_difference(t[..., :-3], t[..., -3], t[..., -1], refused=t[..., -2]),
        tuple((k, c) for k in (2, 3, 4) for c in (3, 4, 6)),
        ((2, 3), (3, 3), (2, 4)),
        low_within=1,
    ),
    "status_difference": Contract(singly(lambda t: status_difference(*t[0, [0, 1, 3]])), ((1, 3),), most=9, missing=6),
    "status_difference_by_relation": Contract(
        singly(lambda t: status_difference_by_relation(*t[:, [0, 1, 3]].T)), ((4, 3),), most=2, missing=1, slack=1e-9
    ),
    "stereoscopic_correlation": Contract(
        singly(lambda t: stereoscopic_correlation(t[0, 0], t[1, 0], t.sum(1).max(), t[0, -1], t[1, -1])),
        ((2, 2),),
        most=4,
        missing=4,
        slack=SLACK,
        defined=True,
    ),
    "stereotype_drift": Contract(drift, ((3, 3),), slack=SLACK),
    "absolute_drift": Contract(lambda t: absolute_drift(*drift(t)), ((3, 3),), low_within=1, slack=SLACK),
}
CONTRACTS |= {
    # an eighth of a sample is as near as the grid comes
    f"distribution_divergence {q}": Contract(divergence_from(q), GROUPS, TWO, 4, 2, 8, low_within=0.02, slack=SLACK)
    for q in ([0, 1, 2, 3, 5, 9], [3, 1, 0, 0, 2, 1], [1, 1, 1, 1, 1, 1])
}


def stream(name: str) -> np.random.Generator:
    return np.random.default_rng(sum(map(ord, name)))


def drawn_tables(draws: np.random.Generator, shape: tuple[int, int], most: int, missing: int, number: int) -> Table:
    """Tables of one shape; each has its own share of zeros, so that some have empty rows or no answer."""
    limits = np.array([most] * shape[1] + [missing])
    tables = draws.integers(0, limits + 1, (number, shape[0], len(limits)))
    return tables * (draws.random(tables.shape) < draws.uniform(0.2, 1.2, (number, 1, 1)))


def spreads(total: int, cells: int) -> Iterator[tuple[int, ...]]:
    """Every way to put `total` equal samples into `cells` cells."""
    for bars in combinations(range(total + cells - 1), cells - 1):
        edges = (-1, *bars, total + cells - 1)
        yield tuple(b - a - 1 for a, b in pairwise(edges))


def completions(table: Table) -> Table:
    """All tables that the missing answers could complete."""
    ways = product(*(spreads(int(missing), table.shape[1] - 1) for missing in table[:, -1]))
    return np.pad(table[:, :-1] + np.array([*ways]), ((0, 0), (0, 0), (0, 1)))


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_value_lies_in_its_bounds_which_are_a_point_at_full_coverage_and_widen(name: str) -> None:
    contract, draws = CONTRACTS[name], stream(name)
    for shape in contract.shapes:
        tables = drawn_tables(draws, shape, 6, 5, 120 // len(contract.shapes))
        known, missing = tables[..., :-1], tables[..., -1:]
        lost = np.minimum(known, draws.integers(0, 7, known.shape))
        value, low, high = contract.bounds(tables)
        full, *ends = contract.bounds(np.concatenate([known, 0 * missing], axis=-1))
        fewer = contract.bounds(np.concatenate([known - lost, missing + lost.sum(-1, keepdims=True)], axis=-1))
        undefined = np.isnan(value if contract.defined else low)
        open_ends = np.isnan(fewer) & contract.defined
        for holds in (
            undefined | (low <= high + contract.slack),
            np.isnan(value) | (low - contract.slack <= value) & (value <= high + contract.slack),
            np.isnan(full) | (np.abs(ends - full) <= contract.slack).all(axis=0),
            undefined | open_ends[1] | (fewer[1] <= low + SLACK),
            undefined | open_ends[2] | (fewer[2] >= high - SLACK),
        ):
            assert holds.all(), (tables[~holds][0], lost[~holds][0])


@pytest.mark.parametrize("name", CONTRACTS)
def test_bounds_are_the_extremes_over_all_completions(name: str) -> None:
    contract, draws = CONTRACTS[name], stream(name)
    for shape in contract.small or contract.shapes:
        tables = contract.times * drawn_tables(draws, shape, contract.most, contract.missing, 60)
        for table, (value, low, high) in zip(tables, contract.bounds(tables).T, strict=True):
            reached = contract.bounds(completions(table))[0]
            reached = reached[~np.isnan(reached)]
            if reached.size and not (contract.defined and math.isnan(value)):
                assert -SLACK <= reached.min() - low <= contract.low_within + SLACK, table
                assert -SLACK <= high - reached.max() <= contract.high_within + SLACK, table
