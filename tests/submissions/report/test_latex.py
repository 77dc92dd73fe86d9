import re
from dataclasses import replace

from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS
from fairspace.submissions.results.scoring import rescore
from fairspace.submissions.show.headline import results_latex
from fairspace.submissions.show.table import Table
from fairspace.submissions.values import not_run, undefined
from tests.submissions.results.test_tiers import result, waves

CELL = re.compile(r" & |\\\\\n")


def test_every_line_has_a_cell_for_every_column_and_a_minus_is_one_in_mathematics() -> None:
    rows = [("a_b & 5 %", "\N{MINUS SIGN}0.5"), ("c\\d\n", "–")]
    text = Table(("Value", "Model #1"), rows, "50 % of {all} $", name="x").to_latex()
    assert r"a\_b \& 5 \% & $-$0.5 \\" in text
    assert r"c\textbackslash{}d  & -- \\" in text
    assert r"\caption{50 \% of \{all\} \$}" in text
    assert text.count(r"\toprule") == text.count(r"\midrule") == text.count(r"\bottomrule") == 1


def test_one_result_has_its_three_numbers_and_several_stand_side_by_side() -> None:
    several = [
        rescore(result(name, level, waves(0.01, 3)), "up_to_twenty") for name, level in (("a", 0.2), ("b_c", 0.3))
    ]
    alone, beside = results_latex(several[:1]), results_latex(several)
    assert r"name & value & 95 \% interval & by chance & better \\" in alone
    assert r"name & a & b\_c \\" in beside
    ends = r"\[0\.\d{4} to 0\.\d{4}\]"
    assert re.search(rf"^total & 0\.2000 {ends} & 0\.3000 {ends} \\\\$", beside, re.M)


def test_models_of_one_name_have_columns_of_their_own() -> None:
    same = [result("m", level, waves(0.01, 3)) for level in (0.2, 0.3)]
    assert r"name & m (1) & m (2) \\" in results_latex(same)


def test_what_was_not_run_is_named_and_what_is_undefined_says_so() -> None:
    whole = result("m", 0.2, waves(0.01, 3))
    first, second, *_ = [cell.name for cell in CELLS]
    values = {**whole.values, first: not_run(first, "left out"), second: undefined(second, "no group was chosen")}
    text = results_latex([rescore(replace(whole, values=values), "up_to_twenty")])
    assert f"Not run: {first.replace('_', chr(92) + '_')}" in text
    assert re.search(r"^total & undefined & -- & -- ", text, re.M)
    assert "0.0000" not in text
