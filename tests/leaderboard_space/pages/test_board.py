import re

import pytest

from fairspace.leaderboard_space.boards.table import Scale, scales_of, strip
from fairspace.leaderboard_space.boards.view import Column
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import SENTENCES
from fairspace.submissions.values import Value, measured
from tests.leaderboard_space.api.spaces import Opened
from tests.leaderboard_space.pages.rows import (
    BENCHMARK,
    MANY,
    entries,
    entry_of,
    models_of_table,
    page,
)

BOARD = f"/?benchmark={BENCHMARK}"


def test_a_board_has_its_rows_by_rank(site: Opened) -> None:
    text = page(site, "/?benchmark=iris")
    assert entries(text) == [row.entry for row in site.space.state.board("iris", "inaugural")]


@pytest.mark.parametrize(
    "bad",
    [
        "benchmark=nothing",
        "standard=nothing",
        "table=nothing",
        "page=0",
        "page=x",
        "page=99999999999999999999",
        "page=%D9%A3",
        "models=../../etc/passwd",
        "models=%00",
        "models=0123456789abcdef",
        "models=" + ",".join(f"p-{i:03}" for i in range(201)),
    ],
)
def test_values_that_are_not_known_are_refused_with_what_there_is(site: Opened, bad: str) -> None:
    text = page(site, f"/?benchmark=iris&{bad}" if "benchmark" not in bad else f"/?{bad}", 400)
    assert "BAD_PARAMETER" in text
    assert "How to fix it" in text


def test_parameters_of_other_names_change_nothing(site: Opened) -> None:
    assert entries(page(site, f"{BOARD}&utm_source=x&__theme=dark&sort=-model&size_from=big&q=nobody")) == entries(
        page(site, BOARD)
    )


def test_pages_hold_a_hundred_rows_each_and_every_row_once(site: Opened) -> None:
    texts = [page(site, f"{BOARD}&page={number}") for number in (1, 2, 3)]
    pages = [models_of_table(text) for text in texts]
    assert [len(one) for one in pages[:2]] == [100, 100]
    baselines = entries(texts[0])[100:]
    assert [entries(text)[len(one) :] for text, one in zip(texts[1:], pages[1:], strict=True)] == [[], []]
    printed = entries(page(site, f"{BOARD}&from=papers"))
    everything = [entry for rows_of_page in pages for entry in rows_of_page] + baselines + printed
    assert len(everything) == len(set(everything)) == len(site.space.state.board(BENCHMARK, "up_to_twenty")) > MANY
    assert entries(page(site, f"{BOARD}&page=9")) == pages[2]


def test_printed_rows_have_a_tab_which_opens_where_no_model_that_was_run_here_has_a_number(site: Opened) -> None:
    classes = {row.entry: row.row_class for row in site.space.state.board(BENCHMARK, "up_to_twenty")}
    here, printed = (page(site, f"{BOARD}&from={tab}") for tab in ("here", "papers"))
    assert "printed" not in {classes[entry] for entry in entries(here)}
    assert {classes[entry] for entry in entries(printed)} == {"printed"}
    assert entries(page(site, BOARD)) == entries(here)
    assert ">By chance</span>" not in printed
    assert "No model was run here yet" in page(site, "/?benchmark=iris&from=here")
    assert "From the papers (12)</a>" in page(site, "/?benchmark=iris&table=scores")
    page(site, f"{BOARD}&from=nowhere", 400)


def test_models_of_different_protocols_share_no_scale() -> None:
    rows = [Row(f"r{n}", "", "", "published", "", _number(n), group=group) for n, group in ((2.0, "a"), (50.0, "b"))]
    scales = scales_of(Column("s", "S"), rows)
    assert scales == {("", "a"): Scale(0.0, 2.0), ("", "b"): Scale(0.0, 50.0)}
    marks = [strip(measured("s", 1.0, low=0.5, high=end), scales["", "a"]) for end in (1.5, 3.0)]
    assert [mark.cut for mark in marks if mark] == [False, True]


def _number(number: float) -> dict[str, Value]:
    return {"s": measured("s", number)}


def test_a_row_carries_what_the_browser_searches_and_sorts_by(site: Opened) -> None:
    text = page(site, f"{BOARD}&columns=all&models={entry_of(site, 'Borealis')},p-02")
    own = next(line for line in text.splitlines() if 'data-q="borealis acme"' in line)
    assert 'data-provenance="recomputed" data-licence="Apache-2.0" data-architecture="autoregressive"' in own
    assert 'data-open_weights="no"' in own
    assert 'data-size="70"' in own
    assert "vision_race" in own
    row = next(row for row in site.space.state.board(BENCHMARK, "up_to_twenty") if row.entry == "p-02")
    assert f'data-key="{row.scores["gender_occupation"].value}"' in text
    assert 'data-key="borealis"' in text


def test_all_columns_are_one_link_away_and_three_parts_of_the_score_stand_there_at_first(site: Opened) -> None:
    for benchmark in ("iris", "fact_or_fair", "stereotypical_bias", "genres"):
        text = page(site, f"/?benchmark={benchmark}")
        few, whole = (
            re.findall(r'data-sort="-?([^"]+)"', found)
            for found in (text, page(site, f"/?benchmark={benchmark}&columns=all"))
        )
        assert len(set(few)) <= 7
        assert set(few) < set(whole)
        assert {"licence", "remarks"} < set(whole)
        assert "columns=all" in text


def test_a_page_of_a_hundred_rows_is_light(site: Opened) -> None:
    assert len(page(site, BOARD).encode()) < 300_000
    assert len(page(site, f"{BOARD}&columns=all").encode()) < 900_000


def test_a_permalink_shows_its_rows_alone_and_leads_to_all(site: Opened) -> None:
    chosen = [entry_of(site, "Aurora"), "p-02"]
    text = page(site, f"{BOARD}&standard=up_to_twenty&models={','.join(chosen)}")
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


@pytest.mark.parametrize("columns", ["none", "all", "licence,total"])
def test_every_choice_of_columns_has_the_three_numbers_and_folds_the_rest(site: Opened, columns: str) -> None:
    text = page(site, f"{BOARD}&columns={columns}&models={entry_of(site, 'Aurora')}")
    for header in (">Rank<", ">Mean<", ">By chance<"):
        assert header in text
    assert text.count('<details class="fold">') == 1
    folded = re.findall(r"<dt>([a-z ]+)</dt><dd>", text[text.index('class="fold"') : text.index("</tbody>")])
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
    assert "From the papers, unranked" in page(site, f"{BOARD}&models=p-01,p-02,p-03")


def test_ranks_that_are_counted_within_cohorts_stand_under_headings_of_their_own(site: Opened) -> None:
    parts = re.findall(r'rowheader" colspan="\d+"><span>([^<]+)</span>', page(site, "/?benchmark=genres"))
    assert parts == [f"From the papers · evaluator {name}" for name in ("GLM", "Llama", "Mistral")]


@pytest.mark.parametrize("benchmark", ["iris", "fact_or_fair", "stereotypical_bias", "genres"])
def test_hostile_names_stay_text_in_every_column(site: Opened, benchmark: str) -> None:
    text = page(site, f"/?benchmark={benchmark}&columns=all")
    assert not re.search(r"<script>|<img src=x|onerror=alert\(1\)>|\u202e|<b>Corp", text)
    if benchmark == BENCHMARK:
        assert "&lt;script&gt;" in text


def test_no_script_stands_in_a_page(site: Opened) -> None:
    answer = site.client.get("/?benchmark=iris")
    assert "script-src 'self';" in answer.headers["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]*\ssrc=)[^>]*>|<[^>]*\son\w+=", answer.text)


def test_a_partial_score_is_marked_with_what_is_missing(site: Opened) -> None:
    chosen = f"{BOARD}&models={entry_of(site, 'Partial')}"
    text = page(site, chosen)
    assert '<span class="below">20 % missing</span>' in text
    assert "<dt>missing</dt><dd>could be " in text
    assert "<dt>state</dt><dd>incomplete</dd>" in text


def test_footnotes_lead_to_the_errata_where_their_column_stands(site: Opened) -> None:
    assert '<a href="/errata#E-IRIS-02">' in page(site, "/?benchmark=iris&columns=all&standard=inaugural")
    assert "/errata#E-IRIS-02" not in page(site, "/?benchmark=iris&standard=inaugural")


def test_a_scale_reaches_as_far_as_its_numbers_and_tells_them_apart_but_not_to_what_lies_far_out() -> None:
    def scale(*numbers: float, handed_in: float | None = None, ideal: float | None = None) -> Scale:
        rows = [Row(f"p{place}", "", "", "published", "", {}) for place in range(len(numbers))]
        values = {row.entry: number for row, number in zip(rows, numbers, strict=True)}
        if handed_in is not None:
            rows.append(Row("own", "", "", "scored here", "", {}))
            values["own"] = handed_in
        return Scale.of(values, rows, 0.0, ideal)

    assert scale() == Scale(0.0, 0.0)
    assert scale(50.0) == Scale(0.0, 50.0)
    assert scale(50.0, ideal=100.0) == Scale(0.0, 100.0)
    printed = scale(40.0, 55.0, 60.0, 86.19, 91.18, 100.0)
    assert len({printed.place(number) for number in (86.19, 91.18, 100.0)}) == 3
    forged = scale(40.0, 60.0, handed_in=147_306.0)
    assert forged == Scale(0.0, 60.0)
    assert (forged.place(147_306.0), forged.holds(147_306.0)) == (100.0, False)
    assert scale(-2.0, 3.0) == Scale(-2.0, 3.0)
