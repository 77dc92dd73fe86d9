import unicodedata

import pytest

from fairspace.leaderboard_space.boards.table import numbers_of
from fairspace.leaderboard_space.boards.view import Column, remarks
from fairspace.leaderboard_space.boards.words import prose, shown
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT, thin
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.board import board
from fairspace.submissions.results.row import Row
from fairspace.submissions.values import Value, measured, not_run, undefined
from tests.leaderboard_space.factory import HOSTILE, result


@pytest.mark.parametrize("text", ["a\nb", "a\u202eb", "a\u200bb", "a\x07b", "a\u2028b"])
def test_hidden_characters_become_spaces(text: str) -> None:
    assert plain(text) == "a b"


def test_what_shows_nothing_becomes_a_space() -> None:
    formats = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"]
    fillers = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180e\u2800\u3164\uffa0\ufe00\ufe0f\U000e0100"
    assert {plain(f"a{sign}b") for sign in (*formats, *fillers)} == {"a b"}
    kept = "Zürich Łódź 東京 서울 ประเทศ हिन्दी עברית العربية 🙂👍🏽 e\u0301 –"
    assert plain(kept) == kept


def test_our_own_markdown_becomes_html() -> None:
    assert prose("**a** *b*") == "<p><strong>a</strong> <em>b</em></p>\n"


def test_submitted_text_stays_text_in_a_template() -> None:
    shown_as = ENVIRONMENT.from_string("{{ name | plain }}").render(name=HOSTILE)
    assert "<" not in shown_as
    assert "&lt;script&gt;" in shown_as


def test_numbers_print_with_a_true_minus_and_no_negative_zero() -> None:
    assert number(-1.5, 2) == "\N{MINUS SIGN}1.50"
    assert number(1.5, 1, signed=True) == "+1.5"
    assert number(-0.0001, 2, signed=True) == "0.00"
    assert number(None, 2) == "–"


def test_coverage_is_100_percent_only_if_nothing_is_missing() -> None:
    assert thin(measured("x", 1, expected=100_000, valid=99_999)).endswith("(99.9 %)")
    assert thin(measured("x", 1, expected=4, valid=4)).endswith("(100.0 %)")
    assert thin(not_run("x", "no rows")) == "–"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (undefined("a", "no faces", expected=3), "–"),
        (not_run("a", "no rows", expected=3), "–"),
        (measured("a", 0.5), "0.5000"),
        (measured("a", -12345.678), "\N{MINUS SIGN}12345.7"),
        (measured("a", -0.5, evidence={"printed": "-0.50"}), "\N{MINUS SIGN}0.50"),
        (measured("a", 0.956, evidence={"printed": "95.60 %"}), "0.9560"),
        (measured("a", 0.0, evidence={"printed": "<0.01 %"}), "<0.0001"),
    ],
)
def test_a_value_is_shown_as_printed_or_as_a_number(value: Value, text: str) -> None:
    assert shown(value) == text


COLUMNS = (Column("a", "A", digits=3), Column("b", "B"), Column("nothing", "N"), Column("c", "C", 1, signed=True))


def test_a_column_shows_states_as_words_and_numbers_in_the_unit_of_the_scorer() -> None:
    scores = {"a": measured("a", 0.125), "b": undefined("b", "no faces"), "c": measured("c", 0.5)}
    row = Row("p-01", "m", "o", "published", "s", scores)
    texts = {column.score: numbers_of(column, row).value_text for column in COLUMNS}
    assert texts == {"a": "0.125", "b": "undefined", "nothing": "not printed", "c": "+0.5"}
    assert Column("b", "B").number(row) is None


def test_remarks_say_why_a_row_has_no_rank() -> None:
    baseline = next(row for row in board("iris", results=[result("iris", "constant")]) if row.provenance == "baseline")
    assert remarks(baseline).endswith("more)")


def test_piled_accents_are_cut_and_ordinary_ones_stay() -> None:
    assert plain("Z" + "\u0301" * 199) == "Z" + "\u0301" * 3
    assert plain("Vie\u0323\u0302t") == "Vie\u0323\u0302t"
