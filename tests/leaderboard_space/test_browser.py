"""The app in a real browser: every page, sorting, standards, hostile names, uploads, and no request to another host."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, ViewportSize, expect, sync_playwright

from leaderboard_space.app import VIEWS
from leaderboard_space.benchmark_page import render
from submissions.store import Store
from tests.leaderboard_space.factory import HOSTILE, bad_zip, good_zip, store

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SERVE = (
    "import sys; from leaderboard_space.app import serve; from submissions.store import Store; "
    "serve(Store(sys.argv[1]), port=int(sys.argv[2]))"
)
TABS = ("IRIS", "FACT-OR-FAIR", "Stereotypical bias", "GENRES", "Model", "Upload", "About and errata")
DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        reason = f"no Chromium: none of {', '.join(NAMES)} is on the PATH; `apt-get install chromium` brings one"
        if os.environ.get("FAIRSPACE_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def address(results: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app in a process of its own; afterwards nothing may have gone wrong in it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("log") / "app.txt"
    with log.open("w") as out:
        app = subprocess.Popen([sys.executable, "-c", SERVE, str(results.root), str(port)], stdout=out, stderr=out)
        try:
            _wait_for(port, app, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            app.terminate()
            app.wait(20)
    assert "Traceback" not in log.read_text(encoding="utf-8")


def _wait_for(port: int, app: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(600):
        assert app.poll() is None, log.read_text(encoding="utf-8")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail(f"the app did not start within a minute: {log.read_text(encoding='utf-8')}")


@pytest.fixture
def page(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of the app; afterwards: no console error, no script error, no dialog, no request to another host."""
    size: ViewportSize = getattr(request, "param", DESKTOP)
    context = browser.new_context(viewport=size)
    opened = context.new_page()
    complaints: list[str] = []
    own = (address, "data:", "blob:")

    def dialog(found: Dialog) -> None:
        complaints.append(f"dialog: {found.message}")
        found.dismiss()

    opened.on("console", lambda m: complaints.append(f"console: {m.text}") if m.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(f"script: {error}"))
    opened.on("dialog", dialog)
    opened.on("request", lambda r: None if r.url.startswith(own) else complaints.append(f"request: {r.url}"))
    opened.goto(address)
    expect(opened.locator("#board-iris-0")).to_contain_text("Bagel")
    yield opened
    assert complaints == []
    context.close()


def open_tab(page: Page, name: str) -> None:
    """Open a page; on a phone it may be in the menu behind the dots."""
    tab = page.get_by_role("tab", name=name, exact=True)
    if tab.count() == 0 or not tab.first.is_visible():
        page.locator(".overflow-menu > button").first.click()
        page.locator(".overflow-dropdown button", has_text=name).first.click()
    else:
        tab.first.click()


def column(page: Page, board: str, number: int) -> list[str]:
    cells = page.locator(f"#{board} [role=gridcell][aria-colindex='{number}']")
    return [text.strip() for text in cells.all_inner_texts()]


def test_every_page_opens_and_says_how_to_read_it(page: Page) -> None:
    for name in TABS[:4]:
        open_tab(page, name)
        expect(page.get_by_text("How to read this.").locator("visible=true")).to_have_count(1)
        expect(page.get_by_text("What it cannot say.").locator("visible=true")).to_have_count(1)
    open_tab(page, "Upload")
    expect(page.get_by_role("button", name="Check and score")).to_be_visible()
    open_tab(page, "About and errata")
    expect(page.get_by_text("Labels are perceived, not true.")).to_be_visible()
    expect(page.get_by_text("E-IRIS-02").locator("visible=true").first).to_be_visible()


def test_published_scored_and_baseline_rows_are_told_apart(page: Page) -> None:
    board = page.locator("#board-iris-0")
    for text in ("published", "scored here", "baseline", "not run"):
        expect(board.locator("[role=gridcell]", has_text=text).first).to_be_visible()


def test_a_table_sorts_by_its_numbers(page: Page) -> None:
    head = page.locator("#board-iris-0 th[title='BIS Und']")
    for order, reverse in (("ascending", False), ("descending", True)):
        head.hover()
        head.get_by_label("Open cell menu").click()
        page.get_by_role("menuitem", name=f"Sort {order}").click()
        expect(head.get_by_label(f"Sorted {order}")).to_be_visible()
        shown = [float(text) for text in column(page, "board-iris-0", 8) if text not in ("not run", "undefined")]
        assert len(shown) >= 9
        assert shown == sorted(shown, reverse=reverse)


def test_the_standard_rescoring_follows(page: Page) -> None:
    board = page.locator("#board-iris-0")
    expect(board).to_contain_text("95.94")
    page.get_by_label("algorithm_1 (draft)").check()
    expect(board).not_to_contain_text("95.94")
    expect(page.get_by_text("Draft, not released:")).to_be_visible()
    expect(board).to_contain_text("68.98")
    page.get_by_label("inaugural").first.check()
    expect(board).to_contain_text("95.94")


def test_a_row_opens_its_model_and_a_hostile_name_stays_text(page: Page) -> None:
    open_tab(page, "FACT-OR-FAIR")
    board = page.locator("#board-fact_or_fair-0")
    board.locator("[role=gridcell]", has_text="=cmd()").first.click()
    about = page.locator("#model-about")
    expect(about.locator("h2")).to_have_text(HOSTILE)
    assert page.locator("img[src*='evil.example'], a[href*='evil.example']").count() == 0
    assert page.locator("script", has_text="alert(1)").count() == 0
    expect(page.locator("#raw-values")).to_contain_text("factuality_llm_objective_gender")
    expect(page.locator("#scores")).to_contain_text("not run")
    page.locator("#raw-values [role=gridcell]", has_text="factuality_llm_objective_gender").first.click()
    expect(page.get_by_label("Value", exact=True)).to_have_value("factuality_llm_objective_gender")


def test_a_model_without_a_rank_says_every_reason(page: Page) -> None:
    open_tab(page, "Model")
    page.get_by_label("Model", exact=True).last.click()
    page.get_by_role("option", name="IRIS · baseline: constant · baseline").click()
    about = page.locator("#model-about")
    expect(about).to_contain_text("Not ranked")
    assert about.locator("li", has_text="no better than a constant answer").count() >= 2


def upload(page: Page, path: Path) -> None:
    open_tab(page, "Upload")
    with page.expect_file_chooser() as chooser:
        page.locator("#submission button").first.click()
    chooser.value.set_files(path)
    expect(page.locator("#submission")).to_contain_text(path.stem)
    page.get_by_role("button", name="Check and score").click()


def test_a_faulty_upload_shows_every_fault_and_adds_nothing(page: Page, tmp_path: Path, results: Store) -> None:
    path, codes = bad_zip(tmp_path / "bad.zip")
    before = len(results.results("fact_or_fair"))
    assert len(codes) >= 3
    upload(page, path)
    expect(page.locator("#upload-status")).to_contain_text("Not scored")
    for code in codes:
        expect(page.locator("#faults")).to_contain_text(code)
    for head in ("Where", "What was found", "What is expected", "How to mend it"):
        expect(page.locator("#faults")).to_contain_text(head)
    assert len(results.results("fact_or_fair")) == before


def test_something_that_is_no_zip_is_a_fault_and_no_crash(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "nothing.zip"
    path.write_bytes(b"not a zip at all")
    upload(page, path)
    expect(page.locator("#upload-status")).to_contain_text("Not scored")
    expect(page.locator("#faults [role=gridcell]").first).to_be_visible()


def test_a_good_upload_is_scored_and_stands_on_the_board(page: Page, tmp_path: Path, results: Store) -> None:
    upload(page, good_zip(tmp_path / "good.zip", "Uploaded 7B"))
    expect(page.locator("#upload-status")).to_contain_text("Scored.")
    expect(page.locator("#upload-scores")).to_contain_text("average_llm")
    open_tab(page, "FACT-OR-FAIR")
    expect(page.locator("#board-fact_or_fair-0")).to_contain_text("Uploaded 7B")
    assert "Uploaded 7B" in {found.meta["model"] for found in results.results("fact_or_fair")}


def test_nothing_chosen_is_told(page: Page) -> None:
    open_tab(page, "Upload")
    page.get_by_role("button", name="Check and score").click()
    expect(page.locator("#upload-status")).to_contain_text("Choose a .zip file first.")


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_a_phone_shows_every_page_without_sideways_scrolling(page: Page) -> None:
    for name in TABS:
        open_tab(page, name)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name


def test_a_broken_stored_result_is_told_on_its_page(results: Store) -> None:
    path = results.root / "results" / "genres" / ("0" * 64 + ".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"{")
    try:
        notes = render(next(view for view in VIEWS if view.benchmark == "genres"), results, "inaugural")[-1]
    finally:
        path.unlink()
    assert "1 stored result could not be read" in notes
