"""The folder of public pages: what is in it is what would be made anew, after whatever events."""

import asyncio
import gzip
import random
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from fairspace.leaderboard_space import maintaining
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.site import builder as building
from fairspace.leaderboard_space.site import export as exporting
from fairspace.leaderboard_space.site.addresses import file_of, path_of
from fairspace.leaderboard_space.site.builder import Builder
from fairspace.leaderboard_space.site.process import END
from fairspace.leaderboard_space.state import Board
from fairspace.leaderboard_space.web.middlewares import PublicFiles
from fairspace.submissions.errors import UsageError
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import add as append
from tests.leaderboard_space.factory import result

pytestmark = pytest.mark.slow

BENCHMARK, SITE = "stereotypical_bias", "https://board.example"
TABLE = f"/board/{BENCHMARK}/up_to_twenty/all-questions/board.json"
ADA = User("ada")


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Opened]:
    rows = (result(BENCHMARK, "constant"), result(BENCHMARK, "stereotyped", "First"))
    with opened(tmp_path, rows, address=SITE) as opened_space:
        yield opened_space


def add(space: Opened, model: str, answers: str = "stereotyped", user: str = "") -> str:
    """The entry of a new row."""
    made = result(BENCHMARK, answers, "First")
    return append(space.space.state, replace(made, meta={**made.meta, "model": model, "organisation": model}), user)


def pages_of(folder: Path) -> dict[str, bytes]:
    """Address -> content of each file."""
    files = {file.relative_to(folder).as_posix(): file for file in folder.rglob(f"*{END}")}
    return {path_of(name.removesuffix(END)): gzip.decompress(file.read_bytes()) for name, file in files.items()}


def addresses(entry: str) -> list[str]:
    """Addresses of every kind of page."""
    row, figure = f"/model/{BENCHMARK}/{entry}", f"/figures/{BENCHMARK}/up_to_twenty"
    board = f"/board/{BENCHMARK}"
    pages = ["/", board, f"{board}/all", f"{board}/inaugural", TABLE, "/board/genres", "/models/first", "/sitemap.xml"]
    pages += [row, f"{row}/under/inaugural", f"{row}/scores.tex", f"{row}/scores.csv", f"{row}/evidence/total"]
    pages += [f"{figure}/ranking.svg", f"{figure}/row/{entry}/scores.360.svg", "/about"]
    pages += [f"/download/{BENCHMARK}/up_to_twenty.csv", f"/standard/{BENCHMARK}/up_to_twenty", "/errata", "/api"]
    pages += ["/api/v1/boards", f"/api/v1/boards/{BENCHMARK}", f"/api/v1/boards/{BENCHMARK}/rows/{entry}"]
    return [*pages, f"/api/v1/boards/{BENCHMARK}/rows/{entry}/result", f"/model/{BENCHMARK}/p-01", "/models/bagel"]


@pytest.mark.parametrize("is_eager", [True, False])
def test_what_is_in_the_folder_is_what_would_be_made_anew_after_whatever_events(
    space: Opened, tmp_path: Path, is_eager: bool
) -> None:
    draw, state = random.Random(3), space.space.state
    kept = Builder(space.space, tmp_path / "kept", SITE, is_eager=is_eager)
    entries = [next(entry.entry for entry in state.entries() if entry.result.meta["model"] == "First")]

    async def change() -> None:
        kind = draw.choice(("add", "add", "submit", "withdraw", "restore", "release", "verify"))
        entry = draw.choice(entries)
        withdrawn = (of := state.entry(entry)) is not None and of.withdrawn is not None
        if kind in ("add", "submit"):
            answers = draw.choice(("stereotyped", "balanced", "random"))
            model = draw.choice(("First", f"Model {len(entries)}"))
            entries.append(add(space, model, answers, f"user{len(entries)}" if kind == "submit" else ""))
        elif kind == "release" or (kind == "restore" and withdrawn) or (kind == "withdraw" and not withdrawn):
            getattr(maintaining, kind)(state, entry, ADA, "a reason")

    async def go_on() -> None:
        for turn in range(12):
            for address in addresses(draw.choice(entries)):
                await kept.answer(address)
            await change()
            await kept.follow()
            pages = pages_of(kept.folder)
            if turn % 3 == 2:
                anew = Builder(space.space, tmp_path / f"anew{turn}", SITE)
                for address, content in pages.items():
                    made = await anew.answer(address)
                    assert made.kept, address
                    assert gzip.decompress(made.content) == content, (turn, address)
        assert len(pages) > 10

    asyncio.run(go_on())


def test_pages_are_made_while_the_boards_of_an_event_are_and_none_of_before_is_kept(
    space: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, is_making, goes_on = space.space.state, threading.Event(), threading.Event()
    make = state._board

    def slowly(benchmark: str, standard: str) -> Board:
        is_making.set()
        assert goes_on.wait(20)
        return make(benchmark, standard)

    async def ask() -> None:
        builder = Builder(space.space, tmp_path / "pages", SITE, is_eager=True)
        await builder.follow()
        monkeypatch.setattr(state, "_board", slowly)
        entry = add(space, "Comes late")
        following = asyncio.create_task(builder.follow())
        await asyncio.to_thread(is_making.wait, 20)
        before = await asyncio.wait_for(builder.answer(TABLE), 10)
        assert (before.status, before.kept) == (200, False)
        assert b"Comes late" not in before.content
        builder._remove("/")
        assert not (await builder.answer("/")).kept
        goes_on.set()
        assert state.find_row(BENCHMARK, "up_to_twenty", entry).entry == entry
        await following
        after = await builder.answer(TABLE)
        assert after.kept
        assert b"/models/comes-late" in gzip.decompress((await builder.answer("/")).content)
        assert b"Comes late" in gzip.decompress(after.content)

    asyncio.run(ask())


def test_a_row_that_is_withdrawn_is_gone_with_the_next_answer_200_times(space: Opened) -> None:
    entry = add(space, "Comes and goes", user="somebody")
    row = f"/model/{BENCHMARK}/{entry}"
    about = (f"{row}/scores.csv", f"/api/v1/boards/{BENCHMARK}/rows/{entry}")
    admin = space.headers("local")
    for turn in range(200):
        watched = about[turn % 2]
        assert space.client.get(watched).status_code == 200
        called = space.client.post(f"/api/v1/rows/{entry}/withdraw", json={"reason": "asked"}, headers=admin)
        assert called.status_code in (200, 403), called.text
        if called.status_code == 403:
            maintaining.withdraw(space.space.state, entry, ADA, "asked")
        assert space.client.get(watched).status_code == 404
        if turn % 50 == 0:
            assert "asked" in space.client.get(row).text
            for address in (TABLE, f"/download/{BENCHMARK}/up_to_twenty.csv", f"/api/v1/boards/{BENCHMARK}"):
                assert "Comes and goes" not in space.client.get(address).text
        maintaining.restore(space.space.state, entry, ADA, "back")


def test_a_row_that_somebody_else_withdrew_is_read_from_no_file(space: Opened, tmp_path: Path) -> None:
    """The web process has read the event, and the builder has not."""
    entry, app = add(space, "Gone elsewhere", user="somebody"), FastAPI()
    builder = Builder(space.space, tmp_path / "kept", SITE, is_eager=True)
    app.add_middleware(PublicFiles, space=space.space, maker=builder)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get(f"/model/{BENCHMARK}/{entry}/scores.csv").status_code == 200
        maintaining.withdraw(space.space.state, entry, ADA, "asked")
        assert client.get(f"/model/{BENCHMARK}/{entry}/scores.csv").status_code == 404


def test_an_answer_has_a_tag_and_is_packed_for_those_who_read_that(space: Opened) -> None:
    address = f"/board/{BENCHMARK}"
    packed, plain = space.client.get(address), space.client.get(address, headers={"Accept-Encoding": "identity"})
    assert packed.text == plain.text
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    again = space.client.get(address, headers={"If-None-Match": f'W/"x", {packed.headers["ETag"]}'})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", packed.headers["ETag"])
    assert again.headers["Content-Security-Policy"] == packed.headers["Content-Security-Policy"]
    add(space, "Another")
    assert space.client.get(address, headers={"If-None-Match": packed.headers["ETag"]}).status_code == 200


def test_no_page_shows_who_asks_for_it(space: Opened) -> None:
    token = space.headers("grace-of-the-test")
    for address in ("/", f"/board/{BENCHMARK}", "/errata", f"/model/{BENCHMARK}/p-01"):
        texts = [space.client.get(address, headers=headers).text for headers in (token, {})]
        assert texts[0] == texts[1]
        assert "grace-of-the-test" not in texts[0]


def test_no_page_believes_what_a_request_says_of_the_spaces_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "bare") as bare:
        text = bare.client.get("/api", headers={"Host": "evil.example"}).text
    assert "evil.example" not in text
    assert "http://127.0.0.1/api/v1" in text
    monkeypatch.setenv("SPACE_ID", "fairspace/leaderboard")
    monkeypatch.setenv("SPACE_HOST", "fairspace-leaderboard.hf.space")
    with opened(tmp_path / "hub") as hub:
        assert "https://fairspace-leaderboard.hf.space/api/v1" in hub.client.get("/api").text
    for text in ("javascript:alert(1)", "https://board.example/path", "board.example"):
        with pytest.raises(UsageError, match="FAIRSPACE_ADDRESS"):
            Settings(address=text)
    assert Settings(address="https://board.example/").site() == "https://board.example"


def test_pages_are_right_while_rows_come_in(space: Opened) -> None:
    def read(number: int) -> set[int]:
        columns = ("", "/all")
        return {space.client.get(f"/board/{BENCHMARK}{columns[(number + turn) % 2]}").status_code for turn in range(6)}

    with ThreadPoolExecutor(4) as threads:
        reading = [threads.submit(read, number) for number in range(4)]
        for number in range(5):
            add(space, f"Came {number}")
        assert {status for each in reading for status in each.result()} == {200}
    assert "Came 4" in space.client.get(TABLE).text


def test_refused_addresses_leave_no_file_and_the_folder_is_bounded(
    space: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "FILES", 10)
    folder = space.maker.folder
    for address in ("/model/iris/p-99", "/board/none", "/models/nobody", "/figures/iris/x/y.svg", "/compare/none"):
        assert space.client.get(address).status_code in (400, 404), address
        assert not (folder / f"{file_of(address)}{END}").exists()
    for number in range(1, 13):
        for address in (f"/model/iris/p-{number:02}", f"/api/v1/boards/iris/rows/p-{number:02}"):
            assert space.client.get(address).status_code == 200
        assert len(pages_of(folder)) <= 10


def test_a_folder_of_before_is_kept_unless_the_software_or_the_site_is_another(
    space: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kept"

    def pages(site: str = SITE) -> set[str]:
        builder = Builder(space.space, folder, site, is_eager=True)
        asyncio.run(builder.follow())
        return {*pages_of(folder)}

    builder = Builder(space.space, folder, SITE, is_eager=True)
    asyncio.run(builder.answer("/errata"))
    assert "/errata" in pages()
    entry = add(space, "Came while nobody followed")
    asyncio.run(Builder(space.space, folder, SITE).answer(f"/model/{BENCHMARK}/p-01"))
    assert f"/model/{BENCHMARK}/p-01" not in pages(), "its board has changed since"
    assert entry.encode() in pages_of(folder)[f"/board/{BENCHMARK}"]
    assert "/errata" not in pages("https://other.example")
    asyncio.run(Builder(space.space, folder, "https://other.example").answer("/errata"))
    monkeypatch.setattr(building, "stamp", lambda: "another version")
    assert "/errata" not in pages("https://other.example")


def test_an_export_is_read_from_a_plain_file_server(
    space: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, linked = tmp_path / "export", exporting.linked

    def few(text: str) -> Iterable[str]:
        """Links without those to a value's records, of which thousands look alike."""
        return (address for address in linked(text) if "/evidence/" not in address or address.endswith("total"))

    monkeypatch.setattr(exporting, "linked", few)
    count = asyncio.run(exporting.export(space.space, folder, SITE))
    assert count > 300
    assert "Nothing can be submitted here" in (folder / "submit/index.html").read_text(encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    address = f"http://127.0.0.1:{server.server_port}"
    with server, ThreadPoolExecutor(1) as thread, httpx.Client(base_url=address) as files:
        thread.submit(server.serve_forever)
        try:
            for path in ("/", f"/board/{BENCHMARK}", f"/model/{BENCHMARK}/p-01", "/models/bagel", "/errata"):
                answer = files.get(path, follow_redirects=True)
                assert answer.headers["Content-Type"].startswith("text/html")
                assert answer.text == space.client.get(path).text
                for script in ("theme.js", "style.css"):
                    place = answer.text[: answer.text.index(script)].rpartition('"')[2] + script
                    assert files.get(place).status_code == 200
            assert files.get(TABLE).json()["rows"]
        finally:
            server.shutdown()
