"""Models that people ask us to run: the log, limits, hostile names, the page, the API, and the operator's command."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairspace.leaderboard_space import intake as taking
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.results.result import Result
from fairspace.submissions.running import rows
from tests.hub.running import OWNER, Hub
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import add, result
from tests.submissions.running.local import tiny_models

ADA, BOB = User("ada"), User("bob")


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Opened]:
    with opened(tmp_path, admins=("ada",), requests_a_minute=0) as running:
        yield running


def of(space: Opened, user: User) -> dict[str, str]:
    return {**space.headers(user.name), "Accept": "application/json"}


def listed(space: Opened) -> dict[str, dict[str, object]]:
    return {each["model"]: each for each in space.client.get("/api/v1/wanted").json()["models"]}


def test_a_model_counts_once_for_each_user_and_outlives_a_restart(space: Opened) -> None:
    want = space.space.intake.want
    want("Acme/one", ADA, "genres")
    before = space.space.state.number
    want("acme/ONE", ADA)
    assert space.space.state.number == before
    want("acme/ONE", BOB, "iris")
    want("acme/two", User("BOB"))
    assert [(name, each["asked_by"], each["benchmarks"]) for name, each in listed(space).items()] == [
        ("Acme/one", 2, ["genres", "iris"]),
        ("acme/two", 1, []),
    ]
    again = State(LocalStorage(space.space.settings.store))
    again.refresh()
    assert again.wanted() == space.space.state.wanted()
    events = space.client.get("/api/v1/events").text
    assert "acme/two" in events
    assert "bob" not in events.casefold()


NO_NAMES = (
    *("", "one", "a/b/c", "../a", "a/..", "a/.b", "a/b@c", "a/b#c", "a b/c", "http://h/a", "<b>/c", "а/b", "a//b"),
)


def test_a_name_that_is_none_of_the_hub_is_refused(space: Opened) -> None:
    for name in NO_NAMES:
        answer = space.client.post("/queue", data={"model": name}, headers=of(space, BOB))
        assert (answer.status_code, answer.json()["code"]) == (400, "BAD_PARAMETER"), name
    assert space.space.state.number == 0


def test_limits_hold_for_an_account_and_for_all_and_end_with_a_row(
    space: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "WANTED", 2)
    monkeypatch.setattr(taking, "WANTED_IN_ALL", 3)
    want, eve = space.space.intake.want, User("eve")
    for number in range(2):
        want(f"acme/{number}", BOB)
    with pytest.raises(SpaceError, match="QUOTA_WANTED"):
        want("acme/9", BOB)
    want("acme/2", ADA)
    want("acme/0", ADA)
    with pytest.raises(SpaceError, match="QUOTA_WANTED"):
        want("acme/9", eve)
    want("acme/2", eve)
    handed_in, ours = "acme/1", "acme/0"  # whoever hands a row in takes nothing off the list
    add(space.space.state, result("fact_or_fair", "stereotyped", handed_in), "eve")
    add(space.space.state, result("fact_or_fair", "stereotyped", ours))
    assert [listed(space)[model]["state"] for model in (handed_in, ours)] == ["asked", "on the board"]
    want("acme/9", BOB)


def test_a_maintainer_strikes_a_model_for_good(space: Opened) -> None:
    space.space.intake.want("acme/one", BOB)
    address, about = "/api/v1/rows/acme/one/strike", {"reason": "its licence forbids it"}
    assert space.client.post(address, json=about, headers=of(space, BOB)).json()["code"] == "NOT_A_MAINTAINER"
    event = space.client.post(address, json=about, headers=of(space, ADA)).json()
    assert (event["kind"], event["model"], event["reason"]) == ("struck", "acme/one", about["reason"])
    assert listed(space) == {}
    refused = space.client.post("/queue", data={"model": "Acme/One"}, headers=of(space, BOB)).json()
    assert about["reason"] in refused["what"]
    unknown = space.client.post("/api/v1/rows/acme/two/strike", json=about, headers=of(space, ADA))
    assert unknown.json()["code"] == "UNKNOWN_ENTRY"


def test_the_form_works_without_scripts_and_for_nobody_else(space: Opened) -> None:
    form = {"model": " acme/one ", "benchmark": ""}
    assert space.client.post("/queue", data=form).status_code == 401
    assert "Sign in</a> to ask for a model" in space.client.get("/queue").text
    asked = space.client.post("/queue", data=form, headers=of(space, BOB), follow_redirects=False)
    assert (asked.status_code, asked.headers["location"]) == (303, "/queue#wanted")
    page = space.client.get("/queue", headers=of(space, BOB)).text
    assert 'action="/queue"' in page
    assert "acme/one" in page
    forged = space.client.post("/queue", data=form, headers={"Origin": "https://evil.example", "Cookie": "session=x"})
    assert (forged.status_code, "FORM_FORGED" in forged.text) == (403, True)
    wrong = space.client.post("/queue", data={"model": "x"}, headers={**of(space, BOB), "Accept": "text/html"})
    assert (wrong.status_code, "BAD_PARAMETER" in wrong.text) == (400, True)


@pytest.mark.slow
@pytest.mark.process
def test_the_operator_works_the_list_off_with_the_command(space: Opened, tmp_path: Path) -> None:
    name, folder = "fairspace/tiny", tiny_models.chat(tmp_path / "tiny", ["A", "B"])
    space.space.intake.want(name, BOB, "fact_or_fair")
    file, out = tmp_path / "wanted.json", tmp_path / "rows"
    file.write_text(space.client.get("/api/v1/wanted").text)
    with Hub.start(tmp_path / "hub") as hub:
        upload = f"from huggingface_hub import HfApi\napi = HfApi()\napi.create_repo({name!r})\n"
        hub.run(f"{upload}api.upload_folder(repo_id={name!r}, folder_path={str(folder)!r})", tmp_path / "home", OWNER)
        command = [sys.executable, "-m", rows.__name__, f"@{file}", "--limit", "1", "--out", str(out)]
        environment = hub.environment(tmp_path / "operator", FAIRSPACE_RESAMPLES="0")
        subprocess.run(command, env=environment, check=True)
    (path,) = out.glob("*/*/result.json")
    ran = Result.from_json(json.loads(path.read_text()))
    assert path.relative_to(out).parts[:2] == ("fairspace-tiny", "fact_or_fair-v2-core")
    assert ran.meta["model"] == name
    assert len(ran.meta["revision"]) == 40, "the commit of `main`"
    assert listed(space)[name]["state"] == "asked"
    add(space.space.state, ran)
    assert listed(space)[name]["state"] == "on the board"
    file.write_text(space.client.get("/api/v1/wanted").text)
    assert rows.wanted_models([f"@{file}"]) == {}
