"""Impersonation: sessions, tokens, sign-in, cross-site forms, and Gradio's events by its client and by hand."""

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from itsdangerous import TimestampSigner, URLSafeTimedSerializer
from playwright.sync_api import Browser, expect

from fairspace.leaderboard_space.gradio_pages.gate import NEEDED
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.web.identity import MARK, Tokens
from tests.leaderboard_space.attacks.running import SIGNING, Running, gradio_events, running, token
from tests.leaderboard_space.factory import bad_zip, good_zip
from tests.leaderboard_space.jobs.children import disguised
from tests.leaderboard_space.provider import SECRET
from tests.leaderboard_space.waiting import until
from tests.leaderboard_space.walking import worker

pytestmark = pytest.mark.process

SUBMIT = "/api/v1/submissions"
NOT_A_ZIP = b"no zip at all"
EVENTS = ("look", "hand_in", "make_token")


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("space"), workers="0", waiting="3", upload_bytes="1000000") as found:
        yield found


def forged_session(space: Running, secret: str, until: float = 4e9) -> httpx.Response:
    """The answer to an upload with a session of the maintainer's that is signed with this secret."""
    data = {"user": {"name": "the-maintainer", "organisations": ["lab"], "until": until}}
    signed = TimestampSigner(secret).sign(base64.b64encode(json.dumps(data).encode()))
    headers = {"Cookie": f"session={signed.decode()}", "Origin": space.address}
    return space.client().post(SUBMIT, content=NOT_A_ZIP, headers=headers)


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
    stolen = {"Cookie": f"session={browser.cookies['session']}"}
    assert ">ann</a>" in space.client().get("/queue", headers=stolen).text
    browser.get("/oauth/huggingface/logout")
    assert ">ann</a>" not in browser.get("/queue").text
    assert ">ann</a>" not in space.client().get("/queue", headers=stolen).text, "no copy of the cookie is valid"


@pytest.mark.parametrize("secret", ["", "-v1", "-v4", SIGNING, SECRET, f"{SECRET}-v4", "secret"])
@pytest.mark.parametrize("hashed", [True, False])
def test_a_session_signed_with_what_anybody_could_guess_is_nobodys(space: Running, secret: str, hashed: bool) -> None:
    key = hashlib.sha256(secret.encode()).hexdigest() if hashed else secret
    space.refused(forged_session(space, key), "SIGN_IN_REQUIRED")


def test_a_session_ends_with_the_sign_in(space: Running) -> None:
    key = hashlib.sha256(f"{SECRET}-v1".encode()).hexdigest()
    space.refused(forged_session(space, key, time.time() - 1), "SIGN_IN_REQUIRED")


def test_a_cookie_is_a_session_only_as_it_was_set(space: Running) -> None:
    begun = space.client()
    assert "samesite=none; secure" in begun.get("/oauth/huggingface/login").headers["set-cookie"]
    browser = space.signed_in("ann", *(f"organisation-with-a-long-name-{number:04}" for number in range(150)))
    cookie = browser.cookies["session"]
    assert len(cookie) < 4000, "browsers drop a larger one"
    data, stamp, signature = cookie.split(".")
    forged = (begun.cookies["session"], "", "...", "a" * 8000, f"{data}.{stamp}.", f"{data}.aaaaaa.{signature}")
    for name, sent in {cookie: True, **dict.fromkeys((*forged, f"{data[:-4]}AAAA.{stamp}.{signature}"), False)}.items():
        assert (">ann</a>" in space.client(Cookie=f"session={name}").get("/queue").text) is sent, name
    space.refused(space.client(Cookie="a=" + "b" * 17_000).get("/queue"), "REQUEST_TOO_LARGE")


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
    for forged in forged_tokens():
        answer = space.client().post(SUBMIT, content=NOT_A_ZIP, headers={"X-Fairspace-Token": forged})
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
        for path in (SUBMIT, "/gradio_api/upload", "/gradio_api/queue/join"):
            space.refused(browser.post(path, content=b"{}", headers=headers), "FORM_FORGED")
    space.refused(browser.get("/oauth/huggingface/logout", headers={"Sec-Fetch-Site": "cross-site"}), "FORM_FORGED")
    assert ">victim</a>" in browser.get("/queue").text
    assert len(space.events()) == before


def gradio_client(space: Running, *user: str) -> Client:
    headers = token(*user) if user else {}
    return Client(space.address, headers=headers, verbose=False, analytics_enabled=False)


def end_of(client: Client, submission: str) -> dict[str, Any]:
    def state() -> dict[str, Any] | None:
        found: dict[str, Any] = client.predict(submission, api_name="/submission")
        return None if found["outcome"] == "waiting" else found

    return until(state) or {}


def test_gradios_client_submits_a_file_and_follows_it_to_its_score_or_faults(space: Running, tmp_path: Path) -> None:
    good = good_zip(tmp_path / "good.zip", "Kestrel 7B")
    bad, codes = bad_zip(tmp_path / "bad.zip")
    client = gradio_client(space, "ada")
    sent = client.predict(handle_file(good), "", api_name="/submit")
    assert (sent["outcome"], sent["position"], sent["name"]) == ("waiting", 1, "Kestrel 7B")
    refused = client.predict(handle_file(bad), "", api_name="/submit")
    with worker(space):
        scored, faulty = end_of(client, sent["id"]), end_of(client, refused["id"])
    assert scored["outcome"] == "scored"
    assert scored["row"].startswith("/model/fact_or_fair/")
    assert scored["address"] == f"/submission/{sent['id']}"
    assert scored == space.client().get(f"{SUBMIT}/{sent['id']}").json()
    assert (faulty["outcome"], {fault["code"] for fault in faulty["faults"]}) == ("refused", codes)
    again = client.predict(handle_file(good), "", api_name="/submit")
    assert (again["id"], again["outcome"]) == (sent["id"], "scored")
    assert not list((space.root / "work" / "gradio").rglob("*.zip"))
    with pytest.raises(AppError, match="ORGANISATION_UNKNOWN"):
        client.predict(handle_file(bad), "another lab", api_name="/submit")
    with pytest.raises(AppError, match="UNKNOWN_SUBMISSION"):
        client.predict("nothing", api_name="/submission")
    client.close()


def test_a_quota_is_not_evaded_by_names_organisations_file_names_or_at_once(space: Running) -> None:
    first, second = space.program("Eve", "lab", "two"), space.program("eve", "lab", "two")
    content = disguised(b"a")
    accepted = first.post(SUBMIT, content=content)
    assert accepted.status_code == 202
    again = [first.post(SUBMIT, content=content, params={"organisation": name}) for name in ("two", "lab")]
    again.append(first.post(SUBMIT, files={"file": ("another-name.zip", content)}))
    assert [answer.json()["id"] for answer in again] == [accepted.json()["id"]] * 3
    files = [disguised(f"parallel-{number}".encode()) for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda file: first.post(SUBMIT, content=file), files))
    waiting = [event for event in space.events() if event["kind"] == "accepted" and event["body"]["user"] == "Eve"]
    assert len(waiting) == 3
    refused = [answer for answer in answers if answer.status_code != 202]
    assert {answer.json()["code"] for answer in refused} <= {"TOO_MANY_WAITING", "TOO_MANY_REQUESTS"}
    assert len(refused) == 10
    space.refused(second.post(SUBMIT, content=disguised(b"other case")), "TOO_MANY_WAITING")
    further = first.post(SUBMIT, content=disguised(b"org"), params={"organisation": "two"})
    space.refused(further, "TOO_MANY_WAITING")


def call(client: httpx.Client, event: dict[str, Any], data: list[Any]) -> str:
    session_hash = f"attack{event['id']}"
    body = {"fn_index": event["id"], "data": data, "session_hash": session_hash, "event_data": None, "trigger_id": None}
    joined = client.post("/gradio_api/queue/join", json=body)
    if joined.status_code != 200:
        return joined.text
    return client.get("/gradio_api/queue/data", params={"session_hash": session_hash}).text


@pytest.mark.parametrize("who", ["visitor", "user"])
def test_gradios_private_events_called_by_hand_do_no_more_than_their_page(space: Running, who: str) -> None:
    client = space.client() if who == "visitor" else space.program("mallory")
    events = gradio_events(client)
    assert {name for name, event in events.items() if event["api_visibility"] == "private"} >= set(EVENTS)
    before = len(space.events())
    allowed = () if who == "visitor" else ("look", "make_token")
    for name in EVENTS:
        answer = call(client, events[name], [None, ""] if name == "hand_in" else [])
        code = "UPLOAD_MISSING" if (who, name) == ("user", "hand_in") else "SIGN_IN_REQUIRED"
        assert (code in answer) == (name not in allowed), (name, answer)
    clients = {"127.0.0.1"} if who == "visitor" else {"mallory"}
    lines = [line for line in space.lines(logger="fairspace.refused") if line["client"] in clients]
    by_hand = [line for line in lines if line["path"] == "/gradio_api/queue/join" and line["code"] != "FORM_FORGED"]
    assert len(by_hand) == len(EVENTS) - len(allowed)
    assert len(space.events()) == before


def test_gradio_takes_no_file_but_an_uploaded_one_and_fetches_none(space: Running) -> None:
    client = space.program("fetcher")
    events = gradio_events(client)
    before = list(space.provider.requests)
    folder = space.root / "work" / "gradio"
    (uploaded,) = client.post("/gradio_api/upload", files={"files": ("a.zip", b"a")}).json()
    for file in (
        {"path": str(folder)},
        {"path": str(Path(uploaded).parent)},
        {"path": str(folder / "nothing.zip")},
        {"path": str(folder / ("x" * 5000))},
        {"path": "/etc/passwd"},
        {"path": str(space.root / "store" / "events.jsonl")},
        {"path": "x", "url": f"{space.provider.address}/ssrf"},
        {"path": f"{space.provider.address}/ssrf"},
        {"path": "../../../etc/passwd", "url": "file:///etc/passwd"},
    ):
        for more in ({"meta": {"_type": "gradio.FileData"}, "orig_name": "a.zip"}, {}):
            told = call(client, events["hand_in"], [file | more, ""])
            assert "root:" not in told
            assert "BAD_PARAMETER" in told or "UPLOAD_MISSING" in told, (file, told)
    look = events["look"]["id"]
    calls: tuple[Any, ...] = ([], "[", {"fn_index": 999, "data": []}, {"fn_index": [], "data": {}})
    for wrong in (*calls, {"fn_index": look, "data": [1]}, {"fn_index": look, "data": ["more"]}):
        answer = client.post("/gradio_api/queue/join", json=wrong)
        assert (answer.status_code, "BAD_PARAMETER" in answer.text) == (400, True), answer.text
    assert Path("/etc/passwd").exists()
    assert (space.root / "store" / "events.jsonl").exists()
    assert space.provider.requests == before
    assert not [one for one in space.events() if one["body"].get("user") == "fetcher"]
    stranger = space.client()
    assert "SIGN_IN_REQUIRED" in call(stranger, events["hand_in"], [{"path": uploaded}, ""])
    assert Path(uploaded).is_file()


def test_a_stranger_gets_no_stream_of_a_session_that_is_none(space: Running) -> None:
    """A stream that breaks off leaves a traceback in the log, which `running` refuses."""
    client = space.program("stranger")
    queries = ("?session_hash=x", f"?session_hash={'x' * 2000}", "?session_hash=", "")
    for stream in (*(f"queue/data{query}" for query in queries), "call/submit/nothing"):
        space.refused(client.get(f"/gradio_api/{stream}"), "UNKNOWN_PAGE")
    assert client.get("/gradio_api/upload_progress?upload_id=x").status_code == 404
    assert call(client, gradio_events(client)["look"], []), "that of a call is answered"


def test_without_a_token_nothing_is_taken_and_private_events_are_not_offered(space: Running, tmp_path: Path) -> None:
    before = len(space.events())
    client = gradio_client(space)
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


def test_plain_calls_have_the_limits_of_the_page(space: Running) -> None:
    client = space.program("curl")
    (uploaded,) = client.post("/gradio_api/upload", files={"files": ("no.zip", NOT_A_ZIP)}).json()
    event = client.post("/gradio_api/call/v2/submit", json={"file": {"path": uploaded}}).json()["event_id"]
    assert "UPLOAD_NOT_A_ZIP" in client.get(f"/gradio_api/call/submit/{event}").text
    no_names: list[Any] = [[], {"organisation": ""}, {"file": None, "more": 1}]
    for wrong in (*no_names, {"file": {"path": "/etc/passwd"}}, {"file": [1]}):
        space.refused(client.post("/gradio_api/call/v2/submit", json=wrong), "BAD_PARAMETER")


@pytest.mark.parametrize("address", ["/gradio_api/queue/join", "/gradio_api/call/v2/submission"])
def test_calls_have_a_rate_of_their_own(space: Running, address: str) -> None:
    client = space.program(f"eager{address[-4:]}")
    body: dict[str, Any] = {"id": "0"}
    if address.endswith("join"):
        body = {"fn_index": gradio_events(client)["look"]["id"], "data": [], "session_hash": "eager"}
    count = 0
    while (answer := client.post(address, json=body)).status_code == 200:
        count += 1
        assert count < 120
    space.refused(answer, "TOO_MANY_REQUESTS")
    assert count >= 60
    assert client.get("/queue").status_code == 200


@pytest.mark.parametrize("status", [503, 200])
def test_signing_in_at_a_provider_that_fails_is_refused_and_no_fault_of_ours(
    space: Running, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    browser = space.client()
    consent = httpx.get(browser.get("/oauth/huggingface/login").headers["location"]).headers["location"]
    monkeypatch.setattr(space.provider, "fails_with", status)
    space.refused(browser.get(consent), "SIGN_IN_FAILED")


def test_signing_in_leaves_a_frame_of_the_hub_in_a_tab_of_its_own(browser: Browser, space: Running) -> None:
    space.provider.name = "framed"
    sandbox = "allow-forms allow-popups allow-popups-to-escape-sandbox allow-same-origin allow-scripts"
    hub = f'<iframe sandbox="{sandbox}" width="900" height="700" src="{space.address}/submit"></iframe>'
    with browser.new_context() as context:
        page = context.new_page()
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


BLOCKED = (
    "/gradio_api/proxy=http://127.0.0.1/",
    "/gradio_api/proxy=https://huggingface.co/",
    "/gradio_api/file=/etc/passwd",
    "/gradio_api/file=http://127.0.0.1/",
    "/gradio_api/file/etc/passwd",
    "/gradio_api%2Ffile=/etc/passwd",
    "/gradio_api/deep_link?session_hash=a",
    "/gradio_api/stream/a/b/1/playlist.m3u8",
    "/gradio_api/custom_component/a/client/component/index.js",
    "/gradio_api/vibe-code",
    "/gradio_api/runs",
    "/gradio_api/run-history/buckets",
    "/gradio_api/openapi.json",
    "/gradio_api/profiling/traces",
    "/gradio_api/dev/reload",
    "/gradio_api/token",
    "/gradio_api/queue/status",
    "/monitoring",
    "/monitoring/summary",
    "/monitoring/x",
    "/submit?deep_link=x",
    "/config?deep_link=x",
    "/login",
    "/logout",
    "/assets/../../../etc/passwd",
    "/assets/%2e%2e/%2e%2e/etc/passwd",
    "/static/..%2f..%2fetc/passwd",
    "/svelte/%2e%2e%2fx",
)
BLOCKED_POSTS = (
    *("run/act", "api/act", "run/predict", "reset", "cancel", "component_server", "process_recording", "vibe-edit"),
    *("stream/a", "stream/a/close", "run-history/connect", "vibe-starter-queries", "undo-vibe-edit"),
    *("call/make_token", "call/v2/make_token", "run/submit", "api/submit", "call/submit"),
)


def unchanged(client: httpx.Client, path: str) -> httpx.Response:
    """The answer to an address as it stands; httpx would resolve its dots."""
    return client.get("/", extensions={"target": path.encode()})


def test_what_else_gradio_serves_is_not_there(space: Running) -> None:
    client = space.program("prober")
    for path in BLOCKED:
        answer = unchanged(client, path)
        assert answer.status_code == 404, (path, answer.text)
        (line,) = space.await_lines(logger="fairspace.refused", request=answer.headers["x-request-id"])
        assert line["code"] == "UNKNOWN_PAGE"
    for path in BLOCKED_POSTS:
        space.refused(client.post(f"/gradio_api/{path}", json={"data": []}), "UNKNOWN_PAGE")
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        space.refused(client.request(method, "/gradio_api/queue/join"), "UNKNOWN_PAGE")
    assert set(NEEDED) == {"GET", "POST"}


TRAVERSALS = ("..", "../..", "..%2f..%2fetc%2fpasswd", "%00", "%2e%2e%2fstore", "%E2%80%AE")
TEXTS = (*TRAVERSALS, "a%0d%0aX-Injected:%20y", "'%22%3E%3Cscript%3E")


PLACES = (
    *("/site/{0}/{0}", "/model/iris/{0}", "/model/{0}/x", "/download/iris/{0}.csv", "/download/{0}/inaugural.csv"),
    *("/standard/{0}/{0}", "/submission/{0}", "/figures/iris/{0}.json", "/api/v1/boards/{0}/rows/{0}"),
    *("/api/v1/submissions/{0}", "/?benchmark={0}&standard={0}", "/board/{0}/{0}", "/compare/{0}"),
)


def test_no_path_leads_out_and_no_header_is_injected(space: Running) -> None:
    client = space.program("prober")
    for place in (place.format(text) for text in TEXTS for place in PLACES):
        answer = unchanged(client, place)
        assert answer.status_code < 500, place
        assert "x-injected" not in answer.headers
        assert "root:x" not in answer.text
        if answer.headers["content-type"].startswith(("text/html", "image/svg")):
            assert "<script>" not in answer.text, place
