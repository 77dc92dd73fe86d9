import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from fairspace.leaderboard_space.pages.model import without_error
from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.three_numbers import SENTENCES
from fairspace.submissions.uncertainty.uncertainty import Variant
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.pages.rows import page
from tests.submissions.results.test_tiers import BENCH, result, waves

BOARD = f"/board/{BENCH}"


@pytest.fixture(scope="module")
def sure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """`best` and `close` share a tier; `far` lacks answers, and has a second judge."""
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


def interval(sure: Opened, model: str) -> str:
    rows = with_errors(sure.space.state.board(BENCH, "up_to_twenty"), "up_to_twenty")
    about = next(row.scores["total"].uncertainty for row in rows if row.model == model)
    assert about is not None
    return f"{about.low:.4f} to {about.high:.4f}"


def total(sure: Opened, model: str) -> str:
    rows = sure.space.state.board(BENCH, "up_to_twenty")
    return next(f"{row.scores['total'].value:.4f}" for row in rows if row.model == model)


def cells(text: str) -> dict[str, list[str]]:
    lines = re.findall(r"<tr role=\"row\"[^>]*>\s*<td role=\"cell\" class=\"pick\">(.*?)</tr>", text, re.DOTALL)
    found = {}
    for line in lines:
        parts = [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", cell)).strip() for cell in line.split("</td>")]
        model = re.search(r"/model/[^>]*>([^<]*)</a>", line)
        assert model
        found[model[1]] = parts
    return found


def test_the_board_shows_three_numbers_and_folds_the_tier(sure: Opened) -> None:
    found = cells(page(sure, BOARD))
    tiers = {row.model: row.tier for row in sure.space.state.board(BENCH, "up_to_twenty") if row.result is not None}
    assert tiers == {"best": 1, "close": 1, "far": 2}
    for model, tier in tiers.items():
        assert f" tier {tier}" in found[model][-2]
    assert f" 0.2000 {interval(sure, 'best')}" in found["best"][2]
    ranks = {"best": "1 could be 1–2", "close": "2 could be 1–2", "far": "3"}
    assert {model: found[model][1] for model in tiers} == ranks
    papers = cells(page(sure, BOARD))
    printed = next(row.model for row in sure.space.state.board(BENCH, "up_to_twenty") if row.result is None)
    assert papers[printed][1] == "–"
    assert papers[printed][2].endswith(" computed here")


def test_a_row_shows_its_three_numbers_and_the_error_of_the_instrument(sure: Opened) -> None:
    text = page(sure, f"/model/{BENCH}/{sure.entry('far')}")
    top = text[text.index('class="at-once"') : text.index("<details")]
    assert f"<strong>{total(sure, 'far')}" in top
    assert f"95 %: {interval(sure, 'far')}" in top
    assert "rank 3 among the rows run by us, could be 3, by the worst case" in top
    address = f"/model/{BENCH}/{sure.entry('far')}/evidence"
    fold = page(sure, f"{address}/total")
    shown = [name for name in SENTENCES if f"<dt>{name}</dt>" in fold]
    absent = ("standard error", "chances")  # a score's interval is not made of its draws' error
    assert shown == [name for name in SENTENCES if name not in absent]
    assert all(SENTENCES[name] in fold for name in shown)
    assert "Another judge" in text
    assert "another judge" in text
    assert "<dt>sensitivity analysis</dt><dd>0.2500 to 0.3000<" in page(sure, f"{address}/gender_occupation")
    labels = text.partition("Labels corrected for their errors")[2]
    assert "Lower estimate" in labels
    assert "Lower estimate" not in text.removesuffix(labels)
    assert re.search(r"0\.3000.*?>0\.2871<.*?>0\.2644<", labels, re.DOTALL)
    assert "0.3000 to" not in labels.partition("</table>")[0]


def test_a_range_of_ranks_says_who_has_no_error(sure: Opened) -> None:
    rows = sure.space.state.board(BENCH, "up_to_twenty")
    best = next(row for row in rows if row.model == "best")
    bare = [row for row in rows if row.ranked_with == best.ranked_with and row.rank is not None and row.tier is None]
    one = replace(best, model="older", tier=None, rank_range=None)
    count = len(bare) + 1
    assert without_error([*rows, one], best) == f"{count} row{'s have' if count > 1 else ' has'} no error"
    printed = replace(one, provenance="published")
    assert without_error([*rows, printed], best) == without_error(rows, best)
    assert without_error([best], best) == ""


def test_programs_get_what_the_pages_show(sure: Opened) -> None:
    rows = sure.client.get(f"/api/v1/boards/{BENCH}").json()["rows"]
    best = next(row for row in rows if row["model"] == "best")
    about = best["scores"]["total"]["uncertainty"]
    assert (best["tier"], best["rank_range"], best["no_tier"]) == (1, [1, 2], "")
    assert about["error"] == pytest.approx(0.01, rel=0.02)
    other = next(row for row in rows if row["provenance"] == "published")
    assert (other["tier"], other["no_tier"][:7]) == (None, "printed")
    one = sure.client.get(f"/api/v1/boards/{BENCH}/rows/{sure.entry('best')}").json()
    assert one["scores"]["total"]["uncertainty"] == about
    lines = csv.DictReader(
        io.StringIO(sure.client.get(f"/download/{BENCH}/up_to_twenty.csv").content.decode("utf-8-sig"))
    )
    line = next(line for line in lines if line["model"] == "best")
    assert (line["tier"], line["rank_best"], line["rank_worst"]) == ("1", "1", "2")
    assert float(line["total:interval_low"]) == pytest.approx(about["low"], rel=1e-6)
    assert float(line["total:error"]) == pytest.approx(about["error"], rel=1e-6)


def test_tiers_are_drawn_as_bands(sure: Opened) -> None:
    drawn = sure.client.get(f"/figures/{BENCH}/up_to_twenty/tiers.svg").text
    heads = [drawn.index(f"Tier {tier}, run by us") for tier in (1, 2)]
    best, close, far = (drawn.index(f">{model}<") for model in ("best", "close", "far"))
    assert heads[0] < best < close < heads[1] < far
