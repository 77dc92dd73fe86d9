"""Trickery never lifts a model above the tier of its honest original.

Boards hold the honest random baseline, the better balanced one, and answers with parts left out, broken, refused or
mixed: these have no rank, or no better tier and ranked number, beyond the error of their difference. In IRIS and
FACT-OR-FAIR random answers lie below a competence floor, so the balanced baseline shows the effect on tiers. GENRES
cannot be ranked without its licensed word lists; `test_invariants` holds its metrics.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.board import scored_row
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row, ranked
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.scoring import resample, rescore
from fairspace.submissions.results.tiers import tiered
from tests.damage import DAMAGES, at_random, damaged, drop, where_text_is
from tests.scored_baselines import baseline
from tests.test_invariants import UNFAVOURABLE

pytestmark = pytest.mark.slow

RESAMPLES = 20
"""The fewest that tiers need."""
FEW = ("drop a twentieth", "refuse a twentieth", "mix in the constant answers")
"""Tricks that are tried on the balanced answers too."""
SURE = 2.6
"""Errors of a difference that one pair in a hundred exceeds by chance."""


def as_model(submission: Submission, name: str) -> Result:
    """The submission scored as a model of that name; a baseline would take no rank."""
    bench = benchmark(submission.meta.benchmark)
    records = bench.read(submission)
    values, draws = resample(bench.designs(records), bench.measure(records), RESAMPLES, bench.scoring.drawn)
    meta = {"model": name, "revision": "1", "organisation": "tests", "licence": "MIT"}
    signature = {"submission": name, "dataset_revision": submission.meta.dataset_revision}
    measured = Result(bench.name, bench.default, meta, values, Scored({}, "", None), signature, draws=draws)
    return rescore(measured, bench.default, errors=False)


def with_constants(honest: Submission, constant: Submission, share: float) -> Submission:
    """Some answers replaced by the constant baseline's, in tables with the same questions."""
    tables = dict(honest.tables)
    for name, rows in honest.tables.items():
        other = constant.tables[name]
        if other.select(["task", "id"]).equals(rows.select(["task", "id"])):
            taken = np.random.default_rng(11).random(rows.num_rows) < share
            tables[name] = pa.concat_tables([rows, other]).take(taken * rows.num_rows + np.arange(rows.num_rows))
    assert tables != honest.tables
    return replace(honest, tables=tables)


def tricks(bench: str, honest: Submission) -> dict[str, Submission]:
    hopeful, hard = UNFAVOURABLE[bench][:2]
    found = {f"{name} a twentieth": damaged(honest, DAMAGES[name], at_random(7, 0.05)) for name in ("drop", "refuse")}
    found["corrupt a third"] = damaged(honest, DAMAGES["corrupt"], at_random(7, 0.33))
    found["leave out what looks unfavourable"] = damaged(honest, drop, where_text_is(*hopeful, 0.3))
    found["leave out a hard item"] = damaged(honest, drop, where_text_is(*hard, 1.0))
    found["mix in the constant answers"] = with_constants(honest, baseline("constant", bench), 0.3)
    return found


@pytest.mark.parametrize("bench", [name for name in NAMES if name != "genres"])
def test_no_trick_reaches_a_better_tier_than_the_honest_answers(bench: str) -> None:
    honest = {name: baseline(name, bench) for name in ("balanced", "random")}
    made = dict(honest)
    made |= {f"random: {trick}": one for trick, one in tricks(bench, honest["random"]).items()}
    if bench != "stereotypical_bias":  # a coin is nearly perfect there, so the random answers are ranked
        of_balanced = tricks(bench, honest["balanced"])
        made |= {f"balanced: {trick}": of_balanced[trick] for trick in FEW}
    standard = benchmark(bench).default
    rows = ranked((scored_row(as_model(one, name), standard) for name, one in made.items()), bench)
    found = {row.model: row for row in with_errors(tiered(rows, bench, standard), standard)}
    assert found["balanced"].tier == 1
    sign = -1.0 if benchmark(bench).higher_is_better else 1.0
    compared = 0
    for name in made.keys() - honest.keys():
        row, own = found[name], found[name.partition(":")[0]]
        if row.ranked is None:
            assert row.unranked, name
            continue
        assert own.ranked is not None, name  # an unranked model has no ranked copy
        assert own.tier is not None, name
        assert row.tier is not None, name
        assert row.tier >= own.tier, name
        assert sign * (row.ranked - own.ranked) >= -SURE * np.hypot(error(row), error(own)), name
        compared += 1
    assert compared >= 1  # tricks that all lost their rank would not test tiers


def error(row: Row) -> float:
    assert row.result is not None
    about = row.scores[row.result.scored.ranking].uncertainty
    assert about is not None
    return about.error
