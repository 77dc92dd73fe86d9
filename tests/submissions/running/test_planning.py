import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairspace.builders.genres import plan as genres
from fairspace.builders.genres import plan as single
from fairspace.submissions.benchmarks.task import Ask, ReadStimulus, Stimulus, TaskStimuli
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.inspect_task import ChosenPart, OpenedBenchmark, open_benchmark
from fairspace.submissions.running.asking.prices import Price, Prices
from fairspace.submissions.running.logs.importing import RunDescription
from fairspace.submissions.running.planning import FRAME, IMAGE_TOKENS, JUDGED, made_parts, plan, smallest_difference
from fairspace.submissions.running.run import limit_note
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
    alone = [len(single.single_analysis_prompt(name, "")) for pair in pairs for name in pair.names]
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
def test_whole_benchmarks_with_images(name: str, requests: int, tmp_path: Path) -> None:
    write(tmp_path, name)
    opened = open_benchmark(ChosenPart(name, str(tmp_path)))
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
