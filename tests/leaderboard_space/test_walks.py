"""The Space in a browser: visitors, submitters and maintainers, on desktop and phone, in light and dark."""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from fairspace.leaderboard_space.boards.models import slug_of
from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.checking.submission import check_submission
from tests.leaderboard_space.attacks.running import Running, running
from tests.leaderboard_space.factory import HOSTILE, accepted, bad_zip, ended, good_zip, renamed, result
from tests.leaderboard_space.walking import DESKTOP, PAPER, PHONE, Scheme, Walk, focused, walking, worker
from tests.submissions.results.test_tiers import result as measured
from tests.submissions.results.test_tiers import waves

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)

BOARD = "/board/fact_or_fair"
TWINS = 100
"""Rows of one model, so that the board has a second page."""
REFUSED = str(accepted("ann", b"a file")[0].body["id"])


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Space with its own rows of one benchmark and all published ones; its log may hold no traceback."""
    root = tmp_path_factory.mktemp("space")
    storage = LocalStorage(root / "store")
    named = result("fact_or_fair", "stereotyped", HOSTILE)
    twin = replace(named, meta={**named.meta, "organisation": "the twins"})
    twins = (renamed(twin, f"twin-{n:03}") for n in range(TWINS))
    sure = (measured("sure", 0.2, waves(0.01, 3), missing=5), measured("less sure", 0.21, waves(0.02, 4)))
    made = [result_draft(one, own=True) for one in (result("fact_or_fair", "constant"), named, *twins, *sure)]
    files = {path: content for _, held in made for path, content in held.items()}
    bad, _ = bad_zip(root / "bad.zip")
    faults = [fault.to_json() for fault in check_submission(bad, allow_baseline=False).faults]
    waiting, _ = accepted("ann", b"a file")
    refused = ended("refused", REFUSED, faults=faults)
    storage.append([*(draft for draft, _ in made), waiting, refused], files)
    storage.close()
    with running(root, workers="0", requests_a_minute="0") as found:
        yield found


@pytest.fixture
def walk(browser: Browser, space: Running) -> Iterator[Walk]:
    with walking(browser, space, DESKTOP, "light") as light_walk:
        yield light_walk


def entry_of(space: Running, model: str) -> str:
    for event in reversed(space.events()):
        if event["kind"] == "result" and event["body"]["result"]["meta"]["model"] == model:
            return str(event["body"]["entry"])
    raise AssertionError(f"no row of {model}")


def test_a_visitor_finds_rows_the_address_keeps_them_and_a_number_is_traced(
    walk: Walk, browser: Browser, space: Running
) -> None:
    page = walk.page
    walk.to(f"{BOARD}/all/page/2")
    count = page.locator("[data-count]")
    page.get_by_label("Search model or organisation").fill("twin-01")
    expect(count).to_have_text("10")  # of both pages
    assert set(walk.column("Model")) == {f"twin-01{n}" for n in range(10)}
    page.get_by_text("Filter", exact=True).click()
    page.locator("#f-provenance").select_option("baseline")
    expect(count).to_have_text("0")
    walk.to(f"{BOARD}/all")
    page.get_by_text("Filter", exact=True).click()
    page.locator("#f-provenance").select_option("published")
    expect(page.locator("table.board .chip-published").first).to_be_visible()
    page.locator("#rows thead").get_by_role("button", name="Fact race", exact=True).first.click()
    expect(page.locator("#rows thead [aria-sort=descending]").first).to_be_visible()
    shown = [float(text) for text in walk.column("Fact race") if text[0].isdigit()]
    assert len(shown) >= 6
    assert shown == sorted(shown, reverse=True)
    before = page.locator("#rows tbody:visible").first.inner_text()
    with walking(browser, space, walk.size, walk.scheme) as other:
        other.to(page.url.removeprefix(space.address))
        expect(other.page.locator("[data-count]")).to_have_text(count.inner_text())
        assert other.page.locator("#rows tbody:visible").first.inner_text() == before
    boxes = page.locator("#rows tbody tr:visible").get_by_role("checkbox")
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.get_by_role("button", name="Compare the chosen").click()
    expect(page.get_by_text("Nobody knows whether these differences are real")).to_be_visible()
    page.go_back()
    walk.open(page.locator("#rows tbody tr:visible .model a").first)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("[data-figure] svg").count() == page.locator("[data-figure]").count() > 0
    page.locator("[data-figure]").first.scroll_into_view_if_needed()
    expect(page.locator("[data-figure][data-drawn]").first).to_be_visible()
    page.locator("summary", has_text=re.compile(r"All [\d,]+ values")).click()
    walk.open(page.locator("table.values tbody a").first)
    expect(page.get_by_role("heading", name="What it was computed from")).to_be_visible()


def test_a_search_that_could_not_load_every_page_says_so_and_works_when_asked_again(walk: Walk) -> None:
    page = walk.page
    walk.to(f"{BOARD}/all")
    page.route("**/board.json", lambda route: route.fulfill(status=429))
    search, failed = page.get_by_label("Search model or organisation"), page.locator("[data-failed]")
    search.fill("twin-01")
    expect(failed).to_be_visible()
    page.unroute("**/board.json")
    search.fill("twin-09")
    expect(page.locator("[data-count]")).to_have_text("10")
    expect(failed).to_be_hidden()
    assert set(walk.column("Model")) == {f"twin-09{n}" for n in range(10)}
    [complaint] = walk.complaints
    assert "429" in complaint
    walk.complaints.clear()


def test_the_search_of_the_front_page_opens_a_model(walk: Walk) -> None:
    walk.to("/")
    search = walk.page.get_by_role("combobox", name="Find a model")
    search.fill("LLaVA  v1.5:")
    with walk.page.expect_navigation():
        search.press("Enter")
    assert walk.page.url == f"{walk.space.address}/models/llava-v1.5"


def test_the_board_is_a_plain_table_without_scripts(browser: Browser, space: Running) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{space.address}{BOARD}")
        expect(page.get_by_label("Search model or organisation")).to_be_hidden()
        page.get_by_role("link", name="Next").click()
        expect(page.locator(".pages [aria-current=page]")).to_have_text("Page 2")
        page.get_by_role("link", name="All columns").click()
        expect(page.locator("#rows thead").first).to_contain_text("Licence")
    with space.client() as client:
        text = client.get("/submit").text
    assert "This page needs scripts" in text.partition("<noscript>")[2].partition("</noscript>")[0]


FIRST = """() => {
  const seen = (element, within = element) => {
    const box = element.getBoundingClientRect();
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + Math.min(box.height, 30) / 2);
    return box.bottom <= innerHeight && (within.contains(top) || top?.contains(element));
  };
  const row = document.querySelector("#rows tbody tr:not(.part)");
  return {
    row: [".rank", ".model a"].every((part) => seen(row.querySelector(part))),
    score: row.querySelector(".total").getBoundingClientRect().top < innerHeight - 40,
    wide: document.querySelector("#rows table").offsetWidth,
    submit: seen(document.querySelector(".hand-in a")),
  };
}"""


def test_the_first_screen_shows_where_to_hand_in_and_the_first_row(walk: Walk) -> None:
    page = walk.page
    for benchmark in ("iris", "fact_or_fair", "stereotypical_bias", "genres"):
        walk.to(f"/board/{benchmark}")
        for width, height in ((1440, 900), (1280, 900), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            first = page.evaluate(FIRST)
            assert first.pop("wide") <= width
            assert all(first.values()), (benchmark, width, first)


def test_twenty_rows_stand_on_a_screen_and_details_change_no_width(walk: Walk) -> None:
    page = walk.page
    page.set_viewport_size({"width": 1440, "height": 900})
    walk.to(BOARD)
    tops = page.locator("#rows tbody tr[data-q]").evaluate_all("rows => rows.map(row => row.getBoundingClientRect())")
    assert tops[0]["top"] < 330
    assert sum(box["top"] >= 0 and box["bottom"] <= 900 for box in tops) >= 20
    widths = "[...document.querySelectorAll('#rows thead th')].map(head => head.offsetWidth)"
    before = page.evaluate(widths)
    page.locator("#rows .more summary").nth(3).click()
    expect(page.locator("#rows .fold dl").nth(3)).to_be_visible()
    assert page.evaluate(widths) == before
    page.set_viewport_size(PHONE)
    walk.to(BOARD)
    assert all(
        height < 60
        for height in page.evaluate("[...document.querySelectorAll('#rows tr[data-q]')].map(row => row.offsetHeight)")
    )


def test_the_theme_is_the_systems_until_it_is_switched_and_is_kept(walk: Walk) -> None:
    page = walk.page

    def ground() -> Any:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    walk.to("/")
    assert ground() == PAPER["light"]
    page.emulate_media(color_scheme="dark")
    assert ground() == PAPER["dark"]
    switch = page.get_by_role("button", name="Theme")
    switch.click()
    assert ground() == PAPER["light"]
    walk.follow("Errata")
    assert ground() == PAPER["light"]
    walk.to("/submit")
    expect(page.locator("#who")).to_contain_text("Sign in")
    assert ground() == PAPER["light"]


def test_a_visitor_with_a_keyboard_alone_reads_filters_and_opens(walk: Walk) -> None:
    page = walk.page
    walk.to("/board/iris")
    page.keyboard.press("Tab")
    assert focused(page)["text"] == "Skip to the table"
    page.keyboard.press("Enter")
    assert focused(page)["id"] == "rows"
    walk.to("/board/iris")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert focused(page)["text"] == "Skip to content"
    assert focused(page)["seen"]
    page.keyboard.press("Enter")
    assert focused(page)["id"] == "main"
    order: list[dict[str, Any]] = []
    while not order or order[-1]["text"] != "Bagel":
        page.keyboard.press("Tab")
        order.append(focused(page))
        assert order[-1]["line"] >= 2, order[-1]
        assert order[-1]["seen"], order[-1]
        assert len(order) < 60
    texts = [found["text"] for found in order]
    places = [texts.index(text) for text in ("IRIS", "Submit a model", "Filter", "All columns", "Model", "Bagel")]
    assert places == sorted(places)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bagel")
    page.locator("summary", has_text="How to read this").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("details[open].how").first).to_be_visible()


def test_an_address_of_the_hubs_page_leads_to_the_page_that_its_frame_told(browser: Browser, space: Running) -> None:
    hub, host = "https://huggingface.co/spaces/fairspace/leaderboard", "https://fairspace-leaderboard.hf.space"
    keep = "addEventListener('message', (event) => { window.told = event.data; });"
    with browser.new_context() as context:
        page = context.new_page()

        def framed(route: Route) -> None:
            asked = urlsplit(route.request.url)
            frame = f'<iframe src="{host}/?{asked.query.replace("&", "&amp;")}"></iframe>'
            route.fulfill(body=f"<script>{keep}</script>{frame}", content_type="text/html")

        def fetched(route: Route) -> None:
            route.fulfill(response=route.fetch(url=route.request.url.replace(host, space.address)))

        page.route(f"{hub}*", framed)
        page.route(f"{host}/**", fetched)
        page.goto(f"{hub}?at=%2Fboard%2Fgenres")
        page.wait_for_function("window.told?.queryString === 'at=%2Fboard%2Fgenres'")
        page.frames[1].get_by_role("link", name="Standards", exact=True).click()
        page.wait_for_function("window.told?.queryString === 'at=%2Fstandards'")
        page.goto(f"{hub}?at=%2Fmodel%2Firis%2Fp-01&x=y&__theme=dark")
        expect(page.frame_locator("iframe").get_by_role("heading", level=1)).to_contain_text("Bagel")
        page.wait_for_function("window.told?.queryString === 'x=y&at=%2Fmodel%2Firis%2Fp-01'")
        page.goto(f"{hub}?at=%2F%2Fhuggingface.co%2Felsewhere")
        expect(page.frame_locator("iframe").get_by_role("heading", level=1)).to_contain_text("How fairly")


def another_benchmark(good: Path, path: Path, **changes: str) -> Path:
    """The answers of a submission, under a `submission.json` with these changes."""
    with zipfile.ZipFile(good) as archive, zipfile.ZipFile(path, "w") as made:
        for name in archive.namelist():
            content = archive.read(name)
            made.writestr(name, json.dumps(json.loads(content) | changes) if name == "submission.json" else content)
    return path


def choose(page: Page, path: Path) -> None:
    page.locator("#file input[type=file]").set_input_files(path)
    expect(page.locator("#file")).to_contain_text(path.stem)


def test_a_submitter_mends_a_file_waits_and_finds_the_row(browser: Browser, space: Running, tmp_path: Path) -> None:
    model, user = "Merlin 2B", "sue"
    bad, codes = bad_zip(tmp_path / "bad.zip")
    good = good_zip(tmp_path / "good.zip", model)
    wrong = another_benchmark(good, tmp_path / "wrong.zip", benchmark="iris", dataset_revision="v99", model="Wrong 1B")
    broken = tmp_path / "no_zip.zip"
    broken.write_bytes(b"no zip at all")
    with walking(browser, space, PHONE, "dark") as walk:
        walk.sign_in(user, "lab")
        page, button = walk.page, walk.page.get_by_role("button", name="Submit")
        lines, told, outcome = page.locator("#own tbody tr"), page.locator("#told"), page.locator("#outcome")
        assert told.get_attribute("aria-live") == "polite"
        button.click()
        expect(page.get_by_role("alert")).to_have_text(
            "There is no file to submit. Choose a .zip file and wait until it is uploaded. UPLOAD_MISSING"
        )
        choose(page, broken)
        expect(page.get_by_role("alert")).to_have_count(0)
        button.click()
        expect(page.get_by_role("alert")).to_contain_text("UPLOAD_NOT_A_ZIP")
        for path, name in ((bad, "baseline: stereotyped"), (wrong, "Wrong 1B"), (good, model)):
            choose(page, path)
            button.click()
            expect(lines.first).to_contain_text(name)
            expect(lines.first).to_contain_text("waits, position")
            expect(told).to_contain_text(name)
            expect(outcome).to_have_text("")
        expect(page.locator("#own")).to_contain_text("Waiting now: 3 of at most 3")
        walk.fits()
        walk.follow("Queue")
        expect(page.locator("tbody").get_by_role("link")).to_have_count(3)
        expect(page.locator("tbody")).not_to_contain_text(user)
        assert [text.split()[0] for text in page.locator("tbody tr").all_inner_texts()] == ["1", "2", "3"]
        walk.follow("Submit")
        with worker(space):
            quotas = "9 scored, 18 faulty. Waiting now: 0 of at most 3"
            expect(page.locator("#own")).to_contain_text(quotas, timeout=240_000)
        expect(told).to_contain_text("scored 0.")
        for text in ("refused: 2 faults", "UNKNOWN_REVISION", "benchmark is iris, the answers are of fact_or_fair"):
            expect(lines.filter(has_text="Wrong 1B")).to_contain_text(text)
        expect(lines).to_have_count(3)
        boxes = lines.locator("td").evaluate_all("all => all.map(one => one.getBoundingClientRect())")
        assert all(box["right"] <= PHONE["width"] for box in boxes)
        walk.fits()
        page.locator("#own tr", has_text="baseline").get_by_role("link").first.click()
        expect(page.get_by_role("heading", name="What to fix")).to_be_visible()
        assert len(codes) >= 3
        for code in codes:
            expect(page.get_by_role("region", name="Faults")).to_contain_text(code)
        walk.fits()
        page.go_back()
        scored = lines.filter(has_text=model)
        state = scored.get_by_role("link", name="scored 0.").inner_text()
        walk.open(scored.get_by_role("link", name=model))
        expect(page.get_by_role("status")).to_contain_text(state[1:])
        expect(page.get_by_role("heading", level=1)).to_have_text(model)
        page.go_back()
        lines.filter(has_text=model).get_by_role("link", name="scored 0.").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(model)
        walk.to(f"{BOARD}?q={model}")
        for text in (model, "copy of stereotyped; ", f"claimed by {user}"):
            expect(page.locator("details.baselines")).to_contain_text(text)
        walk.to("/submit")
        page.get_by_role("button", name="Create a token").click()
        field = page.locator("#token").locator("input, textarea")
        expect(field).to_have_value(re.compile("^fairspace_"))
        with space.client(**{"X-Fairspace-Token": field.input_value()}) as program:
            assert program.post("/api/v1/submissions", content=b"").json()["code"] == "UPLOAD_MISSING"
        page.get_by_role("link", name="Sign out").click()
        expect(page.get_by_role("button", name="Create a token")).to_be_hidden()


FEWER_ROWS = "document.querySelectorAll('tbody').forEach(body => [...body.rows].slice(10).forEach(row => row.remove()))"
"""Removes further rows of a table, which look like the first."""
OPEN_FOLDS = "document.querySelectorAll('details').forEach(fold => { fold.open = true; })"
IN_BOTH_SIZES = ("front", "model", "board", "own row")
"""Kinds whose layout on a desktop stands for the others."""


def kinds(space: Running) -> dict[str, str]:
    entry = entry_of(space, HOSTILE)
    model = f"/model/fact_or_fair/{entry}"
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    with space.program("ann") as program:
        waiting = program.post("/api/v1/submissions", content=empty.getvalue()).json()["id"]
    return {
        "front": "/",
        "model": f"/models/{slug_of(HOSTILE)}",
        "board": "/board/iris",
        "board with colours": "/board/genres/all",
        "board with all columns": "/board/stereotypical_bias/all",
        "board without rows": f"{BOARD}?q=nothing",
        "printed row": "/model/iris/p-01",
        "own row": model,
        "row with errors": f"/model/stereotypical_bias/{entry_of(space, 'sure')}",
        "evidence": f"{model}/evidence/llm_factuality_gender",
        "standards": "/standards",
        "standard": "/standard/iris/algorithm_1",
        "errata": "/errata",
        "how to submit": "/how-to-submit",
        "about": "/about",
        "trust": "/trust",
        "API": "/api",
        "queue": "/queue",
        "submission that waits": f"/submission/{waiting}",
        "refused submission": f"/submission/{REFUSED}",
        "submit": "/submit",
    }


COLOURS = ("color-contrast", "link-in-text-block")
"""Rules of axe that depend on the colour scheme."""
SCHEMES: dict[Scheme, Sequence[str]] = {"light": (), "dark": COLOURS}
"""The scheme of a page, and the rules that are asked in it; all for none."""


def faults_by_axe(page: Page, gradio: bool, rules: Sequence[str] = ()) -> list[str]:
    """axe's findings; in Gradio's own widgets only serious ones that last (its scripts lag behind a scheme change)."""

    def faults() -> list[str]:
        options: dict[str, Any] = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
        violations = Axe().run(page, options=options).response["violations"]
        grave = [fault for fault in violations if not gradio or fault["impact"] in ("serious", "critical")]
        return [f"{fault['id']} ({fault['impact']}): {fault['nodes'][0]['target']}" for fault in grave]

    if gradio and faults():
        page.wait_for_timeout(3_000)
    return faults()


def test_axe_finds_no_fault_on_any_kind_of_page_with_its_folds_open(browser: Browser, space: Running) -> None:
    """The rules that depend on colours in both schemes, the others once for each size."""
    with walking(browser, space, DESKTOP, "light") as walk:
        walk.sign_in("the-maintainer")
        faults: dict[tuple[str, int, Scheme], list[str]] = {}
        for kind, address in kinds(space).items():
            walk.to(address)
            if kind == "submit":
                expect(walk.page.locator("#submit")).to_be_visible()
            walk.page.evaluate(FEWER_ROWS)
            walk.page.evaluate(OPEN_FOLDS)
            for size in (DESKTOP, PHONE) if kind in IN_BOTH_SIZES else (PHONE,):
                walk.page.set_viewport_size(size)
                for scheme, rules in SCHEMES.items():
                    walk.page.emulate_media(color_scheme=scheme)
                    walk.fits()
                    if found := faults_by_axe(walk.page, kind == "submit", rules):
                        faults[kind, size["width"], scheme] = found
        assert faults == {}
