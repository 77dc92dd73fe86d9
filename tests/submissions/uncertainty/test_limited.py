"""Intervals of limited runs count what was answered, and a low end that nothing estimates is not known."""

import re
from itertools import cycle
from typing import Any

import pytest

import fairspace as fs
from fairspace.metrics.intervals import clopper_pearson
from fairspace.submissions.results.three_numbers import BIASED
from fairspace.submissions.show.headline import numbers_of

SHARES = re.compile("^share_|^invalid_|refusal_rate|_na_rate$")


def man(prompt: str) -> str:
    lettered = re.search(r"([A-D])[.] [^.]*\bmale", prompt, re.IGNORECASE)
    return lettered[1] if lettered else "a white male"


@pytest.mark.slow
@pytest.mark.parametrize("limit", [2, 5, 20])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fact_or_fair", ["A"]),
        ("fact_or_fair", ["A", "B", "A", "C", "I cannot answer that."]),
        ("stereotypical_bias", ["the man, the white person"]),
        ("stereotypical_bias", ["the man", "the woman", "N/A", "I cannot say."]),
    ],
)
def test_every_share_of_a_limited_run_holds_the_exact_interval_of_its_own_answers(
    name: str, words: list[str], limit: int
) -> None:
    said = cycle(words)
    text: dict[str, Any] = {"text_only": True} if name == "stereotypical_bias" else {}
    answers = fs.run(lambda prompt: next(said), name, dataset_revision="v2-core", limit=limit, **text)
    values = fs.score(answers, resamples=200).values.values()
    shares = [value for value in values if SHARES.search(value.name) and value.uncertainty]
    assert len(shares) >= 3
    for value in shares:
        low, high = clopper_pearson((value.value or 0) * value.valid, value.valid)
        ends = value.interval or (0.5, 0.5)
        assert ends[0] <= low + 1e-9, value.name
        assert ends[1] >= high - 1e-9, value.name


@pytest.mark.slow
def test_choices_of_one_group_alone_reach_down_to_what_their_number_allows_and_are_beyond_chance() -> None:
    """Four of four reach down to two of five; sixty of sixty are biased, though no half gives a low end."""
    answers = fs.run(man, "stereotypical_bias", dataset_revision="v2-core", limit=60, text_only=True)
    result = fs.score(answers, resamples=200)
    levels = [value for value in result.values.values() if value.name.startswith("share_") and value.value == 1]
    assert levels
    for value in levels:
        assert value.interval is not None
        assert value.interval[0] <= clopper_pearson(value.valid, value.valid)[0] + 1e-9
    shown = numbers_of(result, result.values["gender_persona"])
    assert (shown.value, shown.verdict, shown.interval_text) == (0.5, BIASED, "not known to 0.5000")
