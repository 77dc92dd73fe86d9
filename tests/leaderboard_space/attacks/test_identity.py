"""Impersonation: sessions, tokens, sign-in, and cross-site forms."""

import base64
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import httpx
import pytest
from itsdangerous import TimestampSigner, URLSafeTimedSerializer
from playwright.sync_api import expect

from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.web.tokens import MARK, Tokens
from tests.leaderboard_space.attacks.running import SIGNING, Running, running
from tests.leaderboard_space.chromium import chromium
from tests.leaderboard_space.provider import SECRET
from tests.submissions.sample import write_zip

pytestmark = pytest.mark.process

SUBMIT = "/api/v1/submissions"
NOT_A_ZIP = b"no zip at all"
FORMS = ("/submit", "/submit/token", "/submit/revoke")


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("space"), workers="0", waiting="3", upload_bytes="1000000") as found:
        yield found


def session(data: dict[str, Any], secret: str) -> dict[str, str]:
    signed = TimestampSigner(secret).sign(base64.b64encode(json.dumps(data).encode()))
    return {"Cookie": f"session={signed.decode()}"}


def somebody(until: float = 4e9) -> dict[str, Any]:
    return {"user": {"name": "the-maintainer", "organisations": ["lab"], "until": until}}


def test_who_signs_in_is_known_on_every_page_and_the_cookie_holds_no_token_of_the_hub(space: Running) -> None:
    browser = space.signed_in("ann", "lab", "second-lab")
    for path in ("/queue", "/submit"):
        assert ">ann</a>" in browser.get(path).text
    held = base64.b64decode(browser.cookies["session"].split(".")[0] + "==").decode()
    assert json.loads(held)["user"]["organisations"] == ["lab", "second-lab"]
    assert "access_token" not in held
    assert "id_token" not in held
    cookie = browser.get("/oauth/huggingface/login").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "secure" in cookie
    browser.get("/oauth/huggingface/logout")
    assert ">ann</a>" not in browser.get("/queue").text


@pytest.mark.parametrize("secret", ["", "-v1", "-v4", SIGNING, SECRET, f"{SECRET}-v4", "secret"])
@pytest.mark.parametrize("hashed", [True, False])
def test_a_session_signed_with_what_anybody_could_guess_is_nobodys(space: Running, secret: str, hashed: bool) -> None:
    key = hashlib.sha256(secret.encode()).hexdigest() if hashed else secret
    answer = space.client().post(
        SUBMIT, content=NOT_A_ZIP, headers={**session(somebody(), key), "Origin": space.address}
    )
    space.refused(answer, "SIGN_IN_REQUIRED")


def test_a_session_ends_with_the_sign_in(space: Running) -> None:
    key = hashlib.sha256(f"{SECRET}-v1".encode()).hexdigest()
    old = session(somebody(time.time() - 1), key)
    space.refused(
        space.client().post(SUBMIT, content=NOT_A_ZIP, headers=old | {"Origin": space.address}), "SIGN_IN_REQUIRED"
    )


def forged_tokens() -> list[str]:
    good = Tokens(SIGNING).make(User("ann"))
    payload, stamp, signature = good.removeprefix(MARK).rsplit(".", 2)
    other = base64.urlsafe_b64encode(b'["the-maintainer",["lab"]]').decode().rstrip("=")
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    bomb = "." + base64.urlsafe_b64encode(b"x" * 4000).decode()
    return [
        Tokens("another secret, which is as long as it needs to be").make(User("the-maintainer")),
        MARK + URLSafeTimedSerializer(SIGNING).dumps(["the-maintainer", []]),  # sha1 and no salt
        f"{MARK}{other}.{stamp}.{signature}",
        f"{MARK}{payload}.{stamp}.",
        f"{MARK}{payload}.{stamp}",
        f"{MARK}{unsigned}.{other}.",
        f"{MARK}{bomb}.{stamp}.{signature}",
        f"{MARK}{payload}.{stamp}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}",
        MARK,
        "the-maintainer",
    ]


def test_no_forged_token_is_taken(space: Running) -> None:
    for token in forged_tokens():
        answer = space.client().post(SUBMIT, content=NOT_A_ZIP, headers={"X-Fairspace-Token": token})
        space.refused(answer, "TOKEN_INVALID")
    answer = space.client().post(SUBMIT, content=NOT_A_ZIP, headers={"Authorization": f"Bearer {forged_tokens()[0]}"})
    space.refused(answer, "TOKEN_INVALID")


def test_a_token_of_the_hub_is_none_of_ours_and_hinders_no_reading(space: Running) -> None:
    reader = space.client(Authorization="Bearer hf_abcdefghijklmnopqrstuvwxyz")
    assert reader.get("/api/v1/boards").status_code == 200
    space.refused(reader.post(SUBMIT, content=NOT_A_ZIP), "SIGN_IN_REQUIRED")


def test_an_organisation_is_one_that_the_hub_named(space: Running) -> None:
    for organisation in ("other-lab", "LAB", "lab ", "lab\u200b", "*", "../lab"):
        answer = space.program("org-user", "lab").post(SUBMIT, content=NOT_A_ZIP, params={"organisation": organisation})
        space.refused(answer, "ORGANISATION_UNKNOWN")


@pytest.mark.parametrize("step", ["login", "callback", "logout"])
def test_signing_in_leads_nowhere_else(space: Running, step: str) -> None:
    targets = ("//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example")
    for target in (*targets, "javascript:alert(1)", "/%0d%0aX: y\r\nSet-Cookie: a=b", "evil.example", "/@evil" * 200):
        params = {"_target_url": target, "state": "1", "code": "1"}
        answer = space.client().get(f"/oauth/huggingface/{step}", params=params)
        space.refused(answer, "BAD_PARAMETER")
        assert "location" not in answer.headers


def test_a_sign_in_on_a_domain_of_ones_own_comes_back_over_https(space: Running) -> None:
    headers = {"Host": "board.example", "X-Forwarded-Proto": "https"}
    there = httpx.URL(space.client().get("/oauth/huggingface/login", headers=headers).headers["location"])
    back = httpx.URL(there.params["redirect_uri"])
    assert (back.scheme, back.host, back.path) == ("https", "board.example", "/oauth/huggingface/callback")


def test_an_answer_to_no_sign_in_of_this_browser_signs_nobody_in(space: Running) -> None:
    begun = space.client()
    there = httpx.URL(begun.get("/oauth/huggingface/login").headers["location"])
    consent = httpx.get(there).headers["location"]
    space.refused(space.client().get(consent), "SIGN_IN_FAILED")  # a victim follows the attacker's link
    space.refused(space.client().get("/oauth/huggingface/callback?code=1&state=1"), "SIGN_IN_FAILED")
    forged = httpx.URL(consent).copy_set_param("code", "made-up")
    space.refused(begun.get(forged), "SIGN_IN_FAILED")
    assert ">ann</a>" not in begun.get("/queue").text


def test_another_site_cannot_send_a_form_in_a_users_name(space: Running) -> None:
    browser = space.signed_in("victim")
    before = len(space.events())
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": f"{space.address}.evil.example"},
        {"Origin": space.address, "Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {},
    ):
        for path in (SUBMIT, *FORMS):
            space.refused(browser.post(path, content=b"{}", headers=headers), "FORM_FORGED")
    space.refused(browser.get("/oauth/huggingface/logout", headers={"Sec-Fetch-Site": "cross-site"}), "FORM_FORGED")
    assert ">victim</a>" in browser.get("/queue").text
    assert len(space.events()) == before


def zipped(path: Path, name: str) -> bytes:
    return write_zip(path / f"{name}.zip", [("submission.json", name.encode())]).read_bytes()


def test_a_quota_is_not_evaded_by_names_organisations_file_names_or_at_once(space: Running, tmp_path: Path) -> None:
    first, second = space.program("Eve", "lab", "two"), space.program("eve", "lab", "two")
    accepted = first.post(SUBMIT, content=zipped(tmp_path, "a"))
    assert accepted.status_code == 202
    for change in ({"organisation": "two"}, {"organisation": "lab"}):
        again = first.post(SUBMIT, content=zipped(tmp_path, "a"), params=change)
        assert again.json()["id"] == accepted.json()["id"]
    form = {"file": ("another-name.zip", zipped(tmp_path, "a"))}
    assert first.post(SUBMIT, files=form).json()["id"] == accepted.json()["id"]
    files = [zipped(tmp_path, f"parallel-{number}") for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda file: first.post(SUBMIT, content=file), files))
    waiting = [one for one in space.events() if one["kind"] == "accepted" and one["body"]["user"] == "Eve"]
    assert len(waiting) == 3
    refused = [answer for answer in answers if answer.status_code != 202]
    assert {answer.json()["code"] for answer in refused} <= {"TOO_MANY_WAITING", "TOO_MANY_REQUESTS"}
    assert len(refused) == 10
    space.refused(second.post(SUBMIT, content=zipped(tmp_path, "other-case")), "TOO_MANY_WAITING")
    space.refused(
        first.post(SUBMIT, content=zipped(tmp_path, "org"), params={"organisation": "two"}), "TOO_MANY_WAITING"
    )


def test_forms_sent_by_hand_do_no_more_than_their_page(space: Running) -> None:
    before, visitor, user = len(space.events()), space.client(), space.program("mallory")
    for path in FORMS:
        space.refused(visitor.post(path), "SIGN_IN_REQUIRED")
    space.refused(user.post("/submit", content=NOT_A_ZIP), "UPLOAD_NOT_A_ZIP")
    space.refused(user.post("/submit/revoke", data={"token": "of another"}), "BAD_PARAMETER")
    assert len(space.events()) == before
    made = user.post("/submit/token")
    assert made.headers["cache-control"] == "private, no-store"
    token = made.text.partition(f'value="{MARK}')[2].partition('"')[0]
    with space.client(**{"X-Fairspace-Token": MARK + token}) as program:
        assert ">mallory</a>" in program.get("/queue").text
        assert "Revoked." in program.post("/submit/revoke", data={"token": MARK + token}).text
        space.refused(program.get("/queue"), "TOKEN_REVOKED")
    other = space.program("mallory").post("/submit/revoke", data={"every": "1"})
    assert "All tokens of mallory" in other.text
    space.refused(user.get("/queue"), "TOKEN_REVOKED")


@pytest.mark.parametrize("status", [503, 200])
def test_signing_in_at_a_provider_that_fails_is_refused_and_no_fault_of_ours(
    space: Running, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    browser = space.client()
    consent = httpx.get(browser.get("/oauth/huggingface/login").headers["location"]).headers["location"]
    monkeypatch.setattr(space.provider, "fails_with", status)
    space.refused(browser.get(consent), "SIGN_IN_FAILED")


def test_signing_in_leaves_a_frame_of_the_hub_in_a_tab_of_its_own(space: Running) -> None:
    space.provider.name = "framed"
    sandbox = "allow-forms allow-popups allow-popups-to-escape-sandbox allow-same-origin allow-scripts"
    hub = f'<iframe sandbox="{sandbox}" width="900" height="700" src="{space.address}/submit"></iframe>'
    with chromium() as browser:
        page = browser.new_context().new_page()
        page.route("**/as-the-hub", lambda route: route.fulfill(body=hub, content_type="text/html"))
        page.goto(f"{space.address}/as-the-hub")
        frame = page.frame_locator("iframe")
        expect(frame.get_by_role("link", name="open this page in a new tab")).to_be_visible()
        with page.expect_popup() as opened:
            frame.get_by_role("link", name="Sign in with Hugging Face").click()
        expect(opened.value.locator("#who")).to_contain_text("Signed in as framed")
        opened.value.get_by_role("link", name="Sign out").click()
        expect(opened.value.get_by_role("link", name="Sign in with Hugging Face")).to_be_visible()
        assert opened.value.locator(".when-framed").is_hidden()


def test_a_download_sets_no_cookie(space: Running) -> None:
    browser = space.signed_in("reader")
    answer = browser.get("/download/iris/inaugural.csv")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers


@contextmanager
def bare(space: Running) -> Iterator[Callable[[str], tuple[HTTPResponse, str]]]:
    """Sends addresses unchanged; httpx would resolve their dots."""
    connection = HTTPConnection(space.address.removeprefix("http://"), timeout=120)

    def ask(path: str) -> tuple[HTTPResponse, str]:
        connection.request("GET", path, headers={"X-Fairspace-Token": Tokens(SIGNING).make(User("prober"))})
        answer = connection.getresponse()
        return answer, answer.read().decode()

    yield ask
    connection.close()


TRAVERSALS = ("..", "../..", "..%2f..%2fetc%2fpasswd", "%00", "%2e%2e%2fstore", "%E2%80%AE")
TEXTS = (*TRAVERSALS, "a%0d%0aX-Injected:%20y", "'%22%3E%3Cscript%3E")


def test_no_path_leads_out_and_no_header_is_injected(space: Running) -> None:
    places = [
        place
        for text in TEXTS
        for place in (
            f"/site/{text}/{text}",
            f"/model/iris/{text}",
            f"/model/{text}/x",
            f"/download/iris/{text}.csv",
            f"/download/{text}/inaugural.csv",
            f"/standard/{text}/{text}",
            f"/submission/{text}",
            f"/figures/iris/{text}.json",
            f"/api/v1/boards/{text}/rows/{text}",
            f"/api/v1/submissions/{text}",
            f"/?benchmark={text}&standard={text}",
        )
    ]
    with bare(space) as ask:
        for place in places:
            answer, told = ask(place)
            assert answer.status < 500, place
            assert "x-injected" not in answer.headers
            assert "root:x" not in told
            if answer.headers["content-type"].startswith(("text/html", "image/svg")):
                assert "<script>" not in told, place
