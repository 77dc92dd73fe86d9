import json
import re

import pytest

from fairspace.leaderboard_space.boards.table import ColumnScale, scales_of, strip
from fairspace.leaderboard_space.boards.view import Column
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import SENTENCES
from fairspace.submissions.values import Value, measured
from tests.leaderboard_space.api.spaces import Opened
from tests.leaderboard_space.factory import add, result
from tests.leaderboard_space.pages.rows import BENCHMARK, MANY, entries, models_of_table, page

BOARD = f"/board/{BENCHMARK}"


def line_of(text: str, entry: str) -> str:
    """The line of a row."""
    return text[text.index(f'data-entry="{entry}"') :].partition("</tr>")[0]


def test_a_board_has_its_rows_by_rank(site: Opened) -> None:
    text = page(site, "/board/iris")
    assert entries(text) == [row.entry for row in site.space.state.board("iris", "inaugural")]


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        ("nothing", 400),
        ("iris/nothing", 400),
        ("iris/inaugural/nothing", 400),
        ("iris/page/0", 400),
        ("iris/page/x", 400),
        ("iris/page/99999999999999999999", 400),
        ("iris/page/%D9%A3", 400),
        ("iris/page/99", 404),
        ("iris/inaugural/scores/further", 404),
        ("../../etc/passwd", 404),
    ],
)
def test_addresses_that_lead_nowhere_are_refused_with_what_there_is(site: Opened, bad: str, status: int) -> None:
    text = page(site, f"/board/{bad}", status)
    assert "BAD_PARAMETER" in text or "UNKNOWN_PAGE" in text
    assert "How to fix it" in text
    assert not [file for file in site.maker.folder.rglob("*") if file.is_file() and bad in file.as_posix()]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("/?benchmark=iris", "/board/iris"),
        ("/?benchmark=iris&standard=inaugural&page=1", "/board/iris/inaugural"),
        ("/?benchmark=iris&columns=all&page=2&q=a+b", "/board/iris/all/page/2?q=a+b"),
        ("/?benchmark=fact_or_fair&table=image-models", "/board/fact_or_fair/shuffled/image-models"),
        ("/?benchmark=iris&models=p-01,p-02&from=papers", "/board/iris?models=p-01,p-02"),
        ("/model/iris/p-01?standard=algorithm_1", "/model/iris/p-01/under/algorithm_1"),
        ("/model/iris/p-01/scores.tex?standard=inaugural", "/model/iris/p-01/under/inaugural/scores.tex"),
        ("/download/iris/inaugural.csv?models=p-01", "/model/iris/p-01/under/inaugural/scores.csv"),
        ("/api/v1/boards/iris?standard=inaugural&page=1", "/api/v1/boards/iris/under/inaugural/page/1"),
    ],
)
def test_former_addresses_lead_to_the_present_ones(site: Opened, before: str, now: str) -> None:
    answer = site.client.get(before, follow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (308, now)


def test_parameters_change_nothing(site: Opened) -> None:
    assert page(site, f"{BOARD}?utm_source=x&__theme=dark&sort=-model&size_from=big&q=nobody") == page(site, BOARD)


def test_pages_hold_a_hundred_rows_each_and_every_row_once(site: Opened) -> None:
    texts = [page(site, f"{BOARD}/page/{number}") for number in (1, 2, 3)]
    pages = [models_of_table(text) for text in texts]
    assert [len(rows) for rows in pages[:2]] == [100, 100]
    baselines = entries(texts[0])[100:]
    assert [entries(text)[len(rows) :] for text, rows in zip(texts[1:], pages[1:], strict=True)] == [[], []]
    everything = [entry for rows_of_page in pages for entry in rows_of_page] + baselines
    board = site.space.state.board(BENCHMARK, "up_to_twenty")
    assert len(everything) == len(set(everything)) == len(board) > MANY
    data = json.loads(page(site, f"{BOARD}/up_to_twenty/all-questions/board.json"))
    assert [row["entry"] for row in data["rows"]] == everything
    assert line_of(data["rows"][0]["tr"], everything[0]) == line_of(texts[0], everything[0])


def test_rows_with_a_score_stand_first_and_what_was_submitted_waits_below_them(site: Opened) -> None:
    state = site.space.state
    add(state, result(BENCHMARK, "stereotyped", "Submitted by a stranger"), "stranger")
    board = {row.entry: row for row in state.board(BENCHMARK)}
    text = page(site, BOARD)
    data = json.loads(page(site, f"{BOARD}/up_to_twenty/all-questions/board.json"))
    parts = [row["part"] for row in data["rows"]]
    assert parts == sorted(parts, key=list(data["sections"]).index)
    waiting = [row for row in data["rows"] if row["part"] == "waiting"]
    assert [row["model"] for row in waiting] == ["Submitted by a stranger"]
    assert all(board[row["entry"]].rank is None for row in waiting)
    assert all(board[row["entry"]].scores["total"].value is None for row in data["rows"] if row["part"] == "unscored")
    assert re.search(r'href="/board/stereotypical_bias(/page/\d)?#waiting">Waiting for a check \(1\)', text)
    first = page(site, "/board/fact_or_fair")
    printed = {row.entry for row in state.board("fact_or_fair") if row.row_class == "printed"}
    assert set(entries(first)[:6]) <= printed, "the models with numbers"


def test_models_of_different_protocols_share_no_scale() -> None:
    rows = [Row(f"r{n}", "", "", "published", "", _number(n), group=group) for n, group in ((2.0, "a"), (50.0, "b"))]
    scales = scales_of(Column("s", "S"), rows)
    assert scales == {("", "a"): ColumnScale(0.0, 2.0), ("", "b"): ColumnScale(0.0, 50.0)}
    marks = [strip(measured("s", 1.0, low=0.5, high=end), scales["", "a"]) for end in (1.5, 3.0)]
    assert [mark.cut for mark in marks if mark] == [False, True]


def _number(number: float) -> dict[str, Value]:
    return {"s": measured("s", number)}


def test_a_row_carries_what_the_browser_searches_and_sorts_by(site: Opened) -> None:
    text = page(site, f"{BOARD}/all")
    own = line_of(text, site.entry("Borealis"))
    assert 'data-q="borealis acme" data-provenance="recomputed" data-licence="Apache-2.0"' in own
    assert 'data-architecture="autoregressive" data-open_weights="no"' in own
    assert 'data-size="70"' in own
    assert "vision_race" in own
    row = next(row for row in site.space.state.board(BENCHMARK, "up_to_twenty") if row.entry == "p-02")
    data = json.loads(page(site, f"{BOARD}/up_to_twenty/all-questions/all/board.json"))
    line = next(each["tr"] for each in data["rows"] if each["entry"] == "p-02")
    assert f'data-key="{row.scores["gender_occupation"].value}"' in line
    assert 'data-key="borealis"' in own


def test_all_columns_are_one_link_away_and_three_parts_of_the_score_stand_there_at_first(site: Opened) -> None:
    for benchmark in ("iris", "fact_or_fair", "stereotypical_bias", "genres"):
        text = page(site, f"/board/{benchmark}")
        few, whole = (
            re.findall(r'data-sort="-?([^"]+)"', html) for html in (text, page(site, f"/board/{benchmark}/all"))
        )
        assert len(set(few)) <= (8 if benchmark == "fact_or_fair" else 7), "fairness, both S_E, and facts beside it"
        assert set(few) < set(whole)
        assert {"licence", "remarks"} < set(whole)
        assert f"/board/{benchmark}/all" in text


def test_a_page_of_a_hundred_rows_is_light(site: Opened) -> None:
    assert len(page(site, BOARD).encode()) < 300_000
    assert len(page(site, f"{BOARD}/all").encode()) < 900_000


@pytest.mark.parametrize("columns", ["", "/all"])
def test_every_choice_of_columns_has_the_three_numbers_and_folds_the_rest(site: Opened, columns: str) -> None:
    text = page(site, f"{BOARD}{columns}")
    for header in (">Rank<", ">Mean<", ">By chance<"):
        assert header in text
    line = line_of(text, site.entry("Aurora"))
    assert line.count('<details class="fold">') == 1
    folded = re.findall(r"<dt>([a-z ]+)</dt><dd>", line[line.index('class="fold"') :])
    assert folded == [name for name in SENTENCES if name in folded]
    assert all(sentence in text for sentence in SENTENCES.values())


def test_baselines_stand_in_a_fold_below_the_table(site: Opened) -> None:
    table, _, fold = page(site, BOARD).partition('<details class="baselines"')
    rows = {row.entry: row for row in site.space.state.board(BENCHMARK, "up_to_twenty")}
    assert not any(rows[entry].row_class == "baseline" for entry in entries(table))
    assert [rows[entry].model for entry in entries(fold)] == ["baseline: constant"]


def test_rows_without_a_rank_stand_by_their_value(site: Opened) -> None:
    rows = site.space.state.board(BENCHMARK, "up_to_twenty")
    values = [row.scores["total"].value for row in rows if row.row_class == "printed"]
    there = [value for value in values if value is not None]
    assert len(there) > 2
    assert values == sorted(there) + [None] * (len(values) - len(there))
    assert "From the papers, unranked" in page(site, f"{BOARD}/page/3")


def test_ranks_that_are_counted_within_cohorts_stand_under_headings_of_their_own(site: Opened) -> None:
    parts = re.findall(r'rowheader" colspan="\d+"><span>([^<]+)</span>', page(site, "/board/genres"))
    assert parts == [f"From the papers · evaluator {name}" for name in ("GLM", "Llama", "Mistral")]


@pytest.mark.parametrize("benchmark", ["iris", "fact_or_fair", "stereotypical_bias", "genres"])
def test_hostile_names_stay_text_in_every_column(site: Opened, benchmark: str) -> None:
    text = page(site, f"/board/{benchmark}/all")
    assert not re.search(r"<script>|<img src=x|onerror=alert\(1\)>|\u202e|<b>Corp", text)
    if benchmark == BENCHMARK:
        assert "&lt;script&gt;" in text


def test_no_script_stands_in_a_page(site: Opened) -> None:
    answer = site.client.get("/board/iris")
    assert "script-src 'self';" in answer.headers["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]*\ssrc=)[^>]*>|<[^>]*\son\w+=", answer.text)


def test_a_partial_score_is_marked_with_what_is_missing(site: Opened) -> None:
    data = json.loads(page(site, f"{BOARD}/up_to_twenty/all-questions/board.json"))
    text = next(row["tr"] for row in data["rows"] if row["model"] == "Partial")
    assert '<span class="below">20 % missing</span>' in text
    assert "<dt>missing</dt><dd>could be " in text
    assert "<dt>state</dt><dd>incomplete</dd>" in text


def test_footnotes_lead_to_the_errata_where_their_column_stands(site: Opened) -> None:
    assert '<a href="/errata#E-IRIS-02">' in page(site, "/board/iris/inaugural/scores/all")
    assert "/errata#E-IRIS-02" not in page(site, "/board/iris/inaugural")


def test_a_scale_reaches_as_far_as_its_numbers_and_tells_them_apart_but_not_to_what_lies_far_out() -> None:
    def scale(*numbers: float, handed_in: float | None = None, ideal: float | None = None) -> ColumnScale:
        rows = [Row(f"p{place}", "", "", "published", "", {}) for place in range(len(numbers))]
        values = {row.entry: number for row, number in zip(rows, numbers, strict=True)}
        if handed_in is not None:
            rows.append(Row("own", "", "", "scored here", "", {}))
            values["own"] = handed_in
        return ColumnScale.of(values, rows, 0.0, ideal)

    assert scale() == ColumnScale(0.0, 0.0)
    assert scale(50.0) == ColumnScale(0.0, 50.0)
    assert scale(50.0, ideal=100.0) == ColumnScale(0.0, 100.0)
    printed = scale(40.0, 55.0, 60.0, 86.19, 91.18, 100.0)
    assert len({printed.place(number) for number in (86.19, 91.18, 100.0)}) == 3
    forged = scale(40.0, 60.0, handed_in=147_306.0)
    assert forged == ColumnScale(0.0, 60.0)
    assert (forged.place(147_306.0), forged.holds(147_306.0)) == (100.0, False)
    assert scale(-2.0, 3.0) == ColumnScale(-2.0, 3.0)
