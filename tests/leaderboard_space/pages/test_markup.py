from dataclasses import replace

from fairspace.leaderboard_space.boards.table import Cell, Strip
from fairspace.leaderboard_space.pages.rendering import cell_content, chance, fold, measured
from fairspace.submissions.results.three_numbers import ThreeNumbers

EVIL, SHOWN = "<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"
THREE = ThreeNumbers(0.1, (0.0, 0.2), True, None, EVIL, EVIL, EVIL, EVIL, EVIL)
PLAIN = replace(
    THREE, value_text="1", interval_text="0 to 2", chance_text="0.5, up to 0.6", verdict="", missing_text=""
)


def test_every_text_is_escaped() -> None:
    parts = [
        fold({"state": EVIL}, EVIL),
        cell_content(Cell(EVIL, EVIL, sure=EVIL, facts={"tier": EVIL})),
    ]
    parts += [measured(THREE), measured(replace(THREE, value=None)), chance(THREE), chance(replace(THREE, verdict=""))]
    parts += [cell_content(Cell(EVIL, missing=True))]
    for part in parts:
        assert SHOWN in part
        assert "<script" not in part


def test_a_cell_shows_its_parts_in_their_order() -> None:
    cell = Cell(
        "0.5", "incomplete", 3, strip=Strip(1.0, 2.0, 3.0, (0.5, 3.5), beyond=True, cut=True), sure="0.4 to 0.6"
    )
    assert cell_content(cell) == (
        '0.5<sup><a href="#note-3" aria-label="Note 3">3</a></sup><span class="below sure">0.4 to 0.6</span>'
        '<span class="strip beyond cut" style="--a:1.0%;--b:3.0%;--at:2.0%"><i style="--a:0.5%;--b:3.5%"></i></span>'
        '<span class="below">incomplete</span>'
    )


def test_a_value_without_a_number_is_its_state() -> None:
    sure = '1<span class="below sure">0 to 2</span>'
    assert measured(replace(PLAIN, value=None, value_text="undefined")) == '<span class="state">undefined</span>'
    assert measured(PLAIN) == sure
    assert (
        measured(replace(PLAIN, missing_text="could be 0 to 3")) == f'{sure}<span class="below">could be 0 to 3</span>'
    )
    assert chance(PLAIN) == "0.5, up to 0.6"
    assert chance(replace(PLAIN, verdict="none")) == '0.5, up to 0.6<span class="below">none</span>'
