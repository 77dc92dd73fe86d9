"""Figures as JSON: every one of every benchmark and standard, what is drawn and what is told, and hostile names."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import plotly
import plotly.graph_objects as go
import pytest

from fairspace.leaderboard_space.boards.figures.figures import Source
from fairspace.leaderboard_space.boards.figures.gallery import board_of, split_models
from fairspace.leaderboard_space.boards.figures.plots import Series
from fairspace.leaderboard_space.boards.stereotypical_bias import official
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.pages.figures import GALLERY, PLOTLY
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.results.result import Result
from fairspace.submissions.values import measured, not_run
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import HOSTILE, renamed, result

FIGURES = sorted(GALLERY.figures)
MANY = 400


def _named(found: Result, model: str) -> Result:
    return renamed(replace(found, meta={**found.meta, "baseline": None}), model)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """A Space with a hostile name on every board."""
    found = [_named(result(name, "refusing" if name == "genres" else "stereotyped"), HOSTILE) for name in NAMES]
    with opened(tmp_path_factory.mktemp("figures"), (*found, result("fact_or_fair", "refusing"))) as space:
        yield space


def _entry(space: Opened, name: str) -> str:
    return next(own.entry for own in space.space.state.entries() if own.benchmark == name)


def _json(space: Opened, name: str, figure: str, models: str = "", standard: str = "inaugural") -> dict[str, Any]:
    answer = space.client.get(f"/figures/{name}/{standard}/{figure}.json?models={models}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize(("name", "figure"), FIGURES)
def test_every_figure_is_valid_plotly_under_every_standard(drawn: Opened, name: str, figure: str) -> None:
    entry = _entry(drawn, name)
    for standard in benchmark(name).standards:
        for models in ("", entry, "p-01", f"{entry},p-01,p-02,p-03"):
            if not models and GALLERY.find(name, figure).needs:
                continue
            go.Figure(_json(drawn, name, figure, models, standard))


@pytest.mark.parametrize(("name", "figure"), FIGURES)
def test_a_hostile_name_is_text_in_a_figure(drawn: Opened, name: str, figure: str) -> None:
    text = json.dumps(_json(drawn, name, figure, _entry(drawn, name)))
    assert "<script" not in text
    assert "<img" not in text


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_its_numbers_as_a_table_or_says_what_is_missing(drawn: Opened, name: str) -> None:
    state, entry = drawn.space.state, _entry(drawn, name)
    for figure in (figure for (of, _), figure in GALLERY.figures.items() if of == name):
        drawing = GALLERY.drawing(state, name, "inaugural", figure.name, (entry,))
        assert drawing.table.rows or drawing.note
        assert drawing.draw is not None or drawing.note
        assert all(len(row) == len(drawing.table.headers) for row in drawing.table.rows)
        assert figure.how_to_read


def test_an_answer_that_is_known_is_not_sent_again(drawn: Opened) -> None:
    address = "/figures/iris/inaugural/ranking.json"
    first = drawn.client.get(address)
    assert drawn.client.get(address, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304


@pytest.mark.parametrize(
    ("address", "status", "code"),
    [
        ("/figures/nothing/inaugural/ranking.json", 404, "UNKNOWN_PAGE"),
        ("/figures/iris/nothing/ranking.json", 404, "UNKNOWN_PAGE"),
        ("/figures/iris/inaugural/nothing.json", 404, "UNKNOWN_PAGE"),
        ("/figures/iris/inaugural/radar.json", 400, "BAD_PARAMETER"),
        ("/figures/iris/inaugural/radar.json?models=p-99", 404, "UNKNOWN_ENTRY"),
        ("/figures/iris/inaugural/radar.json?models=p-01,p-02,p-03,p-04,p-05", 400, "BAD_PARAMETER"),
        ("/site/plotly/0.0.0.js", 404, "UNKNOWN_PAGE"),
    ],
)
def test_what_is_no_figure_is_refused(drawn: Opened, address: str, status: int, code: str) -> None:
    answer = drawn.client.get(address)
    assert answer.status_code == status
    assert code in answer.text


def test_plotly_is_sent_packed_and_for_ever(drawn: Opened) -> None:
    answer = drawn.client.get(PLOTLY)
    assert plotly.__version__ in PLOTLY
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "immutable" in answer.headers["Cache-Control"]
    assert f"plotly.js v{_version(answer.text)}" in answer.text[:200]
    plain = drawn.client.get(PLOTLY, headers={"Accept-Encoding": "identity"})
    assert plain.content == answer.content
    assert len(gzip.compress(answer.content, 6)) < 2_000_000


def _version(script: str) -> str:
    return script.split("plotly.js v", 1)[1].split("\n", 1)[0].strip()


def test_bounds_are_drawn_and_told() -> None:
    values = [measured("a", 0.5, low=0.4, high=0.7), measured("b", 0.5, low=0.5, high=0.5), not_run("c", "none"), None]
    series = Series("model", values, 100)
    assert series.numbers() == [50.0, 50.0, None, None]
    errors = series.errors()
    assert errors["array"] == [pytest.approx(20), None, None, None]
    assert errors["arrayminus"] == [pytest.approx(10), None, None, None]


def test_answers_that_refuse_are_known_and_drawn_as_such(drawn: Opened) -> None:
    """The refusing baseline answers nothing rightly and treats nobody fairly; what it was not asked has no number."""
    refusing = next(
        row for row in drawn.space.state.board("fact_or_fair", "inaugural") if row.model.endswith("refusing")
    )
    assert {value.value for name, value in refusing.scores.items() if "llm" in name} == {0.0}
    assert {value.state for name, value in refusing.scores.items() if "t2i" in name} <= {"not_run", "undefined"}
    table = GALLERY.drawing(drawn.space.state, "fact_or_fair", "inaugural", "scores", (refusing.entry,)).table
    assert "undefined" not in table.rows[0]


def test_evidence_that_is_not_there_is_told_as_not_printed(drawn: Opened) -> None:
    state = drawn.space.state
    for name in ("labour", "wins"):
        drawing = GALLERY.drawing(state, "stereotypical_bias", "inaugural", name, ("p-01",))
        assert drawing.draw is None
        assert "the paper does not print" in drawing.note
        assert "LLaVA-v1.5" in drawing.note
    relations = GALLERY.drawing(state, "genres", "inaugural", "relations", ("p-01",))
    assert "Not printed by relational model: Qwen-3B" in relations.note
    assert {cell for row in relations.table.rows for cell in row[4:]} == {"not printed"}


def test_labour_statistics_stand_beside_what_the_answers_say(drawn: Opened) -> None:
    entry = _entry(drawn, "stereotypical_bias")
    full = drawn.space.state.full(entry)
    assert full is not None
    told = full.values["gender_occupation"].evidence["by_instance"]
    assert set(official()) == set(told)
    figure = go.Figure(_json(drawn, "stereotypical_bias", "labour", entry))
    picked, share = figure.data
    assert list(share.x) == pytest.approx([100 * women for _, women in official().values()])
    assert list(picked.x) == pytest.approx([100 * told[name]["p"]["female"] for name in official()])
    note = GALLERY.drawing(drawn.space.state, "stereotypical_bias", "inaugural", "labour", (entry,)).note
    assert re.search(r"95 % interval over redrawn answers .* \d+% \(\d+% to \d+%\)\. Official shares", note), note


def test_win_matrices_are_those_of_the_evidence(drawn: Opened) -> None:
    entry = _entry(drawn, "stereotypical_bias")
    full = drawn.space.state.full(entry)
    assert full is not None
    figure = go.Figure(_json(drawn, "stereotypical_bias", "wins", entry))
    expected = full.values["race_occupation"].evidence["win_matrix"]["all"]
    drawn_matrix = [[None if x is None else x / 100 for x in line] for line in figure.data[0].z]
    assert drawn_matrix == expected


def test_no_point_stands_above_the_bound_of_the_trade_off(drawn: Opened) -> None:
    for attribute in ("gender", "race"):
        table = GALLERY.drawing(drawn.space.state, "fact_or_fair", "inaugural", f"tradeoff-{attribute}", ()).table
        assert len(table.rows) > 20
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
        for (of, figure_name), figure in GALLERY.figures.items():
            if of == name and not figure.needs:
                drawing = figure.draw(Source(state, name, "inaugural", (*rows, *many), (own,)))
                assert len(drawing.json) < 300_000, figure_name
                assert len(drawing.table.rows) < 2 * MANY
                assert drawing.draw is None or "The figure shows" in drawing.note


def test_a_ranking_says_whom_a_rank_is_among_and_who_has_no_number(drawn: Opened) -> None:
    genres = GALLERY.drawing(drawn.space.state, "genres", "inaugural", "ranking", ())
    assert genres.table.headers[:3] == ["Model", "Evaluator", "Rank"]
    ranks = [tuple(row[1:3]) for row in genres.table.rows if row[2] != "–"]
    assert len(set(ranks)) == len(ranks) > 3
    assert GALLERY.drawing(drawn.space.state, "fact_or_fair", "inaugural", "ranking", ()).table.headers[1] == "Kind"
    iris = GALLERY.drawing(drawn.space.state, "iris", "inaugural", "ranking", ())
    assert "Without a number: FLUX.1-dev," in iris.note


def test_what_is_computed_from_printed_values_is_not_called_published(drawn: Opened) -> None:
    state = drawn.space.state
    line = GALLERY.drawing(state, "iris", "algorithm_1", "sectors", ("p-01",)).table.rows[0]
    assert line[:4] == ["Bagel", "computed from printed values", "68.98", "not available"]
    line = GALLERY.drawing(state, "iris", "inaugural", "sectors", ("p-01",)).table.rows[0]
    assert line[:4] == ["Bagel", "published", "71.46", "69.81"]
    board = drawn.client.get("/?benchmark=iris&standard=algorithm_1").text
    assert '68.98<span class="below">computed</span>' in board
    assert "not available" in board


def test_rewarded_drift_is_told_beside_every_figure_that_shows_it_and_only_under_its_standard(drawn: Opened) -> None:
    state = drawn.space.state
    for where in ("model", "compare", "space"):
        told = GALLERY.place(state, "iris", "inaugural", where, ("p-01",))
        assert all("rewards a larger drift" in placed.caution for placed in told)
        assert not any(placed.caution for placed in GALLERY.place(state, "iris", "algorithm_1", where, ("p-01",)))


def test_one_far_score_does_not_hide_the_others(drawn: Opened) -> None:
    drawing = GALLERY.drawing(drawn.space.state, "iris", "inaugural", "sectors", (_entry(drawn, "iris"), "p-01"))
    assert "Beyond the end of the axis (120):" in drawing.note
    figure = go.Figure(json.loads(drawing.json))
    assert figure.layout.yaxis.range[1] < 130


def test_drawings_are_kept_until_the_board_changes(drawn: Opened) -> None:
    state = drawn.space.state
    first = GALLERY.drawing(state, "iris", "inaugural", "ranking", ())
    assert GALLERY.drawing(state, "iris", "inaugural", "ranking", ()) is first
    with pytest.raises(SpaceError):
        GALLERY.drawing(state, "iris", "inaugural", "ranking", ("p-99",))


def test_entries_are_read_without_any_sign_that_none_has() -> None:
    assert split_models("p-01,,p-01, 5981838a03db2103,<b>\"'") == ("p-01", "5981838a03db2103", "b")
    assert split_models("") == ()
