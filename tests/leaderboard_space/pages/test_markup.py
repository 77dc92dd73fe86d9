"""Markup that functions write shows text as text."""

from dataclasses import replace

from fairspace.leaderboard_space.boards.tables.columns import Cell
from fairspace.leaderboard_space.boards.tables.intervals import Strip
from fairspace.leaderboard_space.pages.markup import cell_content, effect, excess, fold
from fairspace.submissions.results.folded_facts import Fact
from fairspace.submissions.results.three_numbers import ThreeNumbers

EVIL, SHOWN = "<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"
THREE = ThreeNumbers(0.1, (0.0, 0.2), 0.05, False, None, EVIL, EVIL, EVIL)


def test_every_text_is_escaped() -> None:
    """Of folds, effects, excesses and cells, whatever they show."""
    parts = [
        fold([Fact("state", EVIL)], EVIL),
        cell_content(Cell(EVIL, EVIL, sure=EVIL, facts=[Fact("tier", EVIL)]), EVIL),
    ]
    parts += [effect(THREE), effect(replace(THREE, effect=None)), excess(THREE), excess(replace(THREE, like_fair=True))]
    parts += [cell_content(Cell(EVIL, missing=True), ""), cell_content(Cell(EVIL, chip=True), "")]
    for part in parts:
        assert SHOWN in part
        assert "<script" not in part


def test_a_cell_shows_its_parts_in_their_order() -> None:
    """Number, note, interval, remark, strip."""
    cell = Cell("0.5", "incomplete", 3, strip=Strip(1.0, 2.0, 3.0, (0.5, 3.5), beyond=True), sure="0.4 to 0.6")
    assert cell_content(cell, "model") == (
        '0.5<sup><a href="#note-3" aria-label="Note 3">3</a></sup><span class="below sure">0.4 to 0.6</span>'
        '<span class="below">incomplete</span><span class="strip beyond" style="--a:1.0%;--b:3.0%;--at:2.0%">'
        '<i style="--a:0.5%;--b:3.5%"></i></span>'
    )


def test_a_value_without_a_number_is_its_state() -> None:
    """A word is marked as one; a number has its interval below."""
    assert effect(replace(THREE, effect=None, effect_text="undefined")) == '<span class="state">undefined</span>'
    assert effect(replace(THREE, effect_text="1", interval_text="0 to 2")) == '1<span class="below sure">0 to 2</span>'
