"""Intervals of limited runs count what was answered, and a low end that nothing estimates is not known."""

from __future__ import annotations

import re

import pytest

import fairspace as fs
from fairspace.submissions.report.headline import numbers_of
from fairspace.submissions.results.three_numbers import BIASED
from fairspace.submissions.uncertainty.bootstrap import clopper_pearson


def man(prompt: str) -> str:
    lettered = re.search(r"([A-D])[.] [^.]*\bmale", prompt, re.IGNORECASE)
    return lettered[1] if lettered else "a white male"


@pytest.mark.slow
@pytest.mark.parametrize("limit", [2, 5])
def test_a_share_without_variation_has_the_exact_interval_of_its_own_answers(limit: int) -> None:
    result = fs.score(fs.run(man, "fact_or_fair", revision="v2-core", limit=limit), resamples=200)
    alike = [value for value in result.values.values() if value.value in (0, 1) and value.uncertainty]
    shares = [value for value in alike if value.name.startswith(("share_", "invalid_", "refusal_rate"))]
    assert {value.value for value in shares} == {0, 1}
    for value in shares:
        assert value.value is not None
        low, high = clopper_pearson(value.value * value.valid, value.valid)
        assert value.interval is not None
        assert value.interval[0] <= low + 1e-9
        assert value.interval[1] >= high - 1e-9


@pytest.mark.slow
def test_sixty_of_sixty_is_beyond_chance_though_no_half_gives_a_low_end() -> None:
    answers = fs.run(man, "stereotypical_bias", revision="v2-core", limit=60, text_only=True)
    result = fs.score(answers, resamples=200)
    shown = numbers_of(result, result.values["gender_persona"])
    assert (shown.value, shown.verdict, shown.interval_text) == (0.5, BIASED, "not known to 0.5000")
