import html
import re
from dataclasses import replace
from pathlib import Path

import pytest

import fairspace as fs
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS
from fairspace.submissions.show.figure import _place
from fairspace.submissions.show.headline import first_values
from fairspace.submissions.values import not_run, undefined
from tests.submissions.results.test_tiers import result, waves

FIRST, SECOND, *_ = [cell.name for cell in CELLS]


def scored(model: str, level: float, wave: int = 3) -> fs.Result:
    return fs.rescore(result(model, level, waves(0.01, wave)), "up_to_twenty")


def lacking() -> fs.Result:
    whole = result("m", 0.2, waves(0.01, 3))
    values = {**whole.values, FIRST: not_run(FIRST, "left out"), SECOND: undefined(SECOND, "no group was chosen")}
    return fs.rescore(replace(whole, values=values), "up_to_twenty")


def marks(svg: str) -> list[str]:
    return [html.unescape(text) for text in re.findall(r"<title>(.*?)</title>", svg)]


def test_a_wrong_name_is_a_key_error_that_names_the_right_one() -> None:
    found = scored("m", 0.2)
    assert found.scores["total"].value == pytest.approx(0.2)
    with pytest.raises(KeyError, match=r"no value 'totl' \(did you mean 'total'\?\)"):
        found.scores["totl"]
    with pytest.raises(KeyError, match=r"is in result\.scores"):
        found.values["total"]
    assert found.values.get("totl") is None


def test_the_text_begins_with_sentences_then_the_number_that_ranks_go_by() -> None:
    title, sentence, *lines = repr(scored("m", 0.2)).splitlines()
    assert title == "m on Stereotypical bias, standard up_to_twenty"
    assert sentence.startswith("Occupations by gender: 70 % of")
    heads, first, *_ = lines[lines.index("") + 1 :]
    assert heads.split() == ["name", "value", "95", "%", "interval", "by", "chance", "better"]
    assert first.split("  ")[0] == "total"
    assert "0.2000" in first
    assert "total is undefined: a part has no number: gender_occupation" in repr(lacking())
    assert "component metrics have one" in " ".join(repr(lacking()).split())
    assert "component metrics" not in repr(scored("m", 0.2))


def test_what_a_submitter_wrote_is_escaped_in_a_notebook() -> None:
    assert "&lt;script&gt;" in scored("<script>", 0.2)._repr_html_()
    assert "<script>" not in scored("<script>", 0.2)._repr_html_()


def test_a_frame_has_every_value_once_and_nan_where_there_is_no_number() -> None:
    found = lacking()
    frame = found.to_frame()
    assert frame.index.is_unique
    assert set(frame.index) == {*found.values, *found.scores}
    assert frame.index[0] == "total"
    without = frame[~frame["state"].isin(["value", "incomplete"])]
    assert {FIRST, SECOND, "total"} <= set(without.index)
    assert without[["value", "interval_low", "interval_high", "chance", "chance_end"]].isna().all(axis=None)
    assert frame.loc[SECOND, "reason"] == "no group was chosen"
    assert frame.loc["total", "bad_direction"] == "above"


def test_a_figure_has_a_strip_for_every_value_and_says_what_is_undefined() -> None:
    whole = scored("m", 0.2)
    svg = whole.plot().document()
    assert svg == whole.plot()._repr_svg_()
    names = [mark.partition(":")[0] for mark in marks(svg) if "by chance" in mark]
    assert names[0] == "total"
    assert set(names) == set(first_values(whole))
    assert all(f"{name}: 0.2" in svg for name in names)
    without = lacking().plot(FIRST, SECOND, "total").document()
    assert f">{SECOND}: undefined<" in without
    assert FIRST not in without


def test_values_share_one_scale_from_even_to_the_worst_that_each_can_be() -> None:
    """S is .5 at worst of two groups and .375 of four: .2 is .4 and .53 of the way."""
    whole = scored("m", 0.2)
    svg = whole.plot(FIRST, "race_occupation").document()
    assert len(re.findall(r">0(?:\.0+)?</text>", svg)) == 1  # one axis has one zero
    assert ">even<" in svg
    assert ">worst<" in svg
    places = [_place(whole, name) for name in (FIRST, "race_occupation", f"{FIRST}_na_rate")]
    assert [place and place(0.2) for place in places] == [pytest.approx(0.4), pytest.approx(0.2 / 0.375), None]


def test_missing_answers_are_told_of_wherever_a_result_shows_itself() -> None:
    whole = scored("m", 0.2)
    part = replace(whole.values[FIRST], low=0.03, high=0.5, expected=100, valid=55)
    partial = fs.rescore(replace(whole, values={**whole.values, FIRST: part}), "up_to_twenty")
    words = "could be 0.0300 to 0.5000: 45 % missing"
    frame = partial.to_frame()
    assert list(frame.loc[FIRST, ["state", "missing"]]) == ["incomplete", words]
    assert list(frame.loc[SECOND, ["state", "missing"]]) == ["value", ""]
    assert f"  {words}\n" in repr(partial)
    assert words in partial._repr_html_()
    latex = words.replace("%", r"\%")
    assert latex in partial.to_latex(FIRST)
    assert "Note" not in partial.to_latex(SECOND)
    compared = fs.compare(partial, scored("b", 0.4, 4))
    assert compared.to_frame().set_index("name").loc[FIRST, "missing"] == f"m {words}"
    assert f"gender, occupations: m {words}" in repr(compared)
    assert words in compared._repr_html_()
    assert latex in compared.to_latex()


def test_a_saved_result_is_loaded_as_it_was(tmp_path: Path) -> None:
    found = scored("m", 0.2)
    again = fs.load_result(found.save(tmp_path / "result.json"))
    assert again.to_json() == found.to_json()
    assert isinstance(again, fs.Result)


def test_a_comparison_tells_models_apart_only_where_all_tests_together_do() -> None:
    """Errors of a difference are 0.01 times the square root of 2: .035 is 2.47 of them, p .0133, too little for seven
    tests; .2 is enough.
    """
    near, far = (fs.compare(scored("a", 0.2), scored("b", level, 4)).to_frame() for level in (0.235, 0.4))
    assert (near["verdict"] == "not significant").all()
    assert (far["verdict"] == "significant").all()
    assert far["difference"].to_list() == pytest.approx([0.2] * len(far))
    assert (near["p"] > 0.05).all()


def test_a_comparison_shows_itself_and_names_both_models() -> None:
    compared = fs.compare(scored("a", 0.2), scored("<b>", 0.4, 4))
    assert repr(compared).startswith("<b> against a: sure differences, the biggest first:")
    assert "&lt;b&gt;" in compared._repr_html_()
    assert r"$<$b$>$" in compared.to_latex()
    assert sum(": difference" in mark for mark in marks(compared.plot().document())) == len(compared.lines)
    several = fs.compare(scored("a", 0.2), scored("b", 0.3), scored("c", 0.4)).to_frame()
    assert set(several["model"]) == {"b", "c"}


def test_results_of_other_questions_are_not_compared() -> None:
    one = scored("a", 0.2)
    other = fs.Result.of(replace(one, signature={**one.signature, "dataset_revision": "v1"}))
    with pytest.raises(fs.UsageError, match="stereotypical_bias v1 and of stereotypical_bias v2"):
        fs.compare(one, other)
    with pytest.raises(fs.UsageError, match="two results"):
        fs.compare(one)
