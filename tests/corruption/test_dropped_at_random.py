"""Rows missing at random move no number beyond sampling, and make no difference significant."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.comparing import differences
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard, resample, rescore
from fairspace.submissions.values import Value
from tests.damage import at_random, damaged, drop
from tests.scored_baselines import baseline

SHARES = (0.1, 0.4, 0.9)
RESAMPLES = 50
ERRORS, AUTHORS = 8, 10
"""Largest allowed move in standard errors; a count over all asked moves by 9 to 1,000. The other one is of the authors'
S_KLD, whose 1e-10 for an empty group makes few answers look unlike: the largest seen is 8.3, of 10 answers a cell.
"""
UNSURE = 0.05
"""Allowed move of a number without an interval; p values are left out, shares of ratings remain."""
P_VALUES = ("M7_p", "M8_p")


def result_of(name: str, bench_name: str, share: float) -> Result:
    """A baseline without a share of its rows, scored as a partial run."""
    bench, given = benchmark(bench_name), baseline(name, bench_name)
    given = damaged(given, drop, at_random(11, share)) if share else given
    records = bench.read(given)
    values, draws = resample(bench.designs(records), bench.measure(records), RESAMPLES, bench.scoring.drawn)
    revision = given.meta.dataset_revision
    standard = find_standard(bench, bench.default_for(revision)).name
    meta = {**given.dump_meta(), "generation": {"limit": 1}}
    scored = bench.score(values, bench.standards[standard])
    return rescore(
        Result(bench.name, standard, meta, values, scored, {"dataset_revision": revision}, draws=draws), standard
    )


def moved(before: Value, after: Value) -> bool:
    """Whether a number or its debiased estimate moved further than by sampling."""
    whole, part, about = before.value, after.value, after.uncertainty
    assert whole is not None
    assert part is not None
    if about is None:
        return abs(part - whole) > UNSURE * max(1.0, abs(whole))
    room = (AUTHORS if before.name.startswith("kld_authors") else ERRORS) * about.error + 1e-9
    if not min(about.low, part - room) <= whole <= max(about.high, part + room):
        return True
    debiased = None if before.uncertainty is None else before.uncertainty.debiased
    if debiased is None or about.debiased is None:
        return False
    return not min(about.low, about.debiased - room) <= debiased <= max(about.high, about.debiased + room)


def narrower(before: Mapping[str, Value], after: Mapping[str, Value]) -> list[str]:
    """Values whose bounds do not contain those with fewer missing rows."""
    both = [(name, old, after[name]) for name, old in before.items()]
    ends = [(n, o.low, v.low, o.high, v.high) for n, o, v in both if v.state == o.state == "value"]
    lower = [n for n, low, wider, *_ in ends if low is not None and wider is not None and wider > low + 1e-9]
    return lower + [n for n, *_, high, wider in ends if high is not None and wider is not None and wider < high - 1e-9]


CASES = [pytest.param(bench, marks=pytest.mark.slow if bench in ("iris", "genres") else ()) for bench in NAMES]


@pytest.mark.parametrize("bench", CASES)
def test_rows_dropped_at_random_move_no_shown_number_and_make_no_difference(bench: str) -> None:
    whole = result_of("stereotyped", bench, 0)
    last = whole
    for share in SHARES:
        part = result_of("stereotyped", bench, share)
        for before, after in ((whole.values, part.values), (whole.scored.shown, part.scored.shown)):
            both = [n for n in after if after[n].state == before[n].state == "value" and not n.startswith(P_VALUES)]
            assert [n for n in both if moved(before[n], after[n])] == [], share
        assert narrower(last.values, part.values) == [], share
        assert part.scored.ranked is None
        [_, between] = differences(bench, [whole, part], whole.standard)
        assert [n for n, difference in between.items() if difference.verdict != "not significant"] == [], share
        last = part
    assert not any(value.reason for value in part.scored.scores.values() if value.state == "value")


def test_a_sample_has_estimates_of_scores_that_stay_undefined() -> None:
    part = result_of("stereotyped", "stereotypical_bias", 0.9)
    assert {score.state for score in part.scored.scores.values()} == {"undefined"}
    total = part.scored.sample["total"]
    assert total.value == pytest.approx(0.3681, abs=0.002)
    assert total.uncertainty is not None
    assert total.reason.startswith("sample estimate, not ranked: a part has no number")
    whole_run = rescore(replace(part, meta={**part.meta, "generation": {}}), part.standard)
    assert not whole_run.scored.sample
    assert Result.from_json(part.to_json()).scored.sample == {}
