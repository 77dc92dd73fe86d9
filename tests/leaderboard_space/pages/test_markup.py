from fairspace.leaderboard_space.boards.table import Strip, TableCell
from fairspace.leaderboard_space.pages.rendering import cell_content, fold

EVIL, SHOWN = "<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"


def test_every_text_is_escaped() -> None:
    parts = [
        fold({"state": EVIL}, EVIL),
        cell_content(TableCell(EVIL, EVIL, sure=EVIL, facts={"tier": EVIL})),
    ]
    parts += [cell_content(TableCell(EVIL, missing=True))]
    for part in parts:
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
