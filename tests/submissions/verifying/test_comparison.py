import math
from dataclasses import replace

import pytest

from fairspace.submissions.verifying import difference, within_digits
from tests.oracles.comparison import Comparison, Verification, compare
from tests.oracles.report import WIDTH, document, lines, number

ROW = Comparison("oracles", "IRIS", "RD", "drawn", "the text", 7, 2e-16)


def test_a_number_that_one_side_alone_has_differs_without_limit() -> None:
    assert difference(0.25, 0.5) == 0.25
    assert difference(None, math.nan) == difference(math.inf, math.inf) == 0
    assert difference(1.0, None) == difference(math.nan, 0.0) == math.inf


def test_a_difference_above_its_bound_is_named_or_fails() -> None:
    assert ROW.verdict == "equal"
    assert replace(ROW, difference=2e-9).verdict == "DIFFERS"
    assert replace(ROW, difference=2e-9, departure="E-IRIS-03").verdict == "E-IRIS-03"
    assert replace(ROW, departure="E-IRIS-03").verdict == "equal"
    whole = Verification((ROW, replace(ROW, scorer="AD", difference=math.inf)))
    assert [row.scorer for row in whole.unlisted] == ["AD"]


def test_numbers_are_compared_by_scorer() -> None:
    ours = {"RD_gender": 0.5, "RD_age": 0.25, "AD_gender": None}
    theirs = {"RD_gender": 0.5, "RD_age": 0.5, "AD_gender": math.nan, "AD_age": 1.0}
    rows = list(compare("oracles", "IRIS", "drawn", "the text", ours, theirs, lambda name: name[:2]))
    assert [(row.scorer, row.count, row.undefined, row.difference) for row in rows] == [
        ("RD", 2, 0, 0.25),
        ("AD", 2, 1, math.inf),
    ]


def test_printed_cells_are_split_by_erratum_and_the_worst_decides() -> None:
    cells = [(1.0, 1.0, 0.1, ""), (1.0, 1.05, 0.1, ""), (1.0, 1.05, 0.01, ""), (1.0, 3.0, 0.1, "E-FOF-01")]
    rows = list(within_digits("FACT-OR-FAIR", "Table 5", "S_fair", cells))
    assert [(row.count, row.bound, row.verdict) for row in rows] == [(3, 0.01, "DIFFERS"), (1, 0.1, "E-FOF-01")]


def test_the_report_fits_a_terminal_and_is_the_same_on_every_processor() -> None:
    rows = (
        replace(
            ROW, part="printed", data="Tables 13-15", scorer="cognitive error increase", difference=12.5, bound=0.1
        ),
        ROW,
        replace(ROW, difference=3e-17),
        replace(ROW, difference=math.inf, departure="E-GENRES-07", undefined=3),
    )
    whole = Verification(
        rows, {"the code": "no clone " * 20}, {"the code": ("change " * 30,)}, {"IRIS": ("x" * 40,) * 3}
    )
    text = lines(whole)
    assert max(map(len, text)) <= WIDTH
    assert number(0.0) == number(3e-17) == number(2e-16) == "<1e-10"
    assert {"equal, drawn, drawn: RD (14 numbers)", "E-GENRES-07: RD, drawn one side"} <= {*text}
    assert "DIFFERS: IRIS, cognitive error increase" in " ".join(text)
    assert "Listed departures: E-GENRES-07" in " ".join(text)
    assert document(whole).startswith("# Verification")


@pytest.mark.parametrize("value", [1e-9, 0.5, 1e9])
def test_larger_differences_are_printed_with_two_digits(value: float) -> None:
    assert float(number(value)) == value
