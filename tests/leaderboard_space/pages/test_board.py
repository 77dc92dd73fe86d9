import re
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from starlette.datastructures import QueryParams

from fairspace.leaderboard_space.boards.query import BoardQuery
from fairspace.leaderboard_space.boards.tables.column_sets import scale
from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.result_events import result_draft
from tests.leaderboard_space.api.spaces import Opened
from tests.leaderboard_space.factory import result
from tests.leaderboard_space.pages.rows import BENCHMARK, HOSTILE_MODEL, MANY, entries, entry_of, models, page

BOARD = f"/?benchmark={BENCHMARK}"


def test_the_first_page_is_the_first_benchmark_by_rank(site: Opened) -> None:
    text = page(site, "/")
    assert 'aria-sort="ascending" class="rank"' in text
    assert entries(text) == [row.entry for row in site.space.state.board("iris", "bounded")]


@pytest.mark.parametrize(
    "bad",
    [
        "benchmark=nothing",
        "standard=nothing",
        "table=nothing",
        "columns=nothing",
        "sort=nothing",
        "sort=--rank",
        "page=0",
        "page=x",
        "page=99999999999999999999",
        "page=%D9%A3",
        "size_from=big",
        "size_to=-1",
        "size_from=nan",
        "open_weights=perhaps",
        "task=nothing",
        "provenance=nothing",
        "ranked=2",
        "models=../../etc/passwd",
        "models=%00",
        "models=0123456789abcdef",
        "q=" + "x" * 201,
        "models=" + ",".join(f"p-{i:03}" for i in range(201)),
    ],
)
def test_values_that_are_not_known_are_refused_with_what_there_is(site: Opened, bad: str) -> None:
    text = page(site, f"/?{bad}", 400)
    assert "BAD_PARAMETER" in text
    assert "How to fix it" in text


def test_parameters_of_other_names_change_nothing(site: Opened) -> None:
    assert entries(page(site, "/?utm_source=x&__theme=dark")) == entries(page(site, "/"))


def test_an_address_names_all_that_is_asked_for_and_nothing_else() -> None:
    query = BoardQuery(
        BENCHMARK, "inaugural", "answered-only", "about", "a b&c", 0.5, 7.0, "MIT", "x", "yes", "vision_race",
        "recomputed", True, ("p-01", "p-02"), "-total", 2,
    )  # fmt: skip
    said = parse_qsl(query.address().partition("?")[2])
    assert BoardQuery.read(QueryParams(said)) == query
    assert BoardQuery(BENCHMARK, "inaugural").address() == f"{BOARD}&standard=inaugural"


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ("q=AURORA", ["Aurora"]),
        ("q=acme+bor", ["Borealis"]),
        ("size_from=7&size_to=8&q=acme", ["Aurora"]),
        ("size_from=10&q=acme", ["Borealis"]),
        ("licence=mit&q=acme", ["Aurora"]),
        ("architecture=autoregressive&open_weights=no&q=acme", ["Borealis"]),
        ("open_weights=yes&q=acme", ["Aurora"]),
        ("provenance=baseline", ["baseline: constant"]),
        ("q=acme&ranked=1&task=vision_race", ["Aurora", "Borealis"]),
        ("q=acme&provenance=published", []),
        ("q=%3Cscript%3E", [HOSTILE_MODEL]),
    ],
)
def test_filters_leave_the_rows_that_fit(site: Opened, filters: str, found: list[str]) -> None:
    assert models(site, f"{BOARD}&{filters}") == found


def test_filters_of_published_rows(site: Opened) -> None:
    rows = site.space.state.board(BENCHMARK, "inaugural")
    published = [row.model for row in rows if row.provenance == "published"]
    assert models(site, f"{BOARD}&provenance=published") == published


def test_sorting_both_ways_leaves_rows_without_a_number_last(site: Opened) -> None:
    shown = {row.entry: row.scores["gender_occupation"].value for row in site.space.state.board(BENCHMARK, "inaugural")}
    for sort, falling in (("gender_occupation", False), ("-gender_occupation", True)):
        numbers = [shown[entry] for entry in entries(page(site, f"{BOARD}&sort={sort}"))]
        there = [number for number in numbers if number is not None]
        assert there == sorted(there, reverse=falling)
        assert numbers[: len(there)] == there
    text = page(site, f"{BOARD}&sort=-model")
    assert 'aria-sort="descending" class="model"' in text
    assert f"{BOARD}&amp;standard=inaugural&amp;sort=model" in text


def test_pages_hold_a_hundred_rows_each_and_every_row_once(site: Opened) -> None:
    pages = [entries(page(site, f"{BOARD}&sort=model&page={number}")) for number in (1, 2, 3)]
    assert [len(one) for one in pages[:2]] == [100, 100]
    everything = [entry for one in pages for entry in one]
    assert len(everything) == len(set(everything)) == len(site.space.state.board(BENCHMARK, "inaugural")) > MANY
    assert entries(page(site, f"{BOARD}&sort=model&page=9")) == pages[2]


def test_a_page_of_a_hundred_rows_is_light(site: Opened) -> None:
    assert len(page(site, f"{BOARD}&columns=coverage").encode()) < 300_000


def test_a_permalink_shows_its_rows_alone_and_leads_to_all(site: Opened) -> None:
    chosen = [entry_of(site, "Aurora"), "p-02"]
    text = page(site, f"{BOARD}&standard=inaugural&models={','.join(chosen)}")
    assert set(entries(text)) == set(chosen)
    assert "Show all rows" in text
    form = page(site, f"{BOARD}&models={chosen[0]}&models={chosen[1]}")
    assert entries(form) == entries(text)


def test_a_permalink_tells_of_a_row_that_was_withdrawn(site: Opened) -> None:
    gone = entry_of(site, "Gone")
    text = page(site, f"{BOARD}&models={gone},p-01")
    assert entries(text) == ["p-01"]
    assert f'/model/{BENCHMARK}/{gone}">' in text
    assert "withdrawn" in text


def test_a_permalink_opens_the_table_that_its_rows_stand_in(site: Opened) -> None:
    rows = site.space.state.board("fact_or_fair", "inaugural")
    image = next(row.entry for row in rows if row.cohort == "image model")
    assert entries(page(site, f"/?benchmark=fact_or_fair&models={image}")) == [image]


@pytest.mark.parametrize("columns", ["scores", "profile", "coverage", "about"])
@pytest.mark.parametrize("benchmark", ["iris", "fact_or_fair", "stereotypical_bias", "genres"])
def test_hostile_names_stay_text_in_every_column_set(site: Opened, benchmark: str, columns: str) -> None:
    text = page(site, f"/?benchmark={benchmark}&columns={columns}")
    assert not re.search(r"<script>|<img src=x|onerror=alert\(1\)>|\u202e|<b>Corp", text)
    if benchmark == BENCHMARK:
        assert "&lt;script&gt;" in text


def test_no_script_stands_in_a_page(site: Opened) -> None:
    answer = site.client.get("/")
    assert "script-src 'self';" in answer.headers["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]*\ssrc=)[^>]*>|\son\w+=", answer.text)


def test_a_partial_score_stands_with_its_bounds_and_coverage(site: Opened) -> None:
    chosen = f"{BOARD}&models={entry_of(site, 'Partial')}"
    assert "0.2000 to 0.5000" in page(site, chosen)
    coverage = page(site, f"{chosen}&columns=coverage")
    assert "80.0 %" in coverage
    assert "worst 0.5000" in coverage


def test_footnotes_lead_to_the_errata_where_their_column_stands(site: Opened) -> None:
    assert '<a href="/errata#E-IRIS-02">' in page(site, "/?columns=profile&standard=inaugural")
    assert "/errata#E-IRIS-02" not in page(site, "/?columns=scores&standard=inaugural")


def test_a_board_that_did_not_change_is_not_sent_again(site: Opened) -> None:
    tag = site.client.get("/").headers["ETag"]
    assert site.client.get("/", headers={"If-None-Match": tag}).status_code == 304


def test_pages_are_kept_for_each_query_and_until_the_board_changes(site: Opened) -> None:
    first = page(site, f"{BOARD}&q=acme")
    assert page(site, f"{BOARD}&q=acme") == first
    assert page(site, f"{BOARD}&q=gap") != first
    late = result(BENCHMARK, "stereotyped", "Some model")
    late = replace(late, meta={**late.meta, "model": "Late", "organisation": "Acme"})
    site.space.storage.append([result_draft(late)[0]])
    site.space.state.refresh()
    assert "Late" in page(site, f"{BOARD}&q=acme")
    body = {"entry": entry_of(site, "Late"), "by": "m", "reason": "the test is over"}
    site.space.storage.append([Draft("withdrawn", "withdrawn:late:1", body)])
    site.space.state.refresh()
    assert page(site, f"{BOARD}&q=acme") == first


def test_lines_of_a_column_reach_as_far_as_its_numbers_but_not_to_what_lies_far_out() -> None:
    assert scale([]) == (0.0, 0.0)
    assert scale([50.0]) == (0.0, 50.0)
    assert scale([40.0, 50.0, 60.0, 70.0]) == (0.0, 70.0)
    low, high = scale([40.0, 50.0, 60.0, 70.0, 100_000.0])
    assert (low, high) == (0.0, 130.0)
