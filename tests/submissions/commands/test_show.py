"""What is printed of values without a number, of other instruments, and of the answers that tier 2 decided."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairspace.submissions.answers.summary import COUNTED, Summary
from fairspace.submissions.commands.show.instruments import other_instruments, tier_2_share
from fairspace.submissions.commands.show.numbers import without_number
from fairspace.submissions.commands.show.results import show_result
from fairspace.submissions.commands.show.tables import values
from fairspace.submissions.uncertainty.variant import Variant
from fairspace.submissions.values import measured, not_run, undefined
from tests.submissions.benchmarks.iris.results import iris_result


def test_values_without_a_number_stand_below_the_table_once_per_reason_and_none_is_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reason = "There are no rows of the task x; " + "a long way to get some, " * 9
    rows = [
        not_run("a", reason, expected=7),
        measured("b", 0.5, expected=4, valid=4),
        not_run("c", reason, expected=9),
        undefined("d", "too few", expected=3, valid=2),
    ]
    assert without_number(rows) == [f"Not run: {reason}", "  a 0/7, c 0/9", "Undefined: too few", "  d 2/3"]
    values("Raw values", rows)
    out = capsys.readouterr().out
    assert " ".join(out.split()).count(" ".join(reason.split())) == 1
    assert len(out.splitlines()) == 11
    values("Raw values", rows[:1])
    assert "a 0/7" in capsys.readouterr().out


@pytest.mark.parametrize(("share", "told"), [(0.0, "0.0 %"), (0.0579, "5.8 %")])
def test_the_share_of_tier_2_is_told_even_when_it_is_0(
    share: float, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = iris_result("m", "lab")
    assert tier_2_share(result) == ""
    accuracy = replace(result.values["competence_accuracy"], evidence={"tier_2_share": share})
    result = replace(result, values={**result.values, "competence_accuracy": accuracy})
    show_result(result)
    sentence = f"{told} of the answers to the occupation question were decided by tier 2 (embedding)."
    assert sentence in capsys.readouterr().out


def test_other_instruments_stand_beside_the_measured_values_and_scores(capsys: pytest.CaptureFixture[str]) -> None:
    gender, age, skin = (f"AD_single_{name}" for name in ("gender", "age", "skin"))
    result = iris_result("m", "lab", 0.2)
    variants = (
        Variant("occupation_threshold", "0.50", {gender: 0.1, age: 0.2}, note="2.0% by embedding"),
        Variant("occupation_threshold", "0.70", {gender: 0.3, age: 0.2}, note="1.0% by embedding"),
        Variant("name_swap", "exchanged", {skin: 0.25}, {skin: (0.15, 0.35)}, "Swapped."),
        Variant("labels_corrected", "confusion", {"RD_gender": 0.1}),
    )
    rows, notes = other_instruments(replace(result, variants=variants))
    by_name = {(row[0], row[-1]): row[1:-1] for row in rows}
    assert by_name[gender, "threshold of tier 2"] == ("0.2000", "0.1000", "0.3000")
    assert by_name[skin, "one parse alone"] == ("0.2000", "0.2500", "0.2500")
    assert (age, "threshold of tier 2") not in by_name  # it moves nowhere
    assert not any("RD_gender" in name for name, _ in by_name)  # corrected labels have their own table
    measured_, low, high = by_name["score IFS_Und", "threshold of tier 2"]
    assert float(low) < float(measured_) < float(high)
    assert ("score IFS_Gen", "threshold of tier 2") not in by_name
    assert notes[0].startswith("Threshold of tier 2: 0.50: 2.0% by embedding; 0.70: 1.0% by embedding.")
    show_result(replace(result, variants=variants))
    out = capsys.readouterr().out
    assert "Other instruments" in out
    show_result(result)
    assert "Other instruments" not in capsys.readouterr().out


def test_a_result_shows_how_its_answers_were_read(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = {**dict.fromkeys(COUNTED, 0), "choice": 12_345, "not_handed_in": 7}
    result = replace(iris_result("m", "lab"), readings={"tournament": Summary(outcomes, {})})
    show_result(result)
    assert "tournament 12,345 0 0 0 7" in " ".join(capsys.readouterr().out.split())
