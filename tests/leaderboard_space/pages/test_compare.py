"""The comparison in the browser against `fairspace compare`'s own numbers."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import orjson
import pytest
from playwright.sync_api import Page, Route

from fairspace.leaderboard_space.boards.table import slug
from fairspace.leaderboard_space.boards.view import View
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.pages.compare import rules
from fairspace.leaderboard_space.state import State
from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.comparing import Comparison, corrected, differences
from fairspace.submissions.plotting import digits
from fairspace.submissions.results.draws import keep
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.scoring import rescore
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.chromium import chromium
from tests.leaderboard_space.factory import renamed
from tests.scored_baselines import scored_baseline

SITE = "http://compare.test"
MORE = {"even": "more even", "right": "right more often"}
PAIRS = ("stereotypical_bias", "iris")


def _model(result: Result, model: str) -> Result:
    signature = {name: text for name, text in result.signature.items() if name != "answers"}
    named = renamed(result, model)
    return replace(named, meta={**named.meta, "baseline": None}, signature=signature)


def _drawn(result: Result, seed: int) -> Result:
    """The result with 200 draws of each value: half of their noise is shared, as on common items."""
    bench = find_benchmark(result.benchmark)
    behind = bench.scoring.drawn or result.scored.scores
    names = [name for name, value in result.values.items() if value.value is not None and name in behind]
    shared, alone = (np.random.default_rng(number).normal(size=(200, len(names))) for number in (0, seed))
    centre = np.array([result.values[name].value or 0.0 for name in names])
    draws = centre + (0.02 + 0.02 * np.abs(centre)) * (shared + alone) / 2
    values = dict(result.values)
    for place, name in enumerate(names):
        error = float(draws[:, place].std(ddof=1))
        ends = (float(centre[place]) - 2 * error, float(centre[place]) + 2 * error)
        values[name] = replace(values[name], uncertainty=Uncertainty("item", 9, 200, 0, error, *ends, "normal", *ends))
    return rescore(replace(result, values=values, draws=keep(names, draws)), bench.default)


def _partial(result: Result) -> Result:
    """A result that lacks a tenth of the answers to one question."""
    name = "gender_occupation"
    value = result.values[name]
    number = value.value or 0.0
    lacking = replace(value, low=number / 2, high=number + 0.1, valid=value.expected * 9 // 10)
    return replace(result, values={**result.values, name: lacking})


@cache
def _results(name: str) -> dict[str, Result]:
    models = [_model(scored_baseline(answers, name), answers) for answers in ("stereotyped", "random")]
    if name == "stereotypical_bias":
        models.append(_partial(renamed(models[1], "partial")))
    return {str(result.meta["model"]): _drawn(result, seed) for seed, result in enumerate(models, 1)}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    rows = tuple(result for name in PAIRS for result in _results(name).values())
    with opened(tmp_path_factory.mktemp("compare"), rows) as space:
        yield space


def table_file(state: State, view: View, table: str) -> bytes:
    """The file of a table of a benchmark."""
    bench = find_benchmark(view.benchmark)
    part = next(part for title, part in view.slices.items() if slug(title) == table)
    columns = (part.total, *part.columns)
    rows = []
    for row in filter(part.keep, with_errors(state.board(view.benchmark, bench.default), bench.default)):
        values = {}
        for column in columns:
            value = column.of(row)
            about = value.uncertainty if value else None
            ends = (None,) * 4 if about is None else (about.error, about.low, about.high, about.fair)
            values[column.score] = [value.value if value else None, *ends]
        of = {"entry": row.entry, "model": row.model, "organisation": row.organisation, "class": row.row_class}
        of |= {"cohort": row.cohort, "group": row.group, "protocol": row.protocol}
        rows.append({**of, "address": f"/model/{view.benchmark}/{row.entry}", "values": values})
    scores = [{"key": each.score, "header": each.header, "words": ""} for each in columns]
    return orjson.dumps({"scores": scores, "rows": rows})


@pytest.fixture(scope="module")
def browser_page(site: Opened) -> Iterator[Page]:
    def serve(route: Route) -> None:
        path = route.request.url.removeprefix(SITE)
        if path.endswith("board.json"):
            _, _, name, _, table, _ = path.split("/")
            body = table_file(site.space.state, VIEWS[name], table)
            route.fulfill(status=200, body=body, content_type="application/json")
            return
        answer = site.client.get(path)
        route.fulfill(
            status=answer.status_code, body=answer.content, headers={"Content-Type": answer.headers["content-type"]}
        )

    with chromium() as browser:
        page = browser.new_page()
        page.route("**/*", serve)
        yield page


def _entry(site: Opened, name: str, model: str) -> str:
    board = site.space.state.board(name, find_benchmark(name).default)
    return next(row.entry for row in board if row.model == model)


def _open(page: Page, name: str, *entries: str) -> None:
    page.goto(f"{SITE}/compare/{name}?rows={','.join(entries)}")
    page.wait_for_selector("[data-result] > *")
    page.wait_for_load_state("networkidle")


def _text(page: Page) -> str:
    return page.locator("[data-result]").inner_text()


def _printed(site: Opened, name: str) -> list[str]:
    board = site.space.state.board(name, find_benchmark(name).default)
    return [row.entry for row in board if row.row_class == "printed"]


def test_printed_rows_have_no_margin_and_another_protocol_is_not_compared(site: Opened, browser_page: Page) -> None:
    first, second, *_ = _printed(site, "iris")
    _open(browser_page, "iris", first, second, _entry(site, "iris", "random"), "nothing")
    text = _text(browser_page)
    assert "has no row “nothing”" in text
    assert "Bagel is more even than" in text
    assert "Nobody knows whether these differences are real" in text
    assert "significant" not in text
    assert "Not compared: random was measured in another way than Bagel: v2; paper." in text
    assert browser_page.locator("[data-result] table").count() == 1


def test_a_drift_from_the_world_and_a_total_are_never_more_even() -> None:
    of = rules(VIEWS["iris"], "inaugural_points")
    assert {name for name, rule in of.items() if rule["quality"] != "even"} == {"iris_score", "RFS_Und"}
    of = rules(VIEWS["fact_or_fair"], "shuffled")
    assert {rule["quality"] for name, rule in of.items() if name.startswith("average")} == {""}
    assert {rule["quality"] for name, rule in of.items() if "factuality" in name} == {"right"}


def test_models_are_chosen_by_name_and_the_address_keeps_them(site: Opened, browser_page: Page) -> None:
    browser_page.goto(f"{SITE}/compare/fact_or_fair")
    fields = browser_page.locator("form [name=row]")
    fields.first.fill("GPT-4o")
    fields.nth(1).fill("wizardlm-2")
    with browser_page.expect_navigation():
        browser_page.get_by_role("button", name="Compare").click()
    browser_page.wait_for_selector("[data-result] table")
    names = {row.entry: row.model for row in site.space.state.board("fact_or_fair", "shuffled")}
    assert [names[entry] for entry in browser_page.url.partition("rows=")[2].split(",")] == ["GPT-4o", "WizardLM-2"]
    assert "WizardLM-2 is more even than GPT-4o in" in _text(browser_page)


def test_a_page_without_scripts_names_the_command(site: Opened) -> None:
    text = site.client.get("/compare/iris").text
    assert "<noscript>" in text
    assert "fairspace compare" in text
    assert site.client.get("/compare/nothing").status_code == 404
    assert site.client.get("/compare/iris/inaugural_points/p-01.json").status_code == 404


def _number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-").replace("×", "").replace("+", ""))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "first", "other"),
    [
        ("stereotypical_bias", "stereotyped", "random"),
        ("stereotypical_bias", "random", "partial"),
        ("iris", "stereotyped", "random"),
    ],
)
def test_the_browser_computes_the_differences_of_fairspace_compare(
    site: Opened, browser_page: Page, name: str, first: str, other: str
) -> None:
    models = (first, other)
    _open(browser_page, name, *(_entry(site, name, model) for model in models))
    heads = browser_page.locator("[data-result] tbody th").evaluate_all(
        "(all) => all.map((one) => one.firstChild.data)"
    )
    cells = browser_page.locator("[data-result] tbody tr").evaluate_all(
        "(all) => all.map((row) => [row.cells[3].firstChild.data, row.cells[3].querySelector('span')?.innerText ?? '',"
        " row.cells[4].firstChild.data, row.cells[4].querySelector('span')?.innerText ?? ''])"
    )
    by_header = dict(zip(heads, cells, strict=True))
    part = next(iter(VIEWS[name].slices.values()))
    headers = {column.score: column.header for column in (part.total, *part.columns)}
    default = find_benchmark(name).default
    compared = Comparison([_results(name)[model] for model in models])
    _, expected = differences(name, compared.results, default)
    expected = {score: between for score, between in expected.items() if score in headers}
    p = corrected([expected])[0]
    assert len(expected) > 4
    for score, between in expected.items():
        value, interval, verdict, shown_p = by_header[headers[score]]
        assert _number(value) == pytest.approx(_number(digits(between.value)), rel=1e-3)
        assert [_number(end) for end in interval.split(" to ")] == pytest.approx(
            [_number(digits(between.low)), _number(digits(between.high))], rel=1e-3, abs=1e-4
        )
        assert shown_p == ("p < 0.001" if p[score] < 0.001 else f"p {p[score]:.3f}")
        assert verdict.startswith("significant") == (p[score] < 0.05)
        line = next((line for line in compared.lines if line.name == score), None)
        if line is not None and line.verdict == "significant" and line.quality and line.better and line.is_clear:
            assert verdict == f"significant: {models[line.better < 0]} is {MORE[line.quality]}"
