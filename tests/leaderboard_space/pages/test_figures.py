"""Figures as SVG: every one of every benchmark and standard, with hostile names."""

import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from fairspace.leaderboard_space.boards.figures import FigureInput, bounds_of
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.pages.figures import FIGURES as EVERY
from fairspace.leaderboard_space.pages.figures import board_of, draw_figure, find_figure
from fairspace.leaderboard_space.state import Board
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.stereotypical_bias.about import official
from fairspace.submissions.errors import plain
from fairspace.submissions.values import measured, not_run
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import HOSTILE, full_of, result

FIGURES = sorted(EVERY)
MANY = 400


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    rows = [result(name, "refusing" if name == "genres" else "stereotyped", HOSTILE) for name in NAMES]
    with opened(tmp_path_factory.mktemp("figures"), (*rows, result("fact_or_fair", "refusing"))) as space:
        yield space


def _marks(
    space: Opened, name: str, figure: str, models: str = "", standard: str = "inaugural"
) -> list[tuple[str, str]]:
    """Name and link of every mark of a figure; its XML must be well-formed."""
    of = f"row/{models}/" if models else ""
    answer = space.client.get(f"/figures/{name}/{standard}/{of}{figure}.360.svg")
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "image/svg+xml"
    marks = [mark for mark in ElementTree.fromstring(answer.text).iter() if mark.get("class") == "mark"]
    return [(mark[0].text or "", mark.get("href", "")) for mark in marks]


@pytest.mark.parametrize(("name", "figure"), FIGURES)
def test_every_mark_of_every_figure_is_named_and_leads_to_its_model(drawn: Opened, name: str, figure: str) -> None:
    entry = drawn.entry(benchmark=name)
    for standard in benchmark(name).standards:
        models = {row.entry: row.model for row in drawn.space.state.board(name, standard)}
        for chosen in ("", entry, "p-01", f"{entry},p-01,p-02,p-03"):
            if not chosen and find_figure(name, figure).needs:
                continue
            for text, href in _marks(drawn, name, figure, chosen, standard):
                if not href:  # the official share has no page
                    assert figure == "labour"
                    continue
                of, _, standard_of = href.removeprefix(f"/model/{name}/").partition("/under/")
                assert (standard_of or benchmark(name).default) == standard
                assert text.startswith(plain(models[of])[:20])


@pytest.mark.parametrize(("name", "figure"), FIGURES)
def test_a_hostile_name_is_text_in_a_figure(drawn: Opened, name: str, figure: str) -> None:
    text = drawn.client.get(f"/figures/{name}/inaugural/row/{drawn.entry(benchmark=name)}/{figure}.svg").text
    assert "<script" not in text
    assert "<img" not in text


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_its_numbers_as_a_table_or_says_what_is_missing(drawn: Opened, name: str) -> None:
    state, entry = drawn.space.state, drawn.entry(benchmark=name)
    for figure in (figure for (of, _), figure in EVERY.items() if of == name):
        drawing = draw_figure(state, name, "inaugural", figure.name, (entry,))
        assert drawing.table.rows or drawing.note
        assert drawing.draw is not None or drawing.note
        assert all(len(row) == len(drawing.table.columns) for row in drawing.table.rows)
        assert figure.how_to_read


@pytest.mark.parametrize(
    ("address", "status", "code"),
    [
        ("/figures/nothing/inaugural/ranking.svg", 404, "UNKNOWN_PAGE"),
        ("/figures/iris/nothing/ranking.svg", 404, "UNKNOWN_PAGE"),
        ("/figures/iris/inaugural/nothing.svg", 404, "UNKNOWN_PAGE"),
        ("/figures/iris/inaugural/sectors.svg", 400, "BAD_PARAMETER"),
        ("/figures/iris/inaugural/row/p-99/sectors.svg", 404, "UNKNOWN_ENTRY"),
        ("/figures/iris/inaugural/row/p-01,p-02,p-03,p-04,p-05/sectors.svg", 400, "BAD_PARAMETER"),
        ("/figures/iris/inaugural/ranking.500.svg", 400, "BAD_PARAMETER"),
        ("/figures/iris/inaugural/table/nothing/ranking.svg", 400, "BAD_PARAMETER"),
    ],
)
def test_what_is_no_figure_is_refused(drawn: Opened, address: str, status: int, code: str) -> None:
    answer = drawn.client.get(address)
    assert answer.status_code == status
    assert code in answer.text


def test_bounds_are_drawn_where_samples_are_missing() -> None:
    values = [measured("a", 0.5, low=0.4, high=0.7), measured("b", 0.5, low=0.5, high=0.5), not_run("c", "none")]
    assert [bounds_of(value, 100) for value in values] == [(40.0, 70.0), None, None]


def test_answers_that_refuse_are_known_and_drawn_as_such(drawn: Opened) -> None:
    refusing = next(
        row for row in drawn.space.state.board("fact_or_fair", "inaugural") if row.model.endswith("refusing")
    )
    assert {value.value for name, value in refusing.scores.items() if "llm" in name} == {0.0}
    assert {value.state for name, value in refusing.scores.items() if "t2i" in name} <= {"not_run", "undefined"}
    table = draw_figure(drawn.space.state, "fact_or_fair", "inaugural", "scores", (refusing.entry,)).table
    assert "undefined" not in table.rows[0]


def test_evidence_that_is_not_there_is_told_as_not_printed(drawn: Opened) -> None:
    state = drawn.space.state
    for name in ("labour", "wins"):
        drawing = draw_figure(state, "stereotypical_bias", "up_to_twenty", name, ("p-01",))
        assert drawing.draw is None
        assert "the paper does not print" in drawing.note
        assert "LLaVA-v1.5" in drawing.note
    singles = draw_figure(state, "genres", "inaugural", "singles", ("p-01",))
    assert "Not printed for one character alone: Qwen-3B" in singles.note
    assert {cell for row in singles.table.rows for cell in row[4:]} == {"not printed"}


def test_labour_statistics_stand_beside_what_the_answers_say(drawn: Opened) -> None:
    entry = drawn.entry(benchmark="stereotypical_bias")
    full = full_of(drawn.space.state, entry)
    told = full.values["gender_occupation"].evidence["by_instance"]
    assert set(official()) == set(told)
    texts = [text for text, _ in _marks(drawn, "stereotypical_bias", "labour", entry)]
    for name, (_, women) in official().items():
        assert f"{name}: {100 * women:.1f} % of those who work in it" in texts
        picked = next(text for text in texts if f"women picked as {name}:" in text)
        assert f": {100 * told[name]['p']['female']:.1f}" in picked
    note = draw_figure(drawn.space.state, "stereotypical_bias", "up_to_twenty", "labour", (entry,)).note
    assert re.search(r"95 % interval over redrawn answers .* \d+% \(\d+% to \d+%\)\. Official shares", note), note


def test_win_matrices_are_those_of_the_evidence(drawn: Opened) -> None:
    entry = drawn.entry(benchmark="stereotypical_bias")
    full = full_of(drawn.space.state, entry)
    expected = full.values["race_occupation"].evidence["win_matrix"]["all"]
    texts = [text for text, _ in _marks(drawn, "stereotypical_bias", "wins", entry) if ", occupations: " in text]
    shares = [f"{100 * share:.1f} %" for line in expected for share in line if share is not None]
    assert [text.rpartition(": ")[2] for text in texts] == shares


def test_no_point_stands_above_the_bound_of_the_trade_off(drawn: Opened) -> None:
    for attribute in ("gender", "race"):
        table = draw_figure(drawn.space.state, "fact_or_fair", "inaugural", f"tradeoff-{attribute}", ()).table
        assert len(table.rows) == 20
        for row in table.rows:
            if row[2] == "objective":
                continue
            evenness, bound = float(row[4].split()[0]), float(row[5])
            assert evenness <= bound + 1.5, row  # printed scores are means over contexts of rounded numbers


def test_a_figure_of_many_models_stays_light_and_says_what_it_leaves_out(drawn: Opened) -> None:
    state = drawn.space.state
    for name in NAMES:
        rows = board_of(state, name, "inaugural")
        own = replace(rows[[row.provenance for row in rows].index("published")], provenance="scored here")
        many = tuple(replace(own, entry=f"{i:016x}", rank=i + 1, model=f"{HOSTILE} {i}") for i in range(MANY))
        for (of, figure_name), figure in EVERY.items():
            if of == name and not figure.needs:
                drawing = figure.draw(FigureInput(state, name, "inaugural", Board((*rows, *many)), (own,)))
                assert drawing.draw is None or len(drawing.draw(800).document()) < 300_000, figure_name
                assert len(drawing.table.rows) < 2 * MANY
                assert drawing.draw is None or "The figure shows" in drawing.note


def test_a_ranking_says_whom_a_rank_is_among_and_who_has_no_number(drawn: Opened) -> None:
    genres = draw_figure(drawn.space.state, "genres", "inaugural", "ranking", ())
    assert genres.table.columns[:3] == ["Model", "Evaluator", "Class"]
    ranks = [tuple(row[1:4]) for row in genres.table.rows if row[3] != "–"]
    assert len(set(ranks)) == len(ranks) > 3
    assert draw_figure(drawn.space.state, "fact_or_fair", "inaugural", "ranking", ()).table.columns[1] == "Kind"
    iris = draw_figure(drawn.space.state, "iris", "inaugural", "ranking", ())
    assert "Without a number: FLUX.1-dev," in iris.note
    assert iris.note.endswith(" Protocol: paper.")
    classes = {row[1] for row in iris.table.rows}
    assert classes == {"from the papers"}  # the baselines are of another protocol


def test_what_is_computed_from_printed_values_is_not_called_published(drawn: Opened) -> None:
    state = drawn.space.state
    line = draw_figure(state, "iris", "algorithm_1", "sectors", ("p-01",)).table.rows[0]
    assert line[:4] == ["Bagel", "computed here from the paper's tables", "68.98", "not available"]
    line = draw_figure(state, "iris", "inaugural", "sectors", ("p-01",)).table.rows[0]
    assert line[:4] == ["Bagel", "printed in a paper", "71.46", "69.81"]
    board = drawn.client.get("/board/iris/algorithm_1/scores/all").text
    assert '68.98<span class="below">computed here; 71.46 printed</span>' in board
    assert "not available" in board


def test_rewarded_drift_is_told_once_on_every_page_that_shows_it_and_only_under_its_standard(drawn: Opened) -> None:
    page = "/model/iris/p-01/under/"
    assert drawn.client.get(f"{page}inaugural").text.count("rewards a larger drift") == 1
    assert "rewards a larger drift" not in drawn.client.get(f"{page}algorithm_1").text


def test_one_far_score_does_not_hide_the_others(drawn: Opened) -> None:
    drawing = draw_figure(drawn.space.state, "iris", "inaugural", "sectors", (drawn.entry(benchmark="iris"), "p-01"))
    assert "Beyond the end of the axis (120):" in drawing.note
    assert drawing.draw is not None
    assert ">120</text>" in drawing.draw(760).document()
    assert ">140</text>" not in drawing.draw(760).document()


def test_the_figures_of_a_table_show_its_models_alone(drawn: Opened) -> None:
    for table, there, not_there in (("language-models", "GPT-4o", "SDXL"), ("image-models", "SDXL", "GPT-4o")):
        page = drawn.client.get(f"/board/fact_or_fair/inaugural/{table}").text
        addresses = re.findall(r'data-figure="([^"]+)"', page)
        assert len(addresses) == 3
        for address in addresses:
            assert f"table/{table}/" in address
            image = drawn.client.get(address).text
            assert there in image
            assert not_there not in image


def test_drawings_are_kept_until_the_board_changes(drawn: Opened) -> None:
    state = drawn.space.state
    first = draw_figure(state, "iris", "inaugural", "ranking", ())
    assert draw_figure(state, "iris", "inaugural", "ranking", ()) is first
    with pytest.raises(SpaceError):
        draw_figure(state, "iris", "inaugural", "ranking", ("p-99",))


def test_the_radar_draws_rows_of_one_protocol_with_all_six_sectors_and_names_the_others(drawn: Opened) -> None:
    state = drawn.space.state
    board = state.board("iris", "inaugural")
    part = next(row.entry for row in board if row.row_class == "printed" and row.rank is None)
    drawing = draw_figure(state, "iris", "inaugural", "radar", ("p-01", drawn.entry(benchmark="iris"), part))
    assert "Measured in another way, so not drawn: " in drawing.note
    assert "Not drawn without a number for all six sectors: " in drawing.note
    marks = _marks(drawn, "iris", "radar", f"p-01,{drawn.entry(benchmark='iris')},{part}")
    assert [text.partition(",")[0] for text, _ in marks] == ["Bagel"] * 6
    assert draw_figure(state, "iris", "inaugural", "radar", (part,)).draw is None


def test_the_space_has_a_stem_for_each_task_with_all_three_scores(drawn: Opened) -> None:
    marks = _marks(drawn, "iris", "space")
    rows = [row for row in drawn.space.state.board("iris", "inaugural") if row.row_class == "printed"]
    whole = [
        (row.model, task)
        for row in rows
        for task in ("Und", "Gen")
        if all(row.scores[f"{axis}_{task}"].value is not None for axis in ("IFS", "RFS", "BIS"))
    ]
    assert len(marks) == len(whole) > 10
