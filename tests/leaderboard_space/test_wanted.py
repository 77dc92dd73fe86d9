"""Models that people ask us to run: the log, limits, hostile names, the page, the API, and the operator's command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairspace.leaderboard_space import intake as taking
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.intake import User, result_draft
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.running import rows
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import result

ADA, BOB = User("ada"), User("bob")


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Opened]:
    with opened(tmp_path, admins=("ada",), requests_a_minute=0) as running:
        yield running


def of(space: Opened, user: User) -> dict[str, str]:
    return {"X-Fairspace-Token": space.space.tokens.make(user)}


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
    told = space.client.get("/api/v1/events").text
    assert "acme/two" in told
    assert "bob" not in told.casefold()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "one",
        "a/b/c",
        "../a",
        "a/..",
        "a/.b",
        "a/b@c",
        "a/b#c",
        "a b/c",
        "http://h/a",
        "a/b\n",
        "<b>/c",
        "а/b",
        "a//b",
    ],
)
def test_a_name_that_is_none_of_the_hub_is_refused(space: Opened, name: str) -> None:
    answer = space.client.post("/api/v1/wanted", json={"model": name}, headers=of(space, BOB))
    assert (answer.status_code, answer.json()["code"]) == (400, "BAD_PARAMETER")
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
    for model in (handed_in, ours):
        draft, files = result_draft(result("fact_or_fair", "stereotyped", model), "eve", own=model == ours)
        space.space.storage.append([draft], files)
    space.space.state.refresh()
    assert [listed(space)[model]["state"] for model in (handed_in, ours)] == ["asked", "on the board"]
    want("acme/9", BOB)


def test_a_maintainer_strikes_a_model_for_good(space: Opened) -> None:
    space.space.intake.want("acme/one", BOB)
    address, about = "/api/v1/rows/acme/one/strike", {"reason": "its licence forbids it"}
    assert space.client.post(address, json=about, headers=of(space, BOB)).json()["code"] == "NOT_A_MAINTAINER"
    event = space.client.post(address, json=about, headers=of(space, ADA)).json()
    assert (event["kind"], event["model"], event["reason"]) == ("struck", "acme/one", about["reason"])
    assert listed(space) == {}
    refused = space.client.post("/api/v1/wanted", json={"model": "Acme/One"}, headers=of(space, BOB)).json()
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


def test_the_operator_works_the_list_off_with_the_command(
    space: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    space.space.intake.want("Qwen/Qwen2.5-7B-Instruct", BOB, "genres")
    file = tmp_path / "wanted.json"
    file.write_text(space.client.get("/api/v1/wanted").text)
    assert rows.main([f"@{file}", "--dry-run"]) == 0
    assert "Qwen/Qwen2.5-7B-Instruct: language model" in capsys.readouterr().out
    assert json.loads(file.read_text())["models"][0]["asked_by"] == 1
