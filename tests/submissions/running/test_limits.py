"""Limits choose whole topics and instances, so that a limited run has a fairness number from a told limit on."""

from hashlib import sha256
from typing import Any

import pytest

import fairspace as fs
from fairspace.submissions.benchmarks.task import choose
from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark
from fairspace.submissions.running.planning import made_parts
from fairspace.submissions.running.run import too_few, without_seed
from fairspace.submissions.show.headline import opening

CORES: dict[str, dict[str, Any]] = {
    "fact_or_fair": {"dataset_revision": "v2-core"},
    "stereotypical_bias": {"dataset_revision": "v2-core", "text_only": True},
}
SMALLEST = {"fact_or_fair": ("llm_fairness", 16), "stereotypical_bias": ("gender_persona", 56)}


def opened(name: str, **more: Any) -> Any:
    revision = CORES.get(name, {}).get("dataset_revision", "v1-core")
    return open_benchmark(ChosenPart(name, text_only=name != "fact_or_fair", dataset_revision=revision, **more))


def even(prompt: str) -> str:
    place = sha256(prompt.encode()).digest()[0]
    return "ABCD"[place % 4] if "A." in prompt else ("male", "female")[place % 2]


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("name", [*CORES, "genres"])
def test_a_larger_limit_extends_a_smaller_one_and_units_are_whole(name: str, stratified: bool) -> None:
    for part in opened(name).parts.values():
        before: set[int] = set()
        for limit in range(1, len(part.stimuli) + 1, 5):
            chosen = choose(part.stimuli, limit, stratified=stratified)
            units = {part.stimuli[place].unit or part.stimuli[place].id for place in chosen}
            whole = [place for place, one in enumerate(part.stimuli) if (one.unit or one.id) in units]
            assert before <= set(chosen)
            assert 0 < len(chosen) <= limit
            assert chosen == whole or len(units) == 1
            before = set(chosen)


def test_images_of_highest_and_lowest_are_made_together() -> None:
    for part in made_parts(ChosenPart("fact_or_fair", limit=130, stratified=True)):
        topics = [part.stimuli[place].stratum.split("/")[1:3] for place in part.positions]
        assert {slug for slug, level in topics if level == "highest"} == {slug for slug, _ in topics}
        assert sum(level == "lowest" for _, level in topics) == len(topics) / 2 > 0


def test_stories_that_nobody_could_draw_again_are_told() -> None:
    assert "without --seed" in without_seed(opened("genres"))
    assert without_seed(opened("genres", seed=0)) == without_seed(opened("fact_or_fair")) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", CORES)
def test_the_told_smallest_limit_has_a_fairness_number_and_one_less_has_none(name: str) -> None:
    score, least = SMALLEST[name]
    assert too_few(opened(name, limit=least, stratified=True)) == ""
    told = too_few(opened(name, limit=least - 1, stratified=True))
    assert told.endswith(
        f"limit of {least - 1} is too few for a fairness number with an interval; the smallest that has one is {least}."
    )
    fair = {}
    for limit in (least - 1, least):
        result = fs.score(fs.run(even, name, limit=limit, **CORES[name]), resamples=200)
        fair[limit] = result.scored.shown[score].uncertainty is not None
        first, *lines = opening(result)
        assert first == f"A part of the benchmark, not ranked: limited to {limit} stimuli a task (stratified)."
        assert not any("rank" in line for line in lines)
    assert fair == {least - 1: False, least: True}
    if name == "fact_or_fair":
        assert any(line.startswith("S_fair ") and " over 1 of 19 topics (95 %" in line for line in lines)
