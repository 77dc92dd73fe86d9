"""Intervals, tiers and chances on the pages, in the API and in the files, of three models whose errors are known."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fairspace.leaderboard_space.pages.model import without_error
from fairspace.submissions.uncertainty.uncertainty import Uncertainty
from fairspace.submissions.uncertainty.variant import Variant
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.pages.rows import page
from tests.submissions.results.test_tiers import BENCH, result, waves

BOARD = f"/?benchmark={BENCH}"


@pytest.fixture(scope="module")
def sure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """`best` and `close` cannot be told apart; `far` misses answers, and was measured by another judge, too."""
    far = result("far", 0.3, waves(0.01, 5), missing=10)
    about = Uncertainty("pair", 9, 9, 0, 0.01, 0.28, 0.32, "normal", 0.28, 0.32, debiased=0.2871)
    values = {**far.values, "gender_occupation": replace(far.values["gender_occupation"], uncertainty=about)}
    values["gender_occupation_na_rate"] = replace(far.values["gender_occupation_na_rate"], uncertainty=about)
    other = Variant("judge", "second", {"gender_occupation": 0.25}, note="another judge")
    labels = Variant("labels_corrected", "a study", {"gender_occupation": 0.2644})
    far = replace(far, values=values, variants=(other, labels))
    made = (result("best", 0.2, waves(0.01, 3)), result("close", 0.21, waves(0.02, 4)), far)
    with opened(tmp_path_factory.mktemp("sure"), made) as space:
        yield space


def entry(sure: Opened, model: str) -> str:
    return next(row.entry for row in sure.space.state.board(BENCH, "inaugural") if row.model == model)


def cells(text: str) -> dict[str, list[str]]:
    """Model -> the texts of its line of the board."""
    lines = re.findall(r"<tr>\s*<td class=\"pick\">(.*?)</tr>", text, re.DOTALL)
    found = {}
    for line in lines:
        parts = [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", cell)).strip() for cell in line.split("</td>")]
        model = re.search(r"/model/[^>]*>([^<]*)</a>", line)
        assert model
        found[model[1]] = parts
    return found


def test_the_board_shows_tiers_and_intervals(sure: Opened) -> None:
    found = cells(page(sure, BOARD))
    tiers = {row.model: row.tier for row in sure.space.state.board(BENCH, "inaugural") if row.result is not None}
    assert tiers == {"best": 1, "close": 1, "far": 2}
    assert {model: found[model][2] for model in tiers} == {model: str(tier) for model, tier in tiers.items()}
    printed = next(row.model for row in sure.space.state.board(BENCH, "inaugural") if row.result is None)
    assert found[printed][2] == "– printed"
    assert any("0.1804 to 0.2196" in cell for cell in found["best"])  # 1.96 errors of 0.01 on either side


def test_a_set_of_columns_is_about_uncertainty_and_sorts_by_it(sure: Opened) -> None:
    text = page(sure, f"{BOARD}&columns=uncertainty&sort=-error")
    for header in ("95 % interval", "Standard error", "Debiased", "With missing answers", "Possible ranks"):
        assert header in text
    found = cells(text)
    assert next(iter(found)) == "close"
    assert "0.0200" in found["close"]
    assert any(cell.startswith("0.3000 to 0.4000") for cell in found["far"])
    assert any("1 to 2" in cell for cell in found["best"])


def test_a_row_shows_its_error_and_that_of_the_instrument(sure: Opened) -> None:
    text = page(sure, f"/model/{BENCH}/{entry(sure, 'far')}")
    assert "95 % interval" in text
    assert "rank could be 3" in text
    assert "Another judge" in text
    assert "another judge" in text
    assert "0.2500" in text
    labels = text.partition("Labels corrected for their errors")[2]
    assert "As measured, debiased" in labels
    assert "As measured, debiased" not in text.removesuffix(labels)
    assert re.search(r"0\.3000.*?>0\.2871<.*?>0\.2644<", labels, re.DOTALL)
    assert "0.3000 to" not in labels.partition("</table>")[0]


def test_two_models_are_compared_on_common_items(sure: Opened) -> None:
    models = ",".join(entry(sure, model) for model in ("best", "close", "far"))
    text = page(sure, f"/compare?benchmark={BENCH}&models={models}")
    line = re.search(r"<code>total</code>(.*?)</tr>", text, re.DOTALL)
    assert line
    first, close, far = line[1].split("</td>")[:3]
    assert "difference" not in first
    assert ": not significant" in close
    assert re.search(r"difference \+0\.0[78]\d\d to \+0\.1[12]\d\d: significant", far)


def test_the_comparison_has_the_intervals_of_raw_values(sure: Opened) -> None:
    text = page(sure, f"/compare?benchmark={BENCH}&models={entry(sure, 'far')}")
    line = re.search(r"<code>gender_occupation_na_rate</code>(.*?)</tr>", text, re.DOTALL)
    assert line
    assert "95 %: 0.2800 to 0.3200" in line[1]


def test_a_range_of_ranks_says_who_has_no_error(sure: Opened) -> None:
    printed = [row for row in sure.space.state.board(BENCH, "inaugural") if row.rank is not None and row.tier is None]
    rows = sure.space.state.board(BENCH, "inaugural")
    best = next(row for row in rows if row.model == "best")
    one = replace(best, model="printed", provenance="published", tier=None, rank_range=None)
    assert without_error([*rows, one], best).startswith(f"{len(printed) + 1} printed row")
    assert without_error([best], best) == ""


def test_a_column_without_a_number_is_left_out_and_can_be_asked_for(tmp_path: Path) -> None:
    with opened(tmp_path, (result("whole", 0.2, waves(0.01, 3)),)) as space:
        assert "With missing answers" not in page(space, f"{BOARD}&columns=uncertainty")
        assert "whole" in page(space, f"{BOARD}&columns=uncertainty&sort=-bounds")


def test_what_was_drawn_anew_stands_once_below_a_table_of_scores(sure: Opened) -> None:
    text = page(sure, f"/model/{BENCH}/{entry(sure, 'best')}")
    scores = text[text.index('aria-label="Scores"') :]
    scores = scores[: scores.index("</p>")]
    assert scores.count("200 kept draws") == 1
    assert "percentile" not in scores


def test_programs_get_what_the_pages_show(sure: Opened) -> None:
    rows = sure.client.get(f"/api/v1/boards/{BENCH}").json()["rows"]
    best = next(row for row in rows if row["model"] == "best")
    about = best["scores"]["total"]["uncertainty"]
    assert (best["tier"], best["rank_range"], best["no_tier"]) == (1, [1, 2], "")
    assert about["error"] == pytest.approx(0.01, rel=0.02)
    other = next(row for row in rows if row["provenance"] == "published")
    assert (other["tier"], other["no_tier"][:7]) == (None, "printed")
    one = sure.client.get(f"/api/v1/boards/{BENCH}/rows/{entry(sure, 'best')}").json()
    assert one["scores"]["total"]["uncertainty"] == about
    lines = csv.DictReader(io.StringIO(sure.client.get(f"/download/{BENCH}/inaugural.csv").content.decode("utf-8-sig")))
    line = next(line for line in lines if line["model"] == "best")
    assert (line["tier"], line["rank_best"], line["rank_worst"]) == ("1", "1", "2")
    assert float(line["total:interval_low"]) == pytest.approx(about["low"], rel=1e-6)
    assert float(line["total:error"]) == pytest.approx(about["error"], rel=1e-6)
    table = pq.read_table(io.BytesIO(sure.client.get(f"/download/{BENCH}/inaugural.parquet").content))
    assert table.column("tier").to_pylist().count(1) == 2
    data = sure.client.get(f"/download/{BENCH}/inaugural.json").json()["rows"]
    assert next(row for row in data if row["model"] == "best")["scores"]["total"]["uncertainty"]["error"] > 0


def test_tiers_are_drawn_as_bands(sure: Opened) -> None:
    drawn = sure.client.get(f"/figures/{BENCH}/inaugural/tiers.json").json()
    bands = [(shape["y0"], shape["y1"]) for shape in drawn["layout"]["shapes"]]
    assert bands == [(-0.5, 1.5), (1.5, 2.5)]
    assert [note["text"] for note in drawn["layout"]["annotations"]] == ["tier 1", "tier 2"]
