"""Documents as pages, and texts and numbers as cells show them."""

import re
import unicodedata

import pytest

from fairspace.leaderboard_space.boards.table import Strip, TableCell, numbers_of
from fairspace.leaderboard_space.boards.view import Column, remarks
from fairspace.leaderboard_space.boards.words import prose, shown
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT, cell_content, fold, thin
from fairspace.leaderboard_space.pages.texts import _READ, ROOT, document
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.board import board
from fairspace.submissions.results.row import Row
from fairspace.submissions.values import Value, measured, not_run, undefined
from tests.leaderboard_space.api.spaces import Opened
from tests.leaderboard_space.factory import HOSTILE, result
from tests.leaderboard_space.pages.rows import page


def test_every_erratum_has_an_anchor_in_both_spellings(site: Opened) -> None:
    text = page(site, "/errata")
    names = re.findall(r"^## (E-[A-Z]+-\d+)$", (ROOT / "cards/errata.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(names) > 30
    for name in names:
        assert f'id="{name}"' in text
        assert f'id="{name.lower()}"' in text
    for anchor in re.findall(r'href="#([^"]+)"', text):
        assert f'id="{anchor}"' in text


def test_papers_that_the_documents_name_are_links(site: Opened) -> None:
    links = {link for address in _READ for link in re.findall(r'<a [^>]*href="([^"]+)"', page(site, address))}
    assert {"https://arxiv.org/abs/2603.00590", "https://openreview.net/forum?id=bW1C5XODvo"} <= links


def test_a_document_has_one_title_and_no_html_of_its_own() -> None:
    found = document("cards/errata.md")
    assert found.title == "Errata"
    assert "<h1" not in found.html
    assert "<h2" in found.html
    assert found.html.count("<table") == found.html.count('role="region"')


def test_how_to_submit_states_the_limits_of_this_space(site: Opened) -> None:
    text, settings = page(site, "/how-to-submit"), site.space.settings
    assert f"{settings.upload_bytes >> 20} MiB" in text
    for quota in (settings.valid_a_day, settings.faulty_a_day, settings.waiting):
        assert f"{quota} a user" in text
    for command in ("run --dry-run", "run", "check", "score", "submit"):
        assert f"fairspace {command} " in text
    for visibility in ("from a paper", "self-reported labels or judge", "scored here", "rerun by maintainers"):
        assert visibility in text
    assert "perceived presentation" in text


def test_about_says_what_the_words_mean_and_of_which_state_the_pages_are(site: Opened) -> None:
    text = page(site, "/about")
    number, time = site.space.state.last
    assert f"Snapshot of {time[:10]}, event {number} of the log" in text
    for word in ("from a paper", "self-reported labels or judge", "scored here", "rerun by maintainers", "baseline"):
        assert f"<em>{word}</em>" in text
    for word in ("undefined", "not run", "incomplete", "partial"):
        assert f"<em>{word}</em>" in text


def test_code_in_the_words_of_a_call_is_markup_not_backticks(site: Opened) -> None:
    text = page(site, "/api")
    assert "`" not in re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL)
    assert "<code>" in text


def test_what_shows_nothing_becomes_a_space() -> None:
    formats = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"]
    fillers = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180e\u2800\u3164\uffa0\ufe00\ufe0f\U000e0100"
    assert {plain(f"a{sign}b") for sign in (*formats, *fillers, "\n", "\x07", "\u2028")} == {"a b"}
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


EVIL, SHOWN = "<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"


def test_every_text_of_a_cell_is_escaped() -> None:
    cells = (TableCell(EVIL, EVIL, sure=EVIL, facts={"tier": EVIL}), TableCell(EVIL, missing=True))
    for part in (fold({"state": EVIL}, EVIL), *map(cell_content, cells)):
        assert SHOWN in part
        assert "<script" not in part


def test_a_cell_shows_its_parts_in_their_order() -> None:
    cell = TableCell(
        "0.5", "incomplete", 3, strip=Strip(1.0, 2.0, 3.0, (0.5, 3.5), beyond=True, cut=True), sure="0.4 to 0.6"
    )
    assert cell_content(cell) == (
        '0.5<sup><a href="#note-3" aria-label="Note 3">3</a></sup><span class="below sure">0.4 to 0.6</span>'
        '<span class="strip beyond cut" style="--a:1.0%;--b:3.0%;--at:2.0%"><i style="--a:0.5%;--b:3.5%"></i></span>'
        '<span class="below">incomplete</span>'
    )
    assert cell_content(TableCell("0.4", biased=True)) == '0.4<span class="below biased">beyond chance</span>'
