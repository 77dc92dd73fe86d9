"""The comparison in the browser against `fairspace compare`'s own numbers."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route

from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.pages.compare import rules
from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.comparing import Comparison, corrected, differences
from fairspace.submissions.plotting import digits
from fairspace.submissions.results.draws import keep
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import rescore
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import renamed, result

SITE = "http://compare.test"
MORE = {"even": "more even", "right": "right more often"}
PAIRS = ("stereotypical_bias", "iris")


def _drawn(scored: Result, seed: int) -> Result:
    """The result with 200 draws of each value: half of their noise is shared, as on common items."""
    bench = find_benchmark(scored.benchmark)
    behind = bench.scoring.drawn or scored.scored.scores
    names = [name for name, value in scored.values.items() if value.value is not None and name in behind]
    shared, alone = (np.random.default_rng(number).normal(size=(200, len(names))) for number in (0, seed))
    centre = np.array([scored.values[name].value or 0.0 for name in names])
    draws = centre + (0.02 + 0.02 * np.abs(centre)) * (shared + alone) / 2
    values = dict(scored.values)
    for place, name in enumerate(names):
        error = float(draws[:, place].std(ddof=1))
        ends = (float(centre[place]) - 2 * error, float(centre[place]) + 2 * error)
        values[name] = replace(values[name], uncertainty=Uncertainty("item", 9, 200, 0, error, *ends, "normal", *ends))
    return rescore(replace(scored, values=values, draws=keep(names, draws)), bench.default)


def _partial(scored: Result) -> Result:
    """A result that lacks a tenth of the answers to one question."""
    name = "gender_occupation"
    value = scored.values[name]
    number = value.value or 0.0
    lacking = replace(value, low=number / 2, high=number + 0.1, valid=value.expected * 9 // 10)
    return replace(scored, values={**scored.values, name: lacking})


@cache
def _results(name: str) -> dict[str, Result]:
    models = [result(name, answers, answers) for answers in ("stereotyped", "random")]
    if name == "stereotypical_bias":
        models.append(_partial(renamed(models[1], "partial")))
    return {str(scored.meta["model"]): _drawn(scored, seed) for seed, scored in enumerate(models, 1)}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    rows = tuple(scored for name in PAIRS for scored in _results(name).values())
    with opened(tmp_path_factory.mktemp("compare"), rows) as space:
        yield space


@pytest.fixture(scope="module")
def browser_page(browser: Browser, site: Opened) -> Page:
    def serve(route: Route) -> None:
        answer = site.client.get(route.request.url.removeprefix(SITE))
        headers = {"Content-Type": answer.headers["content-type"]}
        route.fulfill(status=answer.status_code, body=answer.content, headers=headers)

    page = browser.new_page()
    page.route("**/*", serve)
    return page


def _open(page: Page, name: str, *entries: str) -> None:
    page.goto(f"{SITE}/compare/{name}?rows={','.join(entries)}")
    page.wait_for_selector("[data-result] > *")
    page.wait_for_load_state("networkidle")


def _text(page: Page) -> str:
    return page.locator("[data-result]").inner_text()


def test_printed_rows_have_no_margin_and_another_protocol_is_not_compared(site: Opened, browser_page: Page) -> None:
    first, second, *_ = (row.entry for row in site.space.state.board("iris") if row.row_class == "printed")
    _open(browser_page, "iris", first, second, site.entry("random", "iris"), "nothing")
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
    _open(browser_page, name, *(site.entry(model, name) for model in models))
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
