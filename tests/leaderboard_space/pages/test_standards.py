import html
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from fairspace.leaderboard_space.pages.standards import parameters
from fairspace.metrics.iris_score.granular import Granular
from fairspace.metrics.iris_score.standards import ALGORITHM_1, GRANULAR, INAUGURAL, STANDARDS
from fairspace.submissions.benchmarks.iris.about import succession
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.results.board import published_rows
from fairspace.submissions.standards import digest, document, moves
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import HOSTILE
from tests.leaderboard_space.pages.rows import page
from tests.submissions.benchmarks.iris.results import iris_result, release_all

APPEAL = Granular("PFS_appeal_gap", "PFS_Und", "appeal_gap", "gender")


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Six new models of six institutions reach 85 in two sectors; one has a hostile name and a new value."""
    rows = [iris_result(f"model {n}", f"lab {n}", 0.05, 0.02) for n in range(5)]
    rows.append(iris_result(HOSTILE, "lab 5", 0.05, PFS_appeal_gap=0.25))
    wider = replace(
        ALGORITHM_1,
        name="procedural_page",
        metrics=(*GRANULAR, APPEAL),
        metrics_sha256="",
        scale={**ALGORITHM_1.scale, "PFS_Und": 100.0},
        decay={**ALGORITHM_1.decay, "PFS_Und": 1.0},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(STANDARDS, wider.name, wider)
        with opened(tmp_path_factory.mktemp("standards"), tuple(rows)) as made:
            release_all(made.space.state)
            yield made


def _text(found: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", found)))


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_where_a_standard_comes_from_and_its_hashes(space: Opened, name: str) -> None:
    for standard in benchmark(name).standards.values():
        text = _text(page(space, f"/standard/{name}/{standard.name}"))
        assert digest(document(name, standard)) in text
        assert standard.why in text
        lead = text.split(f"{'draft' if standard.draft else 'released'} ", 1)[1]
        assert re.match(r"It [^.]*(best|better|even|set to 60)[^.]*\. ", lead) or standard.name == "procedural_page"
        assert standard.date in text
        assert all(sha256 in text for sha256 in standard.references.values())
        assert all(model in text for model in standard.cohort)
        assert ("Draft, not released" in text) == bool(standard.draft)
        assert all(task in text for task in benchmark(name).task_names())
    page(space, f"/standard/{name}/nothing", 404)


def test_a_further_sector_has_its_column_and_what_lacks_its_values_is_unranked(space: Opened) -> None:
    board = page(space, "/board/iris/procedural_page/scores/all")
    assert "PFS Und" in board
    assert "77.88" in board  # 100 exp(-0.25)
    assert "PFS Und" not in page(space, "/board/iris/inaugural/scores/all")
    for row in space.space.state.board("iris", "procedural_page")[:3]:
        page(space, f"/model/iris/{row.entry}/under/procedural_page")
    about = _text(page(space, "/standard/iris/procedural_page"))
    assert "61 in 7 sectors" in about
    assert "The 61 values" in about
    assert "PFS_appeal_gap" in about
    assert "checks of itself" not in about  # one model has the new value
    assert "Cronbach's alpha per sector" in _text(page(space, "/standard/iris/inaugural"))
    ranks = about[about.index("How ranks change") : about.index("Cohort", about.index("How ranks change"))]
    assert ranks.count("no rank here") == 5 + len(INAUGURAL.cohort)


def test_a_standards_page_counts_the_models_that_call_for_a_next_one(space: Opened) -> None:
    text = _text(page(space, "/standard/iris/algorithm_1"))
    assert "6 new models of 6 organisations score over 85" in text
    assert "(A.3.4): met." in text
    rows = space.space.state.board("iris", "algorithm_1")
    fewer = [row for row in rows if row.organisation not in ("lab 4", "lab 5")]
    assert "4 new models of 4 organisations" in succession(
        ALGORITHM_1, [*fewer, *published_rows("iris", "algorithm_1")]
    )
    assert "RFS_Und, which rewards drift, is left out" in _text(page(space, "/standard/iris/inaugural"))


def test_a_draft_says_so_wherever_it_ranks(site: Opened) -> None:
    chosen = "standard=algorithm_1"
    for address in ("/model/iris/p-01/under/algorithm_1", f"/?benchmark=iris&{chosen}"):
        assert "algorithm_1 (draft)" in page(site, address), address
    for address in ("/api/v1/boards/iris", "/api/v1/boards/iris/rows/p-01"):
        assert site.client.get(f"{address}?{chosen}").json()["draft"].startswith("IFS_Und"), address
    assert site.client.get("/api/v1/boards/iris").json()["draft"] == ""
    said = site.client.get("/download/iris/algorithm_1.csv").headers["Content-Disposition"]
    assert "algorithm_1-draft" in said


def test_changed_parameters_are_told_with_what_they_were() -> None:
    found = {one.name: one for one in parameters(ALGORITHM_1, INAUGURAL)}
    assert found["scale.IFS_Gen"].value == "58124.6"
    assert found["scale.IFS_Gen"].before == "58000"
    assert found["tau"].before is None
    assert found["sector_divisor.answer_consistency_difference"].before == "–"
    assert not any(one.before for one in parameters(INAUGURAL))


def test_moves_say_who_won_and_lost_places() -> None:
    one, two = (replace(row, rank=place) for place, row in enumerate(published_rows("iris", "inaugural")[:2], 1))
    turned = [replace(two, rank=1), replace(one, rank=2)]
    assert [move.change for move in moves(turned, [one, two])] == ["up 1", "down 1"]
    assert [move.change for move in moves([replace(one, rank=None)], [one])] == ["no rank here"]


def test_the_list_marks_the_standard_that_each_board_begins_with(space: Opened) -> None:
    cards = page(space, "/standards").split('<section class="card">')[1:]
    marked = [re.findall(r"/standard/(\w+)/(\w+)", card)[0] for card in cards if "the board’s standard" in card]
    assert marked == [(name, benchmark(name).default) for name in NAMES]
