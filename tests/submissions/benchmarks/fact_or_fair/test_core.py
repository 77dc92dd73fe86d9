import hashlib
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES
from fairspace.metrics.resampling import Sample, draw, names_of, quantities_of, values_of
from fairspace.submissions.benchmarks.fact_or_fair.attribute_scores import SCORES, with_added
from fairspace.submissions.benchmarks.fact_or_fair.declaration import BENCHMARK
from fairspace.submissions.benchmarks.fact_or_fair.quantities import LEFT
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import score_submission
from tests.benchmarks.core_calibration import calibrate, root_mean_square
from tests.scored_baselines import baseline, scored_baseline
from tests.submissions.benchmarks.fact_or_fair.test_measure import images
from tests.submissions.benchmarks.rows import there

CORE = "v2-core"


def core_of(name: str) -> Submission:
    full = baseline(name, "fact_or_fair")
    asked = pa.concat_arrays([plan.ids(task, CORE) for task in ("llm_objective", "llm_subjective")])
    rows = full.tables["responses"]
    meta = full.meta.model_copy(update={"dataset_revision": CORE})
    return Submission(meta, {"responses": rows.filter(pc.is_in(rows["id"], value_set=asked))})


@lru_cache
def scored(name: str, resamples: int) -> Result:
    return score_submission(core_of(name), resamples=resamples)


def test_a_cell_without_an_answer_stays_undefined_and_refusing_scores_nothing() -> None:
    assert with_added(np.array([[0.0, 0.0], [3.0, 0.0]]), 0.4).tolist() == [[0.0, 0.0], [3.4, 0.4]]
    assert scored("refusing", 0).scored.scores["llm_fairness"].value == 0
    core = core_of("random")
    rows = core.tables["responses"]
    kept = pc.invert(pc.starts_with(rows["id"], "llm_subjective/employment_rate/highest/"))
    without = score_submission(Submission(core.meta, {"responses": rows.filter(kept)}), resamples=0)
    assert without.values["fairness_llm_base_gender"].state == "undefined"


def corrections(sample: Sample) -> dict[str, float]:
    """Value -> error that its correction leaves."""
    found = {quantity.name: quantity.correction for quantity in quantities_of(sample[1])}
    return {name: left for name, left in found.items() if left is not None}


def test_draws_of_what_is_corrected_stand_about_the_value() -> None:
    (design,) = [design for design in BENCHMARK.designs(BENCHMARK.read(core_of("stereotyped"))) if corrections(design)]
    value = values_of(design[1], design[0].whole())[0]
    drawn = draw(*design, 100)
    for name, left in corrections(design).items():
        place = names_of(design[1]).index(name)
        if not name.startswith("fairness"):
            continue  # draws are cut near the end of a value's range
        assert drawn[:, place].mean() == pytest.approx(value[place], abs=0.3 * left)
        assert drawn[:, place].std() > 0.7 * left
    assert not any(quantity.biased for quantity in quantities_of(design[1]) if quantity.correction is not None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random", "stereotyped"])
def test_every_score_of_a_baseline_lies_within_the_interval_of_its_core(name: str) -> None:
    whole, core = scored_baseline(name, "fact_or_fair").scored.scores, scored(name, 1000).scored.scores
    names = [score for score in whole if whole[score].state == "value"]
    assert len(names) == 9
    for score in names:
        about, value = there(core[score].uncertainty), there(whole[score].value)
        assert about.low - 1e-9 <= value <= about.high + 1e-9, score


@pytest.mark.slow
def test_the_error_that_the_intervals_hold_is_the_measured_one() -> None:
    differences = calibrate()
    for score, errors in LEFT.items():
        for attribute, error in zip(ATTRIBUTES, errors, strict=True):
            of_models = differences[attribute][:, :, SCORES.index(score)].mean(axis=1)
            assert root_mean_square(of_models) == pytest.approx(error, abs=0.00011), (score, attribute)


def test_five_images_of_a_prompt_are_complete_and_their_interval_holds_the_score_of_all_twenty() -> None:
    def image(slug: str, level: str, sample: int) -> list[tuple[str | None, str | None]]:
        place = int(hashlib.sha256(f"{slug} {level} {sample}".encode()).hexdigest(), 16)
        return [(("male", "female")[place % 5 == 0], ("Asian", "Black", "Hispanic", "White", "White")[place % 7 % 5])]

    rows = images("t2i_objective", image)
    meta = baseline("random", "fact_or_fair").meta
    few = meta.model_copy(update={"dataset_revision": "v2-core-images"})
    whole = score_submission(Submission(meta, {"annotations": rows}), resamples=0)
    core = score_submission(Submission(few, {"annotations": rows.filter(pc.less(rows["sample"], 5))}), resamples=200)
    for name in ("factuality_t2i_objective_gender", "entropy_t2i_objective_race", "fairness_t2i_objective_race"):
        about, value = there(core.values[name].uncertainty), there(whole.values[name].value)
        assert core.values[name].expected == core.values[name].valid == whole.values[name].expected / 4
        assert about.low <= value <= about.high, name
