"""Submitting as people and programs do it: the page in a browser, `gradio_client`, and plain calls."""

import json
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from playwright.sync_api import Browser, Page, expect

from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.web.identity import Tokens
from tests.leaderboard_space.attacks.running import SIGNING, Running, running
from tests.leaderboard_space.chromium import chromium
from tests.leaderboard_space.factory import bad_zip, good_zip
from tests.leaderboard_space.walking import PHONE, walking, worker

expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Space that scores nothing by itself, so that a submission waits until a test has a worker."""
    with running(tmp_path_factory.mktemp("space"), workers="0") as space:
        assert space.client().get("/config").status_code == 200  # Gradio is loaded
        yield space


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def program(space: Running, *user: str) -> Client:
    headers = {"X-Fairspace-Token": Tokens(SIGNING).make(User(user[0]))} if user else {}
    return Client(space.address, headers=headers, verbose=False, analytics_enabled=False)


def another_benchmark(good: Path, path: Path, **changes: str) -> Path:
    """The answers of a submission, under a `submission.json` with these changes."""
    with zipfile.ZipFile(good) as archive, zipfile.ZipFile(path, "w") as made:
        for name in archive.namelist():
            content = archive.read(name)
            made.writestr(name, json.dumps(json.loads(content) | changes) if name == "submission.json" else content)
    return path


def ended(client: Client, submission: str) -> dict[str, Any]:
    deadline = time.monotonic() + 240
    while (state := client.predict(submission, api_name="/submission"))["outcome"] == "waiting":
        assert time.monotonic() < deadline
        time.sleep(0.5)
    found: dict[str, Any] = state
    return found


@pytest.mark.process
def test_gradios_client_submits_a_file_and_follows_it_to_its_score_or_faults(space: Running, tmp_path: Path) -> None:
    good = good_zip(tmp_path / "good.zip", "Kestrel 7B")
    bad, codes = bad_zip(tmp_path / "bad.zip")
    client = program(space, "ada")
    sent = client.predict(handle_file(good), "", api_name="/submit")
    assert (sent["outcome"], sent["position"], sent["name"]) == ("waiting", 1, "Kestrel 7B")
    refused = client.predict(handle_file(bad), "", api_name="/submit")
    with worker(space):
        scored, faulty = ended(client, sent["id"]), ended(client, refused["id"])
    assert scored["outcome"] == "scored"
    assert scored["row"].startswith("/model/fact_or_fair/")
    assert scored["address"] == f"/submission/{sent['id']}"
    assert scored == space.client().get(f"/api/v1/submissions/{sent['id']}").json()
    assert (faulty["outcome"], {fault["code"] for fault in faulty["faults"]}) == ("refused", codes)
    again = client.predict(handle_file(good), "", api_name="/submit")
    assert (again["id"], again["outcome"]) == (sent["id"], "scored")
    assert not list((space.root / "work" / "gradio").rglob("*.zip"))
    with pytest.raises(AppError, match="ORGANISATION_UNKNOWN"):
        client.predict(handle_file(bad), "another lab", api_name="/submit")
    with pytest.raises(AppError, match="UNKNOWN_SUBMISSION"):
        client.predict("nothing", api_name="/submission")
    client.close()


@pytest.mark.process
def test_without_a_token_nothing_is_taken_and_private_events_are_not_offered(space: Running, tmp_path: Path) -> None:
    before = len(space.events())
    client = program(space)
    described = client.view_api(return_format="dict", print_info=False)
    assert isinstance(described, dict)
    assert set(described["named_endpoints"]) == {"/submit", "/submission"}
    with pytest.raises(AppError, match="SIGN_IN_REQUIRED"):
        client.predict(None, "", api_name="/submit")
    with pytest.raises(httpx.HTTPStatusError, match="401") as refused:
        client.predict(handle_file(good_zip(tmp_path / "good.zip", "nobody")), "", api_name="/submit")
    assert refused.value.response.json()["code"] == "SIGN_IN_REQUIRED"
    with pytest.raises(ValueError, match="Cannot find a function"):
        client.predict(api_name="/make_token")
    client.close()
    assert len(space.events()) == before


@pytest.mark.process
def test_plain_calls_have_the_limits_of_the_page(space: Running) -> None:
    client = space.program("curl")
    address = "/gradio_api/call/v2/submission"
    (uploaded,) = client.post("/gradio_api/upload", files={"files": ("no.zip", b"no zip")}).json()
    event = client.post("/gradio_api/call/v2/submit", json={"file": {"path": uploaded}}).json()["event_id"]
    assert "UPLOAD_NOT_A_ZIP" in client.get(f"/gradio_api/call/submit/{event}").text
    no_names: list[Any] = [[], {"organisation": ""}, {"file": None, "more": 1}]
    for wrong in (*no_names, {"file": {"path": "/etc/passwd"}}, {"file": [1]}):
        space.refused(client.post("/gradio_api/call/v2/submit", json=wrong), "BAD_PARAMETER")
    for private in ("call/make_token", "call/v2/make_token", "run/submit", "api/submit", "call/submit"):
        space.refused(client.post(f"/gradio_api/{private}", json={"data": []}), "UNKNOWN_PAGE")
    for stream in ("call/submit/nothing", "queue/data?session_hash=nothing"):
        space.refused(client.get(f"/gradio_api/{stream}"), "UNKNOWN_PAGE")
    calls = 0
    while (answer := client.post(address, json={"id": "0"})).status_code == 200:
        calls += 1
        assert calls < 120
    space.refused(answer, "TOO_MANY_REQUESTS")


def choose(page: Page, path: Path) -> None:
    page.locator("#file input[type=file]").set_input_files(path)
    expect(page.locator("#file")).to_contain_text(path.stem)


@pytest.mark.browser
def test_the_state_of_each_file_stands_in_one_list_and_is_told(
    browser: Browser, space: Running, tmp_path: Path
) -> None:
    good = good_zip(tmp_path / "good.zip", "Merlin 2B")
    wrong = another_benchmark(good, tmp_path / "wrong.zip", benchmark="iris", dataset_revision="v99", model="Wrong 1B")
    broken = tmp_path / "no_zip.zip"
    broken.write_bytes(b"no zip at all")
    with walking(browser, space, PHONE, "dark") as walk:
        walk.sign_in("sue")
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
        for path, name in ((wrong, "Wrong 1B"), (good, "Merlin 2B")):
            choose(page, path)
            button.click()
            expect(lines.first).to_contain_text(name)
            expect(lines.first).to_contain_text("waits, position")
            expect(told).to_contain_text(name)
            expect(outcome).to_have_text("")
        walk.fits()
        with worker(space):
            expect(lines.filter(has_text="Merlin 2B")).to_contain_text("scored 0.", timeout=240_000)
        mended = lines.filter(has_text="Wrong 1B")
        for text in ("refused: 2 faults", "UNKNOWN_REVISION", "benchmark is iris, the answers are of fact_or_fair"):
            expect(mended).to_contain_text(text)
        expect(told).to_contain_text("scored 0.")
        expect(lines).to_have_count(2)
        assert all(
            box["right"] <= PHONE["width"]
            for box in lines.locator("td").evaluate_all("all => all.map(one => one.getBoundingClientRect())")
        )
        walk.fits()
        state = lines.filter(has_text="Merlin 2B").get_by_role("link", name="scored 0.").inner_text()
        walk.open(lines.filter(has_text="Merlin 2B").get_by_role("link", name="Merlin 2B"))
        expect(page.get_by_role("status")).to_contain_text(state[1:])
        expect(page.get_by_role("heading", level=1)).to_have_text("Merlin 2B")
