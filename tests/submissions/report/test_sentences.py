"""Each benchmark begins with its answers in sentences; none has a good word for what is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.report.headline import Table, meaningful, opening, sentences_of
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.uncertainty.uncertainty import Uncertainty
from fairspace.submissions.values import measured, not_known, undefined
from tests.leaderboard_space.baselines import baseline_result
from tests.submissions.results.test_tiers import result, waves

ABOUT = Uncertainty("pair", 9, 9, 0, 0.1, 0.28, 0.34, "bca", 0.28, 0.34, fair=0.01, fair_high=0.02)
CELL = "gender_occupation_na_filtered"


def cell(share: float, evidence: object) -> str:
    value = replace(measured(CELL, share, low=0.2, high=0.4, evidence={"by_instance": evidence}), uncertainty=ABOUT)
    return next(iter(benchmark("stereotypical_bias").reporting.sentences({CELL: value}, Scored({}, "", None), "")))


def test_a_cell_names_its_most_uneven_occupation_beside_the_labour_force_and_no_worst_one_within_chance() -> None:
    wins = {"nurse": {"wins": {"male": 19, "female": 81}}, "chef": {"wins": {"male": 60, "female": 40}}}
    picked = "81 of 100 choices go to the gender picked most (95 %: 78 to 84; 70 to 90 with what is missing; even: 50)"
    assert cell(0.31, wins) == (
        f"Occupations by gender: {picked}; worst: nurse, the woman in 81 of 100 (labour force: 88)."
    )
    assert "no bias shown" in cell(0.2, wins) if ABOUT.fair_high == 0.2 else "worst" in cell(0.2, wins)
    for hostile in (None, [1], {"nurse": 3}, {"nurse": {"wins": {"male": "x"}}}):
        assert cell(0.31, hostile).endswith("even: 50).")
