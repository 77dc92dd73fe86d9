"""Visits of a served Space with its shipped rows: a crawl of all links, pages without scripts, and their promises."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin

import httpx
import pytest
from playwright.sync_api import Browser, expect

from fairspace.leaderboard_space.boards.models import slug_of
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.intake import add_result
from fairspace.leaderboard_space.jobs.jobs import add_shipped
from fairspace.leaderboard_space.site.addresses import TEXTS
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from tests.leaderboard_space.attacks.running import Running, running
from tests.leaderboard_space.walking import PHONE
from tests.scored_baselines import scored_baseline

LINKS = ("href", "src", "data-figure", "action")
"""Attributes that hold addresses."""
NOT_READ = ("/oauth/", "/login", "/logout", "/api/v1/submissions")
"""Beginnings of addresses that sign in or take a file."""
EVIDENCE = re.compile(r"(/model/\w+/)[^/]+(?:/under/\w+)?(/evidence/[^_?]+_?[^_?]*).*")
"""Addresses of a value's records: thousands that look alike; one stands for those whose names begin alike."""
MOST_BYTES = 45_000
"""Size of the front page's markup."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Space with the printed and the shipped rows, and two baselines of each benchmark."""
    root = tmp_path_factory.mktemp("site")
    storage = LocalStorage(root / "store")
    state = State(storage)
    state.refresh()
    assert add_shipped(state)
    for benchmark in VIEWS:
        for name in ("stereotyped", "random"):
            add_result(storage, scored_baseline(name, benchmark))
    storage.close()
    with running(root, workers="0", requests_a_minute="0") as space:
        yield space


class Markup(HTMLParser):
    """Addresses and ids of a page; `nowhere` lists links without an address."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = re.findall("<loc>([^<]*)</loc>", text)
        self.ids: list[str] = []
        self.nowhere: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.links += [value for name in LINKS if (value := values.get(name)) is not None]
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag == "a" and values.get("href") in (None, "", "#"):
            self.nowhere.append(str(attrs))


def crawl(client: httpx.Client, *starts: str) -> tuple[list[str], list[str]]:
    """Addresses of the Space that links lead to, and faults: dead links and fragments, ids that stand twice."""
    home = str(client.base_url).rstrip("/")
    queue, seen = [(start, "start") for start in starts], {*starts}
    ids, fragments, faults = dict[str, set[str]](), list[tuple[str, str, str]](), list[str]()
    addresses = []
    while queue:
        address, linked_from = queue.pop()
        addresses.append(address)
        answer = client.get(address)
        if answer.status_code >= 400:
            faults.append(f"{linked_from} -> {address}: {answer.status_code}")
        if not answer.headers["content-type"].startswith(("text/html", "image/svg", "application/xml")):
            continue
        page = Markup(answer.text)
        ids[address] = set(page.ids)
        faults += [f"{address}: a link to nowhere, {link}" for link in page.nowhere]
        faults += [f"{address}: id {name} twice" for name in ids[address] if page.ids.count(name) > 1]
        for link in page.links:
            target, fragment = urldefrag(urljoin(f"{home}{address}", link))
            at = target.removeprefix(home)
            if not at.startswith("/") or at.startswith(NOT_READ):
                continue
            if fragment:
                fragments.append((address, at, unquote(fragment)))
            if (like := EVIDENCE.sub(r"\1\2", at)) not in seen:
                seen.add(like)
                queue.append((at, address))
    faults += [f"{of} -> {to}#{name}: no such place" for of, to, name in fragments if name not in ids.get(to, {name})]
    return addresses, faults


def scored_rows(site: Running) -> list[tuple[str, str]]:
    """Benchmark and entry of each row in the log."""
    bodies = (event["body"] for event in site.events() if event["kind"] == "result")
    return [(body["result"]["benchmark"], body["entry"]) for body in bodies]


@pytest.mark.process
def test_every_link_leads_to_a_page_and_to_a_place_on_it(site: Running) -> None:
    addresses, faults = crawl(site.client(), "/", "/sitemap.xml", *TEXTS)
    for kind in ("/board/", "/models/", "/model/iris/p-", "/standard/", "/figures/", "/download/", "/errata"):
        assert any(address.startswith(kind) for address in addresses), kind
    assert {f"/model/{benchmark}/{entry}" for benchmark, entry in scored_rows(site)} <= {
        address.partition("?")[0] for address in addresses
    }
    assert not faults, "\n".join(map(str, faults))


def reading_pages(site: Running) -> list[str]:
    """Addresses of one page of each kind that can be read without an account, own rows of all benchmarks included."""
    rows = dict(reversed(scored_rows(site)))
    scored = [f"/model/{benchmark}/{entry}" for benchmark, entry in rows.items()]
    texts = ("/standards", "/standard/iris/bounded", "/errata", "/how-to-submit", "/about", "/trust", "/api", "/queue")
    boards = (f"/board/{benchmark}" for benchmark in VIEWS)
    evidence = f"/model/fact_or_fair/{rows['fact_or_fair']}/evidence/llm_factuality_gender"
    models = [f"/models/{slug_of(model)}" for model in ("SmolLM2-135M-Instruct", "Bagel", "GPT-4o")]
    return ["/", *boards, "/board/iris/all", *models, "/model/iris/p-01", *scored, evidence, *texts]


WITHOUT_SCRIPTS = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const like = (key) => ["href", "class"].filter((name) => key.hasAttribute(name)).map((name) =>
    `[${name}="${key.getAttribute(name)}"]`).join("");
  return {
    heading: document.querySelector("main h1")?.innerText.length > 2,
    text: document.querySelector("main").innerText.length > 50,
    tables: all("main table").every((table) => table.tBodies[0]?.rows.length),
    figures: all("figure").every((figure) => figure.querySelector("img, svg")),
    images: all("img").every((image) => image.complete && image.naturalWidth),
    keys: all(".marks [href], .marks [class]").every((key) => all(like(key)).some((mark) => !mark.closest(".marks"))),
    fits: document.scrollingElement.scrollWidth <= innerWidth,
  };
}"""


@pytest.mark.browser
def test_every_page_can_be_read_on_a_phone_without_scripts_and_has_no_empty_figure_or_key(
    browser: Browser, site: Running
) -> None:
    client, faults = site.client(), list[tuple[str, object]]()
    with browser.new_context(java_script_enabled=False, viewport=PHONE) as context:
        page = context.new_page()
        for address in reading_pages(site):
            answer = page.goto(f"{site.address}{address}")
            if answer is None or answer.status != 200:
                faults.append((address, "not found"))
            if lacking := [name for name, good in page.evaluate(WITHOUT_SCRIPTS).items() if not good]:
                faults.append((address, lacking))
            for place in page.locator("[data-figure]").all():
                figure = place.get_attribute("data-figure") or ""
                if fault := figure_fault(client.get(figure).text):
                    faults.append((address, f"{figure}: {fault}"))
    assert not faults, "\n".join(map(str, faults))


def figure_fault(text: str) -> str:
    """The fault of a drawn figure: no mark, or a colour in its legend, before the first mark, that no mark has."""
    legend, *marks = re.split(r'(?=<(?:a|g)[^>]* class="mark")', text)
    if not marks:
        return "no mark"
    symbols = re.findall(r'<(?:circle|path)[^>]* fill="(#\w+)"', legend)
    unused = [colour for colour in symbols if not any(colour in mark for mark in marks)]
    return f"keys without marks {unused}" if unused else ""


@pytest.mark.browser
def test_the_front_page_is_light_begins_with_an_answer_and_shows_every_list_without_scripts(
    browser: Browser, site: Running
) -> None:
    assert len(site.client().get("/").content) < MOST_BYTES
    with browser.new_context(java_script_enabled=False, viewport={"width": 1440, "height": 900}) as context:
        page = context.new_page()
        page.goto(f"{site.address}/")
        finding = page.locator(".findings h3").first
        box = finding.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 900
        assert len(finding.inner_text().split()) > 5
        for test in page.locator("table.evens").all():
            expect(test.locator("tbody tr").last).to_be_visible()
        expect(page.get_by_label("Find a model")).to_be_hidden()
        expect(page.locator(".hand-in a[href='/board/iris']")).to_be_visible()
