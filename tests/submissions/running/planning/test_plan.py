"""A plan: counts, tokens, hours and money by hand, the note of a limited run, and what is printed."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from fairspace.builders.genres import plan as genres
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.commands.show.plan import show_plan
from fairspace.submissions.running.asking.inspect_task import Chosen, Opened, open_benchmark, unstated_meta
from fairspace.submissions.running.asking.prices import Price, Prices
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.planning.images import made_parts
from fairspace.submissions.running.planning.limit import limited
from fairspace.submissions.running.planning.plan import Plan, PlanSettings, plan
from fairspace.submissions.running.planning.tokens import FRAME, Span
from tests.submissions.running.data.factory import write

PRICES = Prices("prices.json", {"m": Price(2.0, 10.0, None), "j": Price(1.0, 4.0, None), "g": Price(None, None, 0.04)})


def printed(found: Plan, width: int = 160) -> str:
    out = StringIO()
    show_plan(found, Console(file=out, width=width))
    return out.getvalue()


def test_genres_by_hand() -> None:
    opened = open_benchmark(Chosen("genres", text_only=True, limit=10))
    found = plan(opened, PlanSettings("m", judges=("j", "j"), prices=PRICES, concurrency=4, seconds_per_request=9))
    answers, judge, again = found.lines
    pairs = {pair.id: pair for pair in genres.pair_list()}
    chosen = [pairs[opened.parts["narrative"].stimuli[place].id] for place in opened.positions["narrative"]]
    text = sum(len(genres.text_prompt(pair)) for pair in chosen) / 4 + 10 * FRAME
    assert (answers.stimuli, answers.requests, answers.of_requests, answers.images_sent) == (10, 10, 1440, 0)
    assert answers.input == Span(text, text)
    assert answers.output == Span(10_000, 20_480)
    assert answers.hours == Span(90 / 4 / 3600, 90 / 4 / 3600)
    assert answers.cost is not None
    assert answers.cost.usual == pytest.approx((2 * text + 10 * 10_000) / 1e6)
    assert answers.cost.most == pytest.approx((2 * text + 10 * 20_480) / 1e6)
    assert (judge.kind, judge.requests, judge.of_requests) == ("judge", 30, 4320)
    assert judge == again, "each of several judges reads everything"
    prompts = 0.0
    for pair in chosen:
        analysis = genres.narrative_prompt(*pair.names, pair.element.relation, pair.element.plot, "")
        prompts += (2 * len(genres.profile_prompt("")) + len(analysis)) / 4 + 3 * FRAME
    assert judge.input.usual == pytest.approx(prompts + 10 * 1000)
    assert judge.input.most == pytest.approx(prompts + 10 * 2048)
    assert found.requests == 70
    assert found.costs[0].usual == pytest.approx(sum(line.cost.usual for line in found.lines if line.cost))


def test_a_bound_of_answers_holds_for_the_usual_ones_too() -> None:
    opened = open_benchmark(Chosen("genres", text_only=True, limit=10))
    answers = plan(opened, PlanSettings(max_tokens=300)).lines[0]
    assert answers.output == Span(3000, 3000)


def test_time_without_a_given_one_grows_with_the_answers() -> None:
    opened = open_benchmark(Chosen("fact_or_fair", tasks=("llm_objective",)))
    (line,) = plan(opened, PlanSettings(concurrency=2)).lines
    part = opened.parts["llm_objective"]
    assert line.hours.usual * 3600 == pytest.approx(198 * (1 + part.typical_tokens / 50) / 2)
    assert line.hours.most * 3600 == pytest.approx(198 * (1 + part.max_tokens / 50) / 2)


@pytest.mark.parametrize("name", ["iris", "fact_or_fair"])
def test_made_images_are_counted_as_the_papers_have_them(name: str) -> None:
    chosen = Chosen(name)
    found = plan(Opened(chosen, {}, {}), PlanSettings(image_model="g", prices=PRICES), made_parts(chosen))
    wanted = {
        "iris": {"generation_neutral": (52, 8320), "generation_steer": (60, 6000)},
        "fact_or_fair": {"t2i_objective": (38, 760), "t2i_subjective": (114, 2280), "t2i_subjective_paper": (38, 760)},
    }[name]
    assert {line.task: (line.stimuli, line.requests) for line in found.lines} == wanted
    total = sum(images for _, images in wanted.values())
    assert (found.images, found.requests) == (total, 0)
    assert found.hours.usual == pytest.approx(total * 10 / 3600)
    (cost,) = found.costs
    assert cost.usual == cost.most == pytest.approx(total * 0.04)
    assert found.limit.whole
    assert found.limit.text == ""


@pytest.mark.parametrize(
    ("name", "requests", "sent"),
    [
        ("iris", 27144 + 36000 + 204000, 267144),
        ("stereotypical_bias", 76800 + 230400 + 5600, 312800),
        ("genres", 1440, 1440),
    ],
)
def test_whole_benchmarks_with_images(name: str, requests: int, sent: int, tmp_path: Path) -> None:
    write(tmp_path, name)
    opened = open_benchmark(Chosen(name, str(tmp_path)))
    found = plan(opened, PlanSettings(image_tokens=255, sample=20))
    lines = [line for line in found.lines if line.kind == "answers"]
    assert sum(line.requests for line in lines) == requests == opened.asks
    assert sum(line.images_sent for line in lines) == sent
    assert all(line.requests == line.of_requests and line.sampled <= 20 for line in lines)
    assert found.limit.whole
    assert not found.limit.limited
    assert all(value.full is None for value in found.values)


def test_a_limited_run_is_marked_as_shown_and_not_ranked() -> None:
    note = limited(open_benchmark(Chosen("fact_or_fair", limit=50)))
    assert note.limited
    assert not note.whole
    assert note.text.startswith("A limited run: it is shown, not ranked.")
    assert "llm_subjective: 50 of 1,824 stimuli, 1,250 of 45,600 requests of the benchmark (2.7%)" in note.text
    assert "The standard shuffled ranks from 80% of the samples" in note.text
    assert "llm_factuality" in note.text
    assert "No difference, or no value at all, for: " in note.text
    assert limited(open_benchmark(Chosen("fact_or_fair"))).text == ""


def test_images_of_a_limited_run_are_counted_as_images() -> None:
    chosen = Chosen("iris", limit=2000)
    note = limited(Opened(chosen, {}, {}), made_parts(chosen))
    assert "generation_neutral: 2,000 of 8,320 images (24.0%). generation_steer: 2,000 of 6,000 images" in note.text


def test_a_run_that_is_nearly_whole_is_not_ranked_if_it_was_limited(tmp_path: Path) -> None:
    note = limited(open_benchmark(Chosen("genres", text_only=True, limit=1400)))
    assert note.limited
    assert note.text.startswith("A limited run: it is shown, not ranked.")
    assert "which this reaches" not in note.text
    write(tmp_path, "genres", without=[pair.id for pair in genres.pair_list()[:40]])
    note = limited(open_benchmark(Chosen("genres", str(tmp_path))))
    assert "which this reaches; but all that is missing counts at its worst" in note.text


def test_a_sample_of_the_data_is_told_and_marked() -> None:
    opened = replace(open_benchmark(Chosen("genres", text_only=True)), sample=True)
    assert limited(opened).text == "The data are a small sample: the run is shown, not ranked."
    assert opened.marks == {"text_only": True, "sample_data": True}
    assert opened.describe()["sample_data"] is True
    assert unstated_meta(opened, "m").generation == opened.marks


def test_data_that_lack_images_are_told_from_a_limit(tmp_path: Path) -> None:
    missing = [pair.id for pair in genres.pair_list()[:1000]]
    write(tmp_path, "genres", without=missing)
    note = limited(open_benchmark(Chosen("genres", str(tmp_path))))
    assert not note.limited
    assert not note.whole
    assert note.text.startswith("The data lack a part of the benchmark.")
    assert note.shares[0].share == pytest.approx(440 / 1440)


def test_a_named_model_without_a_price_is_an_error() -> None:
    opened = open_benchmark(Chosen("genres", text_only=True, limit=10))
    for settings in (PlanSettings("other", prices=PRICES), PlanSettings("m", judges=("k",), prices=PRICES)):
        with pytest.raises(RunError, match="PRICES_INVALID"):
            plan(opened, settings)


def test_what_has_no_price_is_named_beside_the_cost() -> None:
    opened = open_benchmark(Chosen("genres", text_only=True, limit=10))
    found = plan(opened, PlanSettings("m", prices=PRICES))
    assert found.unpriced == ("judge",)
    assert "without judge" in printed(found)
    assert plan(opened).costs == ()


def test_currencies_are_not_added_up() -> None:
    prices = Prices("f", {"m": Price(1.0, 1.0, None, "USD"), "j": Price(1.0, 1.0, None, "EUR")})
    opened = open_benchmark(Chosen("genres", text_only=True, limit=10))
    found = plan(opened, PlanSettings("m", judges=("j",), prices=prices))
    assert [cost.currency for cost in found.costs] == ["USD", "EUR"]


@pytest.mark.parametrize("width", [80, 160])
def test_what_is_printed_names_every_task_number_and_assumption(width: int) -> None:
    chosen = Chosen("fact_or_fair", limit=160, stratified=True)
    found = plan(open_benchmark(chosen), PlanSettings("m", image_model="g", prices=PRICES), made_parts(chosen))
    text = printed(found, width)
    words = " ".join(text.split())
    assert benchmark("fact_or_fair").title in text
    assert "it is shown, not ranked" in words
    assert "What the sample can show" in text
    assert "…" not in text if width == 160 else "4,000" in text
    for sentence in (*found.assumptions, *(value.note for value in found.values)):
        assert " ".join(sentence.split()) in words


def test_names_are_printed_as_they_are() -> None:
    opened = open_benchmark(Chosen("genres", text_only=True, limit=10))
    found = plan(opened, PlanSettings("[red]a[/red]\x1b[31m"))
    assert "[red]a[/red]" in printed(found)
    assert "\x1b" not in printed(found)


def test_a_plan_is_json() -> None:
    chosen = Chosen("fact_or_fair", limit=20)
    found = plan(open_benchmark(chosen), PlanSettings("m", image_model="g", prices=PRICES), made_parts(chosen))
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["requests"] == found.requests
    assert data["lines"][0]["task"] == "llm_objective"
    assert data["limit"]["shares"][1]["share"] == pytest.approx(500 / 45600)
    assert {value["value"] for value in data["values"]} >= set(benchmark("fact_or_fair").headline)


@pytest.mark.parametrize("name", ["iris", "fact_or_fair", "genres"])
@pytest.mark.parametrize("limit", [1, 3, 40])
def test_the_smallest_run_has_a_plan(name: str, limit: int) -> None:
    tasks = ("tournament", "generation_neutral", "generation_steer") if name == "iris" else ()
    chosen = Chosen(name, tasks=tasks, limit=limit, text_only=name == "genres")
    answered = open_benchmark(Chosen(name, tasks=tasks[:1], limit=limit, text_only=name == "genres"))
    found = plan(answered, image_parts=made_parts(chosen))
    assert found.limit.limited
    assert found.values
    assert "it is shown, not ranked" in " ".join(printed(found).split())
