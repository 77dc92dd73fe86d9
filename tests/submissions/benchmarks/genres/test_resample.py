"""GENRES' values drawn anew, and what other judges and exchanged names would have measured."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias.formula import METRICS
from fairspace.metrics.total_bias_score.standards import COHORTS
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.genres import records as genres_features
from fairspace.submissions.benchmarks.genres import variants as genres_variants
from fairspace.submissions.benchmarks.genres.declaration import BENCHMARK
from fairspace.submissions.benchmarks.genres.measure import FLOORS, measure
from fairspace.submissions.benchmarks.genres.parse import lexicons
from fairspace.submissions.benchmarks.genres.parse.lexicons import Entry
from fairspace.submissions.benchmarks.genres.parse.sentences import Counts, Passage
from fairspace.submissions.benchmarks.genres.records import Records, read
from fairspace.submissions.benchmarks.genres.resample import designs
from fairspace.submissions.benchmarks.genres.score import score
from fairspace.submissions.benchmarks.genres.standards import INAUGURAL
from fairspace.submissions.benchmarks.genres.variants import PER_RELATION, chosen, variants
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.format.schema import Submission, Tool
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.results.variant_scores import variant_scores
from fairspace.submissions.uncertainty.bootstrap import draw, uncertainties
from fairspace.submissions.uncertainty.resampling import resample
from fairspace.submissions.uncertainty.variant import Variant
from tests.damage import DAMAGES, at_random, damaged

WARM = ("caring", "friendly", "generous", "gentle", "honest", "kind", "loyal", "sympathetic")
BIAS = 2
"""Sentences that the parser of these tests finds more of for a male name."""


def counted(passages: Sequence[Passage], processes: int | None = None, emotions: bool = True) -> list[Counts]:
    """Subjects and emotion words that hang on the text but for its names, and `BIAS` for a male name."""
    found = []
    for p in passages:
        text = p.narrative.replace(p.male, "A").replace(p.female, "A")
        seed = zlib.crc32(text.encode())
        sentences = [tuple(f"{i} {n}" for i in range(n)) for n in (1 + seed % 7, 1 + seed // 7 % 5)]
        male = p.male in plan.NAMES["male"]
        sentences[0 if male else 1] += ("male",) * BIAS
        found.append(Counts((sentences[0], sentences[1]), (seed % 30, seed // 30 % 40)))
    return found


@pytest.fixture(autouse=True, scope="module")
def tools() -> Iterator[None]:
    words = {word: Entry(True, False, 1, 0, 0.5) for word in WARM}
    words |= {word: Entry(False, True, 0, 1, 0.8) for word in ("capable", "skilled", "decisive", "confident")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(genres_features, "count", counted)
        patch.setattr(genres_variants, "count", counted)
        patch.setattr(lexicons, "dictionary", lambda: words)
        patch.setattr(lexicons, "positive_sentences", lambda texts: {t: zlib.crc32(t.encode()) % 3 > 0 for t in texts})
        yield


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Submission:
    """The random baseline with a second judge, to whom every leader is nobody's."""
    given = read_submission(write_baseline("random", "genres", tmp_path_factory.mktemp("genres") / "b"))
    rows = given.tables["judgements"]
    column = rows.schema.get_field_index("judge")
    answers = [re.sub(r'(Task1\.b": ")\w+', r"\1NA", text) for text in rows["judgement"].to_pylist()]
    other = rows.set_column(rows.schema.get_field_index("judgement"), "judgement", pa.array(answers))
    other = other.set_column(column, rows.schema.field(column), pa.array(["Mistral-B"] * len(rows)))
    meta = given.meta.model_copy(update={"other_judges": [Tool(name="Mistral-B", version="1")]})
    return Submission(meta, {**given.tables, "judgements": pa.concat_tables([rows, other])}, given.digest)


@pytest.fixture(scope="module")
def records(told: Submission) -> Records:
    return read(told)


@pytest.mark.parametrize("damage", [None, *DAMAGES])
def test_the_design_gives_the_measured_values(told: Submission, damage: str | None) -> None:
    given = read(told if damage is None else damaged(told, DAMAGES[damage], at_random(5, 0.1)))
    values = measure(given)
    found, _ = resample(designs(given), values, 4, BENCHMARK.drawn)  # raises where they differ
    lacking = {name for name, value in found.items() if value.value is not None and value.uncertainty is None}
    assert {name for name in lacking if not name.startswith("agreement")} == set()
    assert all(
        values[name].smallest == min(values[f"{name}_{r}"].valid for r in ("cs", "em", "mp", "ar")) for name in METRICS
    )


def test_the_total_is_drawn_against_the_cohort_of_the_judge(records: Records) -> None:
    values = measure(records)
    scored = score(values, INAUGURAL)
    other = replace(scored, labels={"cohort": "glm"})
    zero = {name: np.zeros(2) for name in METRICS}
    for one, family in ((scored, scored.labels["cohort"]), (other, "glm")):
        total = BENCHMARK.table_of(one, INAUGURAL).replicates(zero)["TBS"]
        cohort = COHORTS[family]
        assert total == pytest.approx([np.abs(np.array(cohort.mean) / cohort.std).sum()] * 2)


def test_a_fair_model_shows_magnitudes_that_fall_with_the_root_of_n(records: Records) -> None:
    (design,) = designs(records)
    sure = uncertainties(design, draw(design, 200))
    whole, part = sure["M3"], sure["M3_cs"]
    assert whole.fair is not None
    assert part.fair is not None
    assert 1.6 < part.fair / whole.fair < 2.4  # the root of 4
    assert whole.fair_high is not None
    assert whole.fair_high > whole.fair > 0
    assert sure["distinct_narratives"].fair is None


def test_another_judge_is_a_variant_of_the_judged_metrics_alone(records: Records) -> None:
    values = measure(records)
    judge, swap = variants(records, values)
    assert (judge.kind, judge.name, swap.kind) == ("judge", "Mistral-B", "name_swap")
    assert set(judge.values) <= {"M1", "M1_directed", "M2", "M4", "M7", "M8"}
    assert judge.values["M4"] == values["M4@2"].value == values["M4"].value
    assert "M8" not in judge.values  # nobody is a main character to it


def test_another_judges_total_is_the_distance_from_its_own_cohort(told: Submission) -> None:
    """The first judge is of one family, the second of another, whose means it gives: no distance."""
    result = score_submission(told, resamples=0)
    family = str(result.values["M4@2"].evidence["cohort"])
    means = dict(zip(METRICS, COHORTS[family].mean, strict=True))
    values = {
        **result.values,
        **{name: replace(result.values[name], value=mean, low=mean, high=mean) for name, mean in means.items()},
    }
    values["M4"] = replace(values["M4"], evidence={**values["M4"].evidence, "cohort": "glm"})
    judged = {name: mean for name, mean in means.items() if name in ("M1", "M2", "M4", "M7", "M8")}
    made = replace(result, values=values, variants=(Variant("judge", "Mistral-B", judged),))
    low, high = variant_scores(made, "inaugural")["judge"]["TBS"]
    assert family == "mistral"
    assert low == pytest.approx(0, abs=1e-12)
    assert high == score(values, INAUGURAL).scores["TBS"].value
    assert high > 1


def test_exchanged_names_show_the_parsers_own_error(records: Records) -> None:
    values = measure(records)
    swap = variants(records, values)[1]
    assert set(swap.values) == {"M3", "M5", "M6"}
    assert values["M3"].value is not None
    assert swap.values["M3"] == pytest.approx(values["M3"].value - 2 * BIAS)
    assert swap.intervals["M3"] == pytest.approx((swap.values["M3"], swap.values["M3"]))
    assert swap.values["M5"] == pytest.approx(values["M5"].value)
    assert f"exchanged in {4 * PER_RELATION} passages" in swap.note


def test_few_passages_are_parsed_again_and_always_the_same_ones() -> None:
    passages = {place: Passage("", "Henry", "Mia") for place in range(1440)}
    places = chosen(passages)
    assert np.bincount(places // 360).tolist() == [PER_RELATION] * 4
    assert np.bincount(places // 5).max() == 1
    assert chosen(dict(reversed(passages.items()))).tolist() == places.tolist()
    assert chosen({place: passages[place] for place in range(7)}).tolist() == list(range(7))


def test_the_narratives_of_a_submission_are_parsed_once_and_some_again_with_exchanged_names(
    told: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[int] = []

    def counting(passages: Sequence[Passage], processes: int | None = None, emotions: bool = True) -> list[Counts]:
        parsed.append(len(passages))
        return counted(passages, processes, emotions)

    for module in (genres_features, genres_variants):
        monkeypatch.setattr(module, "count", counting)
    score_submission(told, resamples=60)
    assert parsed == [1440, 2 * 4 * PER_RELATION]


def test_a_result_keeps_draws_variants_and_the_error_of_the_total(told: Submission, tmp_path: Path) -> None:
    result = score_submission(told, resamples=60)
    total = result.scored.scores["TBS"].uncertainty
    assert total is not None
    assert total.low < (result.scored.scores["TBS"].value or 0) < total.high
    assert {v.kind for v in Result.from_json(result.to_json()).variants} == {"judge", "name_swap"}
    assert set(FLOORS) <= {name for name, value in result.values.items() if value.uncertainty is not None}
