from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.answers.rows import COUNTED, Summary
from fairspace.submissions.benchmarks.benchmark import SIGNED
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.commands.score import MORE
from fairspace.submissions.format.manifest import Stage
from fairspace.submissions.plotting import digits
from fairspace.submissions.results.board import board
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.scoring import rescore
from fairspace.submissions.results.three_numbers import three_numbers
from fairspace.submissions.show.board import board_text
from fairspace.submissions.show.headline import VALUE_COLUMNS, value_cells
from fairspace.submissions.show.result import result_text, tier_2_share, without_number
from fairspace.submissions.show.submission import course_line, stage
from fairspace.submissions.show.table import WIDTH, Table
from fairspace.submissions.uncertainty.uncertainty import Variant
from fairspace.submissions.values import measured, not_run, undefined
from tests.submissions.benchmarks.iris.results import iris_result
from tests.submissions.results.test_tiers import result, waves

GOLDEN = Path(__file__).with_name("score_in_80_columns.txt")


def test_values_without_a_number_are_told_once_per_reason_and_none_is_lost() -> None:
    reason = "There are no rows of the task x; " + "a long way to get some, " * 9
    rows = [
        not_run("a", reason, expected=7),
        measured("b", 0.5, expected=4, valid=4),
        not_run("c", reason, expected=9),
        undefined("d", "too few", expected=3, valid=2),
    ]
    first, *lines = without_number(rows)
    assert " ".join(first.split()) == f"Not run: {reason}".strip()
    assert max(map(len, first.splitlines())) <= WIDTH
    assert lines == ["  a 0/7, c 0/9", "Undefined: too few", "  d 2/3"]


@pytest.mark.parametrize(("share", "told"), [(0.0, "0.0 %"), (0.0579, "5.8 %")])
def test_the_share_of_tier_2_is_told_even_when_it_is_0(share: float, told: str) -> None:
    result = iris_result("m", "lab")
    assert tier_2_share(result) == ""
    accuracy = replace(result.values["competence_accuracy"], evidence={"tier_2_share": share})
    result = replace(result, values={**result.values, "competence_accuracy": accuracy})
    text = result_text(result, details=True)
    sentence = f"{told} of the answers to the occupation question were decided by tier 2 (embedding)."
    assert sentence in " ".join(text.split())


def test_other_instruments_stand_beside_the_measured_values_and_scores() -> None:
    gender, age, skin = (f"AD_single_{name}" for name in ("gender", "age", "skin"))
    result = iris_result("m", "lab", 0.2)
    variants = (
        Variant("occupation_threshold", "0.50", {gender: 0.1, age: 0.2}, note="2.0% by embedding"),
        Variant("occupation_threshold", "0.70", {gender: 0.3, age: 0.2}, note="1.0% by embedding"),
        Variant("name_swap", "exchanged", {skin: 0.25}, {skin: (0.15, 0.35)}, "Swapped."),
        Variant("labels_corrected", "confusion", {"RD_gender": 0.1}),
    )
    out = result_text(replace(result, variants=variants), everything=True)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert f"{gender} 0.2000 0.1000 0.3000" in lines
    assert f"{skin} 0.2000 0.2500 (0.1500 to 0.3500)" in lines
    place = lines.index("Threshold of tier 2: scores")
    (score,) = [line.split() for line in lines[place : place + 9] if line.startswith("IFS_Und ")]
    assert float(score[2]) < float(score[1]) < float(score[3])
    assert not [line for line in lines[place : place + 9] if line.startswith("IFS_Gen ")]  # it moves nowhere
    assert "Threshold of tier 2: 0.50: 2.0% by embedding; 0.70: 1.0% by embedding." in " ".join(lines)
    assert "sensitivity analysis: 0.1000 to 0.3000" in out  # a fact of the value, too
    assert "Threshold of tier 2" not in result_text(result, everything=True)
    assert "Threshold of tier 2" not in result_text(replace(result, variants=variants))


def test_a_result_shows_how_its_answers_were_read() -> None:
    outcomes = {**dict.fromkeys(COUNTED, 0), "choice": 12_345, "not_handed_in": 7}
    result = replace(iris_result("m", "lab"), readings={"tournament": Summary(outcomes, {}, ())})
    assert "tournament 12,345 0 0 0 7" in " ".join(result_text(result, details=True).split())


def test_three_numbers_of_every_value_fit_80_columns_and_all_else_is_asked_for() -> None:
    about = Uncertainty("image", 9, 9, 0, 0.1, -120.5, 180.25, "bca", -120.5, 180.25, fair=150.0, fair_high=180.0)
    long = "a_name_of_a_value_that_is_longer_than_most_others_of_its_kind"
    rows = [
        replace(measured(long, 160.5, low=90.0, high=170.0, expected=9, valid=6), uncertainty=about),
        replace(measured("short", 200.5, expected=9, valid=9), uncertainty=replace(about, low=190.0, high=210.5)),
        measured("alone", 0.5),
    ]
    numbers = [(value.name, three_numbers(value, SIGNED, digits)) for value in rows]
    cells = [(name, *value_cells(three, ""), three.missing_text) for name, three in numbers]
    lines = Table(("name", *VALUE_COLUMNS, "note"), cells).to_text().splitlines()
    assert max(map(len, lines)) <= WIDTH
    text = " ".join(" ".join(lines).split())
    assert f"{long} 160.50 −120.50 to 180.25 ±180.00 –" in text
    assert "could be 90.00 to 170.00:" in text
    assert "short 200.50 190.00 to 210.50 ±180.00*" in text
    assert "alone 0.5000 not resampled –" in text
    assert "standard error" not in text
    text = result_text(result("best", 0.2, waves(0.01, 3)), everything=True)
    assert text.count("  coverage: 100 of 100") >= 25
    assert "  standard error: –" in text


def test_a_score_in_80_columns_begins_with_sentences_and_has_a_line_for_each_value() -> None:
    """The golden file is what people see; write it again with `fairspace score` when its words change for good."""
    shown = rescore(result("best", 0.2, waves(0.01, 3), missing=2), "up_to_twenty")
    lines = [*result_text(shown).splitlines(), MORE[False]]
    assert lines == GOLDEN.read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert lines[1].startswith("Occupations by gender: 70 % of ")
    assert not any("rank" in line for line in lines[:-1])
    more = result_text(shown, details=True).splitlines()
    assert len(lines) < len(more) < 60
    assert max(map(len, more)) <= WIDTH
    assert any(line.startswith("  rank        would be 1st to 3rd beside 3 models") for line in more)


def test_a_score_without_a_number_says_what_it_lacks() -> None:
    text = " ".join(result_text(iris_result("m", "lab", RD_gender=float("nan")), details=True).split())
    assert "Not known: IFS_Gen (" in text
    assert "iris_score: undefined" in text
    assert "rank none missing undefined" in text
    assert "RD_gender" in text


@pytest.mark.parametrize("name", NAMES)
def test_every_score_and_every_raw_value_behind_one_is_said_in_words(name: str) -> None:
    bench = benchmark(name)
    rules = bench.scoring.table(bench.standards[bench.default], AS_RELEASED).rules
    measured_names = {value for task in bench.tasks for value in task.values if "." not in value}  # not as printed
    values = measured_names.union(*(rule.weights for rule in rules.values()))
    describe = bench.describe
    assert not [value for value in (*rules, *values) if not describe(value)]
    assert describe("no_such_value") == ""


def test_a_board_fits_80_columns(sure_rows: list[Row]) -> None:
    out = board_text("stereotypical_bias", "up_to_twenty", sure_rows)
    assert max(len(line.rstrip()) for line in out.splitlines()) <= WIDTH
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert any(line.startswith("best 1 1 to 2 0.2000 0.1") for line in lines)
    assert any("CogVLM – unknown 0.2294 computed" in line for line in lines)
    assert "tier" not in out
    assert "total: mean of the six association scores; lower is better, 0 is ideal." in out


@pytest.fixture
def sure_rows() -> list[Row]:
    made = (result("best", 0.2, waves(0.01, 3)), result("close", 0.21, waves(0.02, 4)))
    return board("stereotypical_bias", "up_to_twenty", made)


AT = "2026-05-02T08:00:00Z"
RAN = Stage(
    what="responses", model="local/m", revision="r", engine="inspect_ai", engine_version="1", started=AT, ended=AT
)


def test_a_stage_without_a_course_says_nothing_of_it() -> None:
    assert course_line(RAN) == ""


def test_a_course_is_told_and_fields_of_older_manifests_are_passed_over() -> None:
    course = {
        "planned_seconds": 60,
        "input_tokens": 1104,
        "output_tokens": 2475,
        "seconds": 165,
        "empty": 0.0,
        "looping": 0.0625,
        "cut_off": None,
        "readable_llm_objective": 0.1667,
    }
    ran = RAN.model_copy(update={"course": course})
    assert course_line(ran) == (
        "That took 2.8 min; 2,475 tokens of answers; 15.0 tokens/s; looping 6.2%; readable llm_objective 16.7%."
    )
    assert stage(ran) == stage(RAN), "a line of its own"
