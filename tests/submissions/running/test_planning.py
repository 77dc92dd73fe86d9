"""Plans of runs; limits choose whole topics and instances, so that a limited run has a fairness number from one on."""

import math
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairspace as fs
from fairspace.builders.genres import plan as genres
from fairspace.submissions.benchmarks.task import Ask, ReadStimulus, Stimulus, TaskStimuli, choose
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.inspect_task import ChosenPart, OpenedBenchmark, open_benchmark
from fairspace.submissions.running.asking.prices import Price, Prices
from fairspace.submissions.running.logs.importing import RunDescription
from fairspace.submissions.running.planning import FRAME, IMAGE_TOKENS, JUDGED, made_parts, plan, smallest_difference
from fairspace.submissions.running.run import limit_note, too_few, without_seed
from fairspace.submissions.show.headline import opening
from tests.submissions.running.data.factory import write

PRICES = Prices("prices.json", {"m": Price(2.0, 10.0, None), "g": Price(None, None, 0.04)})
TEN = ChosenPart("genres", text_only=True, limit=10)


def test_genres_by_hand() -> None:
    opened = open_benchmark(TEN)
    answers, judge = plan(opened, "m", prices=PRICES)
    pairs = {pair.id: pair for pair in genres.pair_list()}
    chosen = [pairs[opened.parts["narrative"].stimuli[place].id] for place in opened.positions["narrative"]]
    text = sum(len(genres.text_prompt(pair)) for pair in chosen) / 4 + 10 * FRAME
    assert (answers.stimuli, answers.requests, answers.of_requests) == (10, 10, 1440)
    assert (answers.input, answers.output, answers.output_most) == (text, 10_000, 20_480)
    assert answers.cost == pytest.approx((2 * text + 10 * 10_000) / 1e6)
    assert answers.cost_most == pytest.approx((2 * text + 10 * 20_480) / 1e6)
    assert (judge.task, judge.cost, judge.requests, judge.of_requests) == ("judgements", None, 30, 4320)
    assert judge.input == pytest.approx(10 * (3420 / 4 + 1000) + 30 * FRAME)


def test_the_prompts_of_a_judge_have_the_stated_length() -> None:
    pairs = genres.pair_list()
    profile = len(genres.profile_prompt(""))
    passages = [genres.narrative_prompt(*pair.names, pair.element.relation, pair.element.plot, "") for pair in pairs]
    assert 2 * profile + np.mean([len(text) for text in passages]) == pytest.approx(JUDGED["narrative"][1], rel=0.01)
    alone = [len(genres.single_analysis_prompt(name, "")) for pair in pairs for name in pair.names]
    assert profile + np.mean(alone) == pytest.approx(JUDGED["narrative_single"][1], rel=0.01)


def test_the_plan_counts_the_judge_of_both_tellings() -> None:
    lines = plan(open_benchmark(replace(TEN, tasks=("narrative", "narrative_single"), limit=3)), "a")
    pairs = len(genres.pair_list())
    assert [(line.task, line.requests, line.of_requests) for line in lines] == [
        ("narrative", 3, pairs),
        ("judgements", 9, 3 * pairs),
        ("narrative_single", 6, 2 * pairs),
        ("judgements", 12, 4 * pairs),
    ]


def test_a_bound_of_answers_holds_for_the_usual_ones_too() -> None:
    answers = plan(open_benchmark(TEN), "m", max_tokens=300)[0]
    assert answers.output == answers.output_most == 3000


def test_a_picture_counts_with_every_request_that_it_goes_with() -> None:
    def read(place: int) -> ReadStimulus:
        return ReadStimulus(tuple(Ask("t", f"{place}/{n}", 0, "x" * 40, 0) for n in range(20)), (b"an image",))

    part = TaskStimuli("t", [Stimulus(str(place), "t", "", 20) for place in range(2)], read, 100, 10, 40)
    opened = OpenedBenchmark(ChosenPart("iris"), {"t": part}, {"t": [0, 1]})
    assert plan(opened, "m")[0].input == 40 * (40 / 4 + FRAME + IMAGE_TOKENS)
    nothing = replace(opened, positions={"t": []})
    assert plan(nothing, "m")[0].input == 0


@pytest.mark.parametrize("name", ["iris", "fact_or_fair"])
def test_made_images_are_counted_as_the_papers_have_them(name: str) -> None:
    chosen = ChosenPart(name)
    parts = made_parts(chosen)
    lines = plan(OpenedBenchmark(chosen, {}, {}), "", image_model="g", prices=PRICES, image_parts=parts)
    wanted = {
        "iris": {"generation_neutral": (52, 8320), "generation_steer": (60, 6000)},
        "fact_or_fair": {"t2i_objective": (38, 760), "t2i_subjective": (114, 2280), "t2i_subjective_paper": (38, 760)},
    }[name]
    prompts = {part.task: len({stimulus.stratum for stimulus in part.stimuli}) for part in parts}
    assert {line.task: (prompts[line.task], line.requests) for line in lines} == wanted
    assert all(line.made and line.requests == line.of_requests == line.stimuli for line in lines)
    assert sum(line.cost or 0 for line in lines) == pytest.approx(sum(images for _, images in wanted.values()) * 0.04)


def test_labels_by_a_model_that_sees_are_requests_to_it() -> None:
    chosen = ChosenPart("fact_or_fair", tasks=("t2i_objective",))
    asked: Any = {"image_parts": made_parts(chosen), "image_model": "g", "prices": PRICES}
    made, labels = plan(OpenedBenchmark(chosen, {}, {}), "", labeller="vlm:m?attributes=race", **asked)
    assert (labels.task, labels.model, labels.requests, made.requests) == ("labels", "m", 760, 760)
    assert labels.cost == pytest.approx(760 * ((IMAGE_TOKENS + 150) * 2 + 25 * 10) / 1e6)
    assert len(plan(OpenedBenchmark(chosen, {}, {}), "", labeller="clip", **asked)) == 1


@pytest.mark.parametrize(
    ("name", "requests"),
    [
        ("iris", 27144 + 36000 + 204000),
        ("stereotypical_bias", 76800 + 230400 + 5600),
        ("genres", 1440),
    ],
)
def test_whole_benchmarks_with_images(name: str, requests: int, whole_builds: Path) -> None:
    opened = open_benchmark(ChosenPart(name, str(whole_builds)))
    lines = [line for line in plan(opened, "m") if line.task != "judgements"]
    assert sum(line.requests for line in lines) == requests == opened.asks
    assert all(line.requests == line.of_requests for line in lines)
    assert limit_note(opened) == ""


def test_a_named_model_without_a_price_is_an_error() -> None:
    opened = open_benchmark(TEN)
    with pytest.raises(RunError, match="PRICES_INVALID"):
        plan(opened, "other", prices=PRICES)
    assert plan(opened, "")[0].cost is None


def test_the_smallest_difference_by_hand() -> None:
    # Fleiss, Levin and Paik: 1.96 + 0.84 standard errors of a difference of two shares of one half.
    assert smallest_difference(400) == pytest.approx(2.8016 * math.sqrt(0.25 / 400 * 2), rel=1e-4)
    assert smallest_difference(3) > 1
    assert smallest_difference(0) == math.inf


def test_a_limited_run_is_marked_as_shown_and_not_ranked() -> None:
    note = limit_note(open_benchmark(ChosenPart("fact_or_fair", limit=50)))
    assert note.startswith("A part of the benchmark, not ranked: limited to 50 stimuli a task. llm_objective: ")
    assert "llm_subjective: 48 of 1,824 stimuli, 1,200 of 45,600 requests of the benchmark (2.6%)" in note
    assert "ranks from" not in note
    assert "a limit of 5 is too few for a fairness" in limit_note(open_benchmark(ChosenPart("fact_or_fair", limit=5)))
    assert limit_note(open_benchmark(ChosenPart("fact_or_fair"))) == ""


def test_a_run_that_is_nearly_whole_is_not_ranked_if_it_was_limited(tmp_path: Path) -> None:
    note = limit_note(open_benchmark(replace(TEN, limit=1400)))
    assert note.startswith("A part of the benchmark, not ranked: limited to 1,400 stimuli a task. narrative: ")
    assert "which this reaches" not in note
    write(tmp_path, "genres", without=[pair.id for pair in genres.pair_list()[:40]])
    note = limit_note(open_benchmark(ChosenPart("genres", str(tmp_path))))
    assert "which this reaches; but all that is missing counts at its worst" in note


def test_data_that_lack_images_are_told_from_a_limit(tmp_path: Path) -> None:
    write(tmp_path, "genres", without=[pair.id for pair in genres.pair_list()[:1000]])
    note = limit_note(open_benchmark(ChosenPart("genres", str(tmp_path))))
    assert note.startswith("The data lack a part of the benchmark.")
    assert "440 of 1,440 requests of the benchmark (30.6%)" in note


def test_a_sample_of_the_data_is_told_and_marked() -> None:
    opened = replace(open_benchmark(ChosenPart("genres", text_only=True)), sample=True)
    assert limit_note(opened) == "The data are a small sample: the run is shown, not ranked."
    assert opened.marks == {"text_only": True, "sample_data": True}
    assert opened.describe()["sample_data"] is True
    assert RunDescription.model_validate(opened.describe()).marks == opened.marks


def test_a_log_describes_the_authors_settings_and_the_names_in_prompts() -> None:
    opened = open_benchmark(ChosenPart("genres", text_only=True))
    parts = {task: replace(part, names={"1": "Ann|Bob"}) for task, part in opened.parts.items()}
    opened = replace(opened, parts=parts, chosen=replace(opened.chosen, as_authors=True))
    described = RunDescription.model_validate(opened.describe())
    assert described.names == {"1": "Ann|Bob"}
    assert described.marks == opened.marks
    assert described.marks["as_authors"] is True


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
