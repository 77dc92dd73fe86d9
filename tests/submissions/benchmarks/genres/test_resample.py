import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias.formula import METRICS
from fairspace.metrics.resampling import draw, names_of, uncertainties
from fairspace.metrics.total_bias_score.standards import COHORTS
from fairspace.submissions.benchmarks.genres.declaration import BENCHMARK
from fairspace.submissions.benchmarks.genres.parse import lexicons, sentences
from fairspace.submissions.benchmarks.genres.parse.lexicons import DictionaryWord
from fairspace.submissions.benchmarks.genres.parse.sentences import CharacterCounts, Passage
from fairspace.submissions.benchmarks.genres.quantities import FLOORS, designs, measure
from fairspace.submissions.benchmarks.genres.records import Records, read
from fairspace.submissions.benchmarks.genres.score import INAUGURAL, score
from fairspace.submissions.benchmarks.genres.variants import variants
from fairspace.submissions.format.schema import Submission, Tool
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import resample, score_submission, variant_scores
from fairspace.submissions.uncertainty.uncertainty import Variant
from tests.damage import DAMAGES, at_random, damaged
from tests.scored_baselines import baseline
from tests.submissions.benchmarks.rows import there, with_column

WARM = ("caring", "friendly", "generous", "gentle", "honest", "kind", "loyal", "sympathetic")
BIAS = 2
"""Further sentences that these tests' parser finds for a male name."""


def counted(passages: Sequence[Passage], processes: int | None = None, emotions: bool = True) -> list[CharacterCounts]:
    """Counts that depend on the text without names, and `BIAS` for a male name."""
    found = []
    for p in passages:
        text = p.narrative.replace(p.male, "A").replace(p.female, "A")
        seed = zlib.crc32(text.encode())
        spoken = [tuple(f"{i} {n}" for i in range(n)) for n in (1 + seed % 7, 1 + seed // 7 % 5)]
        male = p.male in plan.NAMES["male"]
        spoken[0 if male else 1] += ("male",) * BIAS
        found.append(CharacterCounts((spoken[0], spoken[1]), (seed % 30, seed // 30 % 40)))
    return found


@pytest.fixture(autouse=True, scope="module")
def tools() -> Iterator[None]:
    words = {word: DictionaryWord(True, False, 1, 0, 0.5) for word in WARM}
    words |= {word: DictionaryWord(False, True, 0, 1, 0.8) for word in ("capable", "skilled", "decisive", "confident")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "count", counted)
        patch.setattr(lexicons, "dictionary", lambda: words)
        patch.setattr(lexicons, "positive_sentences", lambda texts: {t: zlib.crc32(t.encode()) % 3 > 0 for t in texts})
        yield


@pytest.fixture(scope="module")
def told() -> Submission:
    """The random baseline with a second judge, to whom every leader is nobody's."""
    given = baseline("random", "genres")
    rows = given.tables["judgements"]
    answers = [re.sub(r'(Task1\.b": ")\w+', r"\1NA", text) for text in rows["judgement"].to_pylist()]
    other = with_column(with_column(rows, "judgement", answers), "judge", ["Mistral-B"] * len(rows))
    meta = given.meta.model_copy(update={"other_judges": [Tool(name="Mistral-B", version="1")]})
    return Submission(meta, {**given.tables, "judgements": pa.concat_tables([rows, other])}, given.digest)


@pytest.fixture(scope="module")
def records(told: Submission) -> Records:
    return read(told)


@pytest.mark.parametrize("damage", [None, *DAMAGES])
def test_every_value_but_a_p_value_has_an_interval_whatever_is_missing(told: Submission, damage: str | None) -> None:
    given = read(told if damage is None else damaged(told, DAMAGES[damage], at_random(5, 0.1)))
    values = measure(given)
    found, _ = resample(BENCHMARK.designs(given), values, 4, BENCHMARK.scoring.drawn)
    lacking = {name for name, value in found.items() if value.value is not None and value.uncertainty is None}
    assert {name for name in lacking if not name.startswith("agreement") and "_p" not in name} == set()
    assert all(
        values[name].smallest == min(values[f"{name}_{r}"].valid for r in ("cs", "em", "mp", "ar")) for name in METRICS
    )


def test_what_never_happens_leaves_room_for_as_many_elements_as_were_asked(told: Submission) -> None:
    elements = {(0, "cs"): 24, (1, "ar"): 6}
    ids = [pair.id for pair in plan.pair_list()]
    kept = {
        ids[5 * (72 * plan.RELATIONS.index(relation) + i)] for (_, relation), n in elements.items() for i in range(n)
    }
    rows = told.tables["responses"]
    few = rows.filter(pa.array([row in kept for row in rows["id"].to_pylist()]))
    design = designs(read(Submission(told.meta, {"responses": few}, told.digest)))[0]
    sure = uncertainties(*design, draw(*design, 50))
    for name, count in (("refusal_rate", 30), ("refusal_rate_cs", 24), ("refusal_rate_ar", 6)):
        assert sure[name].low == 0
        assert sure[name].high == pytest.approx(1 - 0.025 ** (1 / count))


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
    design = designs(records)[0]
    sure = uncertainties(*design, draw(*design, 200))
    whole, part = sure["M3"], sure["M3_cs"]
    assert 1.6 < there(part.fair) / there(whole.fair) < 2.4  # the root of 4
    assert there(whole.fair_high) > there(whole.fair) > 0
    assert sure["distinct_narratives"].fair is None


def test_another_judge_is_a_variant_of_the_judged_metrics_alone(records: Records) -> None:
    values = measure(records)
    judge = variants(records, values)[0]
    assert (judge.kind, judge.name) == ("judge", "Mistral-B")
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


def test_a_value_is_the_mean_of_both_parses_and_each_alone_is_a_variant(records: Records) -> None:
    """This parser gives `BIAS` sentences to a male name, whoever has it: the mean is free of it."""
    values = measure(records)
    by_parse = {variant.name: variant for variant in variants(records, values) if variant.kind == "name_swap"}
    as_written, exchanged = by_parse["as_written"].values, by_parse["exchanged"].values
    assert as_written["M3"] == pytest.approx(there(values["M3"].value) + BIAS)
    assert exchanged["M3_ar"] == pytest.approx(there(values["M3_ar"].value) - BIAS)
    assert as_written["M5"] == exchanged["M5"] == pytest.approx(values["M5"].value)
    assert not by_parse["as_written"].intervals
    levels = values["M3_cs"].evidence["by_parse"]
    assert levels["as_written"]["male"]["subject"] == pytest.approx(levels["exchanged"]["male"]["subject"] + BIAS)


def test_the_interval_of_a_mean_of_parses_is_drawn_from_both(records: Records) -> None:
    design = designs(records)[0]
    drawn = dict(zip(names_of(design[1]), draw(*design, 200).T, strict=True))
    columns = [records.parses[name].columns["subject"] for name in ("as_written", "exchanged")]
    means = [(column[:, 0] - column[:, 1]).mean() for column in columns]
    assert np.mean(drawn["M3"]) == pytest.approx(np.mean(means), abs=0.05)
    assert (records.features.columns["subject"] == (columns[0] + columns[1]) / 2).all()


def test_the_authors_reading_parses_each_response_once_with_every_name_of_the_gender(
    told: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[int] = []

    def counting(
        passages: Sequence[Passage], processes: int | None = None, emotions: bool = True
    ) -> list[CharacterCounts]:
        parsed.append(len(passages))
        return counted(passages, processes, emotions)

    monkeypatch.setattr(sentences, "count", counting)
    records = read(told)
    assert parsed == [2 * 1440, 1440]
    passage = there(records.stories.handed_in[0].authors_passage)
    assert [len(names) for names in passage.namesakes] == [15, 14]


@pytest.mark.slow
def test_a_result_keeps_draws_variants_and_the_error_of_the_total(told: Submission) -> None:
    result = score_submission(told, resamples=60)
    total = there(result.scored.scores["TBS"].uncertainty)
    assert total.low < (result.scored.scores["TBS"].value or 0) < total.high
    assert {v.kind for v in Result.from_json(result.to_json()).variants} == {"judge", "name_swap", "authors_reading"}
    assert set(FLOORS) <= {name for name, value in result.values.items() if value.uncertainty is not None}
