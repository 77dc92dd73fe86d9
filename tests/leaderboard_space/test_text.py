import json

import pytest

from leaderboard_space import plots
from leaderboard_space.tables import Column, board_layout, board_table, remarks, values_table
from leaderboard_space.text import coverage, markdown, number, plain, plot, superscript
from submissions.board import board
from submissions.values import measured, not_run, undefined
from tests.leaderboard_space.factory import HOSTILE, result


def test_markdown_of_submitted_text_has_no_sign_that_markdown_or_html_reads() -> None:
    escaped = markdown(HOSTILE)
    assert not set("<>[]()*_`#!|\\:./=$~") & set(escaped.replace("&#", "").replace(";", ""))
    assert "&#60;script&#62;" in escaped


@pytest.mark.parametrize("text", ["a\nb", "a\u202eb", "a\u200bb", "a\x07b", "a\u2028b"])
def test_hidden_characters_become_spaces(text: str) -> None:
    assert plain(text) == "a b"


def test_names_in_plots_are_escaped() -> None:
    assert plot("<b>x</b> & y") == "&lt;b&gt;x&lt;/b&gt; &amp; y"
    figure = plots.bars([HOSTILE], {"Occupation": [0.1]}, "bias", 0.5)
    assert "<script" not in json.dumps(figure.to_plotly_json(), default=str)


def test_numbers_print_with_a_true_minus_and_no_negative_zero() -> None:
    assert number(-1.5, 2) == "\N{MINUS SIGN}1.50"
    assert number(1.5, 1, signed=True) == "+1.5"
    assert number(-0.0001, 2, signed=True) == "0.00"
    assert number(None, 2) == "–"


def test_coverage_is_100_percent_only_if_nothing_is_missing() -> None:
    assert coverage(measured("x", 1, expected=100_000, valid=99_999)).endswith("(99.9 %)")
    assert coverage(measured("x", 1, expected=4, valid=4)).endswith("(100.0 %)")
    assert coverage(not_run("x", "no rows")) == "–"


def test_states_are_shown_as_words_and_never_as_numbers() -> None:
    values = {
        "a": undefined("a", "no faces", expected=3),
        "b": not_run("b", "no rows", expected=3),
        "c": measured("c", 0.5, low=0.25, high=0.75, expected=4, valid=2),
        "d": measured("d", 0.5, low=0.5, high=0.5, expected=4, valid=4),
    }
    table = values_table(values)
    assert [row[2] for row in table["data"]] == ["undefined", "not run", "partial", "value"]
    assert [row[1] for row in table["data"]] == [None, None, 0.5, 0.5]
    assert [row[-1] for row in table["data"]] == ["no faces", "no rows", "–", "–"]
    assert table["metadata"]["display_value"][0][1] == "undefined"
    assert table["metadata"]["display_value"][2][1:5] == ["0.5000", "partial", "0.2500", "0.7500"]


def test_a_board_shows_numbers_to_sort_by_and_words_for_what_is_missing() -> None:
    rows = board("iris", results=[result("iris", "constant")])
    total, columns, labels = Column("iris_score", "IRIS score"), [Column("IFS_Und", "IFS Und")], {"profile_und": "Und"}
    table = board_table(rows, total, columns, labels, "", {("p-01", "profile_und"): 1})
    layout = board_layout(total, columns, labels, "")
    assert len(table["headers"]) == len(layout["datatype"]) == len(layout["column_widths"])
    assert set(layout["datatype"]) == {"str", "number"}
    for row, shown in zip(table["data"], table["metadata"]["display_value"], strict=True):
        assert len(row) == len(shown) == len(table["headers"])
        assert all(isinstance(text, str) for text in shown)
        if row[2] is None:
            assert shown[2] in ("undefined", "not run")
    bagel = next(shown for shown in table["metadata"]["display_value"] if shown[1] == "Bagel")
    assert bagel[6] == "UDF ¹"
    baseline = next(row for row in rows if row.provenance == "baseline")
    assert remarks(baseline).endswith("more)")


def test_signed_columns_are_coloured_by_sign_and_size() -> None:
    rows = board("genres")
    table = board_table(rows, Column("TBS", "TBS"), [Column("M1", "M1", 3, signed=True)], {}, "Evaluator", {})
    for row, style, shown in zip(
        table["data"], table["metadata"]["styling"], table["metadata"]["display_value"], strict=True
    ):
        colour = "230, 97, 1" if row[6] > 0 else "33, 113, 181"
        assert colour in style[6]
        assert shown[6][0] == ("+" if row[6] > 0 else "\N{MINUS SIGN}")


def test_footnote_numbers_are_raised() -> None:
    assert superscript(12) == "¹²"


def test_piled_accents_are_cut_and_ordinary_ones_stay() -> None:
    assert plain("Z" + "\u0301" * 199) == "Z" + "\u0301" * 3
    assert plain("Vie\u0323\u0302t") == "Vie\u0323\u0302t"
