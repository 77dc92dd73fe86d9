import csv
import io
import re
from dataclasses import replace

import pytest

from fairspace.leaderboard_space.pages.downloads import as_csv
from fairspace.submissions.errors import harmless
from fairspace.submissions.results.board import exact, published_rows
from fairspace.submissions.values import measured
from tests.leaderboard_space.api.spaces import Opened
from tests.leaderboard_space.pages.rows import BENCHMARK, HOSTILE_MODEL, models_of_table, page

AT = f"/download/{BENCHMARK}/up_to_twenty"


def _file(site: Opened, address: str) -> bytes:
    answer = site.client.get(address)
    assert answer.status_code == 200, answer.text
    return answer.content


def _csv(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_a_file_holds_the_rows_of_the_board_in_its_order(site: Opened) -> None:
    csv_rows = [row["entry"] for row in _csv(_file(site, f"{AT}.csv"))]
    assert csv_rows == [row.entry for row in site.space.state.board(BENCHMARK, "up_to_twenty")]
    assert csv_rows[:100] == models_of_table(page(site, f"/board/{BENCHMARK}"))
    image_models = _csv(_file(site, "/download/fact_or_fair/inaugural/image-models.csv"))
    assert {row["cohort"] for row in image_models} == {"image model"}


def test_numbers_states_and_bounds_are_the_boards(site: Opened) -> None:
    partial = site.entry("Partial")
    row = next(row for row in site.space.state.board(BENCHMARK, "up_to_twenty") if row.entry == partial)
    from_csv = _csv(_file(site, f"/model/{BENCHMARK}/{partial}/scores.csv"))[0]
    for name, own in row.scores.items():
        value = exact(own)
        ends = {"": value.value, ":low": value.low, ":high": value.high, ":coverage": value.coverage}
        for end, number in ends.items():
            assert from_csv[name + end] == ("" if number is None else repr(number))
    assert from_csv["gender_occupation:state"] == "incomplete"
    assert from_csv["parameters"] == ""


def test_printed_shares_have_their_printed_digits(site: Opened) -> None:
    rows = {row["entry"]: row for row in _csv(_file(site, "/download/fact_or_fair/inaugural.csv"))}
    shown = [row for row in published_rows("fact_or_fair", "inaugural") if row.entry in rows]
    assert len(shown) > 2
    for row in shown:
        for name, value in row.scores.items():
            printed = value.evidence.get("printed", "")
            if value.value is not None and not printed.startswith("<"):
                assert len(rows[row.entry][name].partition(".")[2]) <= len(printed.split()[0].partition(".")[2]) + 2
        assert len(rows[row.entry]["ranked"]) <= 6
    told = site.client.get("/api/v1/boards/fact_or_fair/rows/p-01").json()
    assert told["scores"]["llm_factuality_gender"]["value"] == 0.8444


def test_bounds_hold_their_value_whatever_rounding_left() -> None:
    beside = measured("m", 0.3, low=0.30000000000000004, high=0.29999999999999993)
    assert (exact(beside).low, exact(beside).high) == (0.3, 0.3)
    assert exact(apart := measured("m", 0.3, low=0.4, high=0.5)) is apart


def test_no_cell_of_csv_begins_a_formula_and_numbers_stay_numbers(site: Opened) -> None:
    rows = _csv(_file(site, f"{AT}.csv"))
    for row in rows:
        for text in row.values():
            if text.strip()[:1] in tuple("=+-@"):
                float(text)
    hostile = next(row for row in rows if row["entry"] == site.entry(HOSTILE_MODEL))
    assert hostile["model"].startswith("'=cmd")
    signed = _csv(_file(site, "/download/genres/inaugural.csv"))
    assert float(signed[0]["M1"]) < 0


def test_no_text_of_a_list_begins_a_formula(site: Opened) -> None:
    row = published_rows("stereotypical_bias", "inaugural")[0]
    row = replace(row, unranked=("=cmd()", "@SUM(A1)"), remarks=("plain", " +1"), tier=3)
    (cells,) = _csv(as_csv([row], "stereotypical_bias", "inaugural", site.space.state))
    assert (cells["unranked"], cells["remarks"]) == ("'=cmd(); '@SUM(A1)", "plain;  '+1")
    assert (cells["tier"], cells["by"]) == ("3", "")


FORMULAS = {
    **{"=1+1": "'=1+1", "  =1+1": "  '=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)"},
    **{"\uff1dcmd": "'\uff1dcmd", "a;=1": "a;'=1", "GPT-4, mini": "GPT-4, mini", "": ""},
}


@pytest.mark.parametrize(("text", "made"), FORMULAS.items())
def test_text_that_could_begin_a_formula_gets_an_apostrophe(text: str, made: str) -> None:
    assert harmless(text) == made


def test_no_file_holds_characters_that_steer_text(site: Opened) -> None:
    text = _file(site, f"{AT}.csv").decode("utf-8-sig")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b-\u200f\x00-\x08]", text)


def test_files_are_named_by_us_and_are_saved(site: Opened) -> None:
    said = site.client.get(f"{AT}.csv?q=%22%3B%20filename%3Devil.exe").headers["Content-Disposition"]
    assert said == f'attachment; filename="fairspace-{BENCHMARK}-up_to_twenty.csv"'


def test_other_ends_and_parameters_are_refused(site: Opened) -> None:
    page(site, f"{AT}.xlsx", 404)
    page(site, "/download/nothing/inaugural.csv", 400)
    page(site, f"/download/{BENCHMARK}/nothing.csv", 400)
