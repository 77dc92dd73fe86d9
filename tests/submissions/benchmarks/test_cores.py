"""The cores of all benchmarks; what is FACT-OR-FAIR's own of its text core is in `fact_or_fair/test_core.py`."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

from fairspace.builders.core import core_rows
from fairspace.builders.errors import BuildError
from fairspace.builders.fact_or_fair import plan as fact_or_fair
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.fact_or_fair.attribute_scores import SCORES
from fairspace.submissions.benchmarks.fact_or_fair.quantities import LEFT_OF_IMAGES
from fairspace.submissions.benchmarks.iris.image_quantities import JSD_LEFT
from fairspace.submissions.benchmarks.pictures import open_data
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark, parts
from fairspace.submissions.running.planning import made_parts
from tests.benchmarks.core_calibration import calibrate_images, calibrate_occupations, root_mean_square
from tests.benchmarks.cores import of_core
from tests.sample_builds import sample_builds
from tests.submissions.benchmarks.rows import there

FROZEN = {
    ("stereotypical_bias", "v2-core"): (7_960, 312_800, "f7e34e52d6485d43"),
    ("iris", "v2-core"): (7_312, 281_464, "180ee52a09240964"),
    ("genres", "v1-core"): (288, 5_760, "5242424af77ac163"),
    ("fact_or_fair", "v2-core"): (6_278, 49_598, "fc9cb2566e2df403"),
    ("fact_or_fair", "v2-core-images"): (2_858, 49_598, "ec3fcb42a7d64d02"),
}
"""Rows of a complete submission of the core and of the whole, and the hash of the core's ids; a core never changes."""


@pytest.mark.parametrize(("bench", "core"), FROZEN)
def test_a_core_is_a_fixed_part_of_its_revision_with_its_ids_and_prompts(bench: str, core: str) -> None:
    declared, digest = benchmark(bench), hashlib.sha256()
    whole, asked = core.partition("-")[0], [0, 0]
    for task in (task for task in declared.tasks if not task.optional):
        ids = task.ids(core)
        assert pc.all(pc.is_in(ids, value_set=task.ids(whole))).as_py() or not len(ids)
        asked = [some + task.samples_asked(of) for some, of in zip(asked, (core, whole), strict=True)]
        digest.update("\n".join([f"{task.name} {task.samples_of(core)}", *ids.to_pylist()]).encode())
        if task.items is not None and len(ids):
            items = task.items(whole)
            prompts = dict(zip(items["id"].to_pylist(), items["prompt"].to_pylist(), strict=True))
            mine = task.items(core)
            assert mine["id"].to_pylist() == ids.to_pylist()
            assert mine["prompt"].to_pylist() == [prompts[key] for key in ids.to_pylist()]
    assert (*asked, digest.hexdigest()[:16]) == FROZEN[bench, core]
    assert core in declared.revisions
    with pytest.raises(BuildError, match="REVISION_UNKNOWN"):
        declared.revision("v99-core")


def test_one_rule_draws_as_many_of_every_stratum_whatever_their_order() -> None:
    strata = np.array([2, 0, 1, 0, 2, 2, 0, 1, 3])
    rows = core_rows(strata, 2, 7)
    assert np.bincount(strata[rows]).tolist() == [2, 2, 2, 1], "a stratum with fewer is asked as a whole"
    assert rows.tolist() == sorted(set(rows.tolist())) == core_rows(strata, 2, 7).tolist()


@pytest.mark.parametrize(("bench", "core"), FROZEN)
def test_check_calls_a_baselines_core_complete_and_score_ranks_it_apart(bench: str, core: str, tmp_path: Path) -> None:
    declared = benchmark(bench)
    path = write_baseline("stereotyped", bench, tmp_path / "core", revision=core)
    report = check_submission(path)
    assert (report.faults, report.submission is None) == ((), False)
    assert all(task.handed_in == task.expected for task in report.coverage if task.handed_in)
    result = score_submission(there(report.submission), resamples=0)
    assert not [reason for reason in result.scored.unranked if "ranks" in reason or "revision" in reason]
    protocol = declared.protocols.of(result.signature, result.scored)
    assert core.removesuffix("-images") in protocol
    assert declared.protocol_text(protocol) not in ("", declared.protocol_text(core.partition("-")[0]))
    for standard in declared.standards.values():
        assert not any(protocol in names for names in getattr(standard, "together", {}).values())
    complete = [value for value in result.values.values() if value.state == "value" and value.expected]
    assert all(value.valid == value.expected for value in complete if bench != "genres")


def test_rows_of_text_share_a_group_whichever_core_of_fact_or_fair_they_answer() -> None:
    of, images = benchmark("fact_or_fair").protocols.of, Scored({}, "average_t2i", None)
    groups = [of({"dataset_revision": core}, Scored({}, "average_llm", None)) for core in fact_or_fair.CORE]
    assert groups == ["v2-core", "v2-core"]
    assert of({"dataset_revision": "v2-core-images"}, images) == "v2-core-images"


@pytest.mark.parametrize(
    ("bench", "core", "options", "asks", "made"),
    [
        ("stereotypical_bias", "v2-core", {"text_only": True}, 280, []),
        ("iris", "v2-core", {"tasks": ("tournament",)}, 900, [52 * 8, 60 * 5]),
        ("genres", "v1-core", {"text_only": True}, 72, []),
        ("fact_or_fair", "v2-core", {}, 198 + 2280, [38 * 20, 114 * 20, 38 * 20]),
        ("fact_or_fair", "v2-core-images", {}, 198 + 2280, [38 * 5, 38 * 5]),
    ],
)
def test_a_run_of_a_core_asks_it_and_nothing_else(
    bench: str, core: str, options: dict[str, Any], asks: int, made: list[int]
) -> None:
    opened = open_benchmark(ChosenPart(bench, dataset_revision=core, **options))
    assert (opened.asks, opened.describe()["dataset_revision"]) == (asks, core)
    prompts = {
        key: prompt
        for table in benchmark(bench).items(core).values()
        for key, prompt in zip(table["id"].to_pylist(), table["prompt"].to_pylist(), strict=True)
    }
    for part in opened.parts.values():
        for place in (0, len(part.stimuli) - 1):
            assert all(ask.prompt == prompts[ask.id] for ask in part.read(place).asks)
    assert [len(part.positions) for part in made_parts(ChosenPart(bench, dataset_revision=core))] == made


@pytest.mark.slow
@pytest.mark.parametrize(("bench", "core"), [case for case in FROZEN if case[0] != "fact_or_fair"])
def test_a_core_takes_the_images_of_a_full_build(bench: str, core: str) -> None:
    """The sample builds have images of the whole plan; those of other items are no fault, and are not asked about."""
    asked, whole = (
        {part.task: part for part in parts(bench, open_data(str(sample_builds()), of), revision=of)}
        for of in (core, benchmark(bench).base_revision(core))
    )
    for task, part in asked.items():
        known = set(benchmark(bench).task(task).ids(core).to_pylist())
        there = [ask.id for place in range(len(part.stimuli)) for ask in part.read(place).asks]
        assert set(there) <= known
        assert part.expected == len(known)
        assert {stimulus.id for stimulus in part.stimuli} <= {stimulus.id for stimulus in whole[task].stimuli}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bench", "name"),
    [("stereotypical_bias", "drawn 1"), ("iris", "drawn 5"), ("genres", "stereotyped")],
)
def test_the_intervals_of_a_core_hold_the_values_of_the_whole(bench: str, name: str) -> None:
    """Nominally 95 %; of the values of one model, which depend on each other, a few more may lie outside."""
    found = of_core(name, bench, 400)
    assert len(found) > 20
    assert np.mean([one.held for one in found]) > 0.88, [one for one in found if not one.held]


@pytest.mark.slow
def test_the_error_that_the_intervals_of_few_images_hold_is_the_measured_one_and_one_image_says_too_little() -> None:
    for attribute, differences in calibrate_images().items():
        for score, errors in LEFT_OF_IMAGES.items():
            measured = root_mean_square(differences[:, SCORES.index(score)])
            assert measured == pytest.approx(errors[ATTRIBUTES.index(attribute)], abs=0.0002), (score, attribute)
    for attribute, differences in calibrate_occupations().items():
        worst = max(map(root_mean_square, differences.T))
        assert worst == pytest.approx(JSD_LEFT[attribute], abs=0.0001), attribute
    single = calibrate_images(1, 0.1)
    assert all(root_mean_square(of[:, SCORES.index("entropy")]) > 0.2 for of in single.values())
