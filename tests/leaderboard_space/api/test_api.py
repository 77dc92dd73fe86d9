import html
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi.openapi.models import OpenAPI
from starlette.testclient import TestClient

from fairspace.leaderboard_space import app
from fairspace.leaderboard_space.api import boards
from fairspace.leaderboard_space.api.routes import EXAMPLES, add_examples
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.errors import CODES
from fairspace.submissions.results.result import Result
from tests.leaderboard_space.api.examples import examples
from tests.leaderboard_space.api.spaces import Opened, opened, process_log
from tests.leaderboard_space.factory import HOSTILE, ended, good_zip, result

ADMIN, OTHER = "ada", "bob"
SECRET = "s" * 40


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    results = (result("fact_or_fair", "constant"), result("stereotypical_bias", "stereotyped", HOSTILE))
    root = tmp_path_factory.mktemp("space")
    with opened(root, results, secret=SECRET, admins=("ada",), requests_a_minute=0) as found:
        yield found


@pytest.fixture(scope="module")
def scored() -> Result:
    return result("stereotypical_bias", "stereotyped", HOSTILE)


def test_the_board_is_paged_and_former_filters_are_ignored(space: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "PAGE", 5)
    first, second = (space.client.get(f"/api/v1/boards/genres{page}").json() for page in ("", "?page=2"))
    assert (second["page"], second["pages"], second["total"]) == (2, -(-first["total"] // 5), first["total"])
    rows = [row.entry for row in space.space.state.board("genres")]
    assert [row["entry"] for row in (*first["rows"], *second["rows"])] == rows[:10]
    assert space.client.get("/api/v1/boards/genres/page/2.json").json() == second
    assert space.client.get("/api/v1/boards/genres?limit=500&q=former&sort=nothing").json() == first
    assert space.client.get("/api/v1/boards/genres/page/99").json()["code"] == "UNKNOWN_PAGE"


def test_a_row_has_the_values_and_scores_of_its_result(space: Opened, scored: Result) -> None:
    entry = space.entry(benchmark="stereotypical_bias")
    row = space.client.get(f"/api/v1/boards/stereotypical_bias/rows/{entry}").json()
    assert row["model"] == HOSTILE
    assert row["signature"]["submission"] == scored.signature["submission"]
    assert row["values"].keys() == scored.values.keys()
    assert row["scores"] == {name: value.to_json() for name, value in scored.scored.scores.items()}
    full = space.client.get(f"/api/v1/boards/stereotypical_bias/rows/{entry}/result")
    assert full.text == scored.dumps()
    printed = space.client.get("/api/v1/boards/iris/rows/p-01/result")
    assert (printed.status_code, printed.json()["code"]) == (404, "UNKNOWN_ENTRY")


def test_the_same_file_is_the_same_submission_in_every_way_to_send_it(space: Opened, tmp_path: Path) -> None:
    content, sender = good_zip(tmp_path / "a.zip", "mine").read_bytes(), space.headers(OTHER)
    typed = {**sender, "Content-Type": "application/zip"}
    first = space.client.post("/api/v1/submissions", content=content, headers=typed)
    assert first.status_code == 202, first.text
    told = first.json()
    assert (told["outcome"], told["stage"], told["position"]) == ("waiting", "queued", 1)
    for again in (
        space.client.post("/api/v1/submissions", content=content, headers=typed),
        space.client.post("/api/v1/submissions", files={"file": content}, headers=sender),
    ):
        assert (again.status_code, again.json()) == (202, told)
    assert space.client.get(first.headers["Location"]).json() == told
    assert len(space.space.state.submissions()) == 1
    assert [one["id"] for one in space.client.get("/api/v1/queue", headers=sender).json()["waiting"]] == [told["id"]]
    assert [one["id"] for one in space.client.get("/api/v1/queue").json()["waiting"]] == [None]
    space.space.storage.append([ended("failed", told["id"], reason="lost")])
    failed = space.client.get(first.headers["Location"]).json()
    assert (failed["outcome"], failed["stage"], failed["reason"]) == ("failed", "ended", "lost")


@pytest.mark.parametrize("way", ["body", "form"])
def test_a_submission_enters_functions_of_at_most_12_files_until_it_is_accepted(
    space: Opened, tmp_path: Path, way: str
) -> None:
    content, sender = good_zip(tmp_path / "a.zip", f"traced {way}").read_bytes(), space.headers(f"tracer-{way}")
    body: dict[str, Any] = {"content": content} if way == "body" else {"files": {"file": content}}
    root, entered = str(Path(app.__file__).parents[1]), set[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        if event == "call" and file.startswith(root) and name != "<module>":
            entered.add(file.removeprefix(f"{root}/"))

    client = TestClient(space.client.app, base_url="http://127.0.0.1")  # its requests run in threads of their own
    with process_log() as log:
        threading.setprofile(note)
        try:
            answer = client.post("/api/v1/submissions", headers=sender, **body)
        finally:
            threading.setprofile(None)
    assert answer.status_code == 202, answer.text
    assert json.loads(log.getvalue().splitlines()[0])["request"] == answer.headers["X-Request-Id"]
    some = ("web/middlewares.py", "logs.py", "intake.py", "storage/local.py")
    assert {f"leaderboard_space/{file}" for file in some} <= entered
    assert len(entered) <= 12, sorted(entered)


def test_the_public_log_names_nobody_and_no_submission(space: Opened, tmp_path: Path) -> None:
    content = good_zip(tmp_path / "b.zip", "other").read_bytes()
    found = space.client.post("/api/v1/submissions", content=content, headers=space.headers("carol")).json()
    events = space.client.get("/api/v1/events?limit=1000").json()
    assert events["last"] == space.space.state.number == len(events["events"])
    told = json.dumps(events)
    assert "accepted" in told
    assert not [word for word in ("carol", "bob", "ada", found["id"]) if word in told]
    later = space.client.get("/api/v1/events?after=1&limit=1").json()
    assert later == {"last": 2, "events": [events["events"][1]]}


def test_a_maintainer_withdraws_a_row_and_puts_it_back(space: Opened) -> None:
    entry = space.entry(benchmark="stereotypical_bias")
    address, about = f"/api/v1/rows/{entry}", {"reason": "the licence forbids it"}
    row = f"/api/v1/boards/stereotypical_bias/rows/{entry}"
    assert space.client.post(f"{address}/withdraw", json=about).json()["code"] == "SIGN_IN_REQUIRED"
    refused = space.client.post(f"{address}/withdraw", json=about, headers=space.headers(OTHER))
    assert (refused.status_code, refused.json()["code"]) == (403, "NOT_A_MAINTAINER")
    assert space.client.get(row).status_code == 200
    event = space.client.post(f"{address}/withdraw", json=about, headers=space.headers(ADMIN)).json()
    assert (event["kind"], event["entry"], event["reason"]) == ("withdrawn", entry, about["reason"])
    gone = space.client.get(row)
    assert gone.status_code == 404
    assert about["reason"] in gone.json()["what"]
    space.client.post(f"{address}/restore", json=about, headers=space.headers(ADMIN)).raise_for_status()
    assert space.client.get(row).status_code == 200


REFUSED = [
    ("GET", "/api/v1/nothing", 404, "UNKNOWN_PAGE"),
    ("GET", "/api/v2/boards", 404, "UNKNOWN_PAGE"),
    ("GET", "/api/v1/boards/irs", 400, "BAD_PARAMETER"),
    ("GET", "/api/v1/boards/iris?standard=x", 400, "BAD_PARAMETER"),
    ("GET", "/api/v1/boards/iris/page/0", 400, "BAD_PARAMETER"),
    ("GET", "/api/v1/boards/iris?page=x", 400, "BAD_PARAMETER"),
    ("GET", "/api/v1/boards/iris/rows/p-99", 404, "UNKNOWN_ENTRY"),
    ("GET", "/api/v1/submissions/0f1e", 404, "UNKNOWN_SUBMISSION"),
    ("GET", "/api/v1/events?after=-1", 400, "BAD_PARAMETER"),
    ("POST", "/api/v1/submissions", 401, "SIGN_IN_REQUIRED"),
    ("POST", "/api/v1/rows/x/remove", 400, "BAD_PARAMETER"),
    ("PUT", "/api/v1/boards", 405, "WRONG_METHOD"),
    ("DELETE", "/api/v1/submissions/0f1e", 405, "WRONG_METHOD"),
]


@pytest.mark.parametrize(("method", "address", "status", "code"), REFUSED)
def test_refusals_have_one_form(space: Opened, method: str, address: str, status: int, code: str) -> None:
    answer = space.client.request(method, address)
    told = answer.json()
    assert (answer.status_code, told["code"]) == (status, code)
    assert told.keys() == {"code", "where", "what", "expected", "mend"}
    assert code in CODES
    assert all(told.values())
    if status == 405:
        assert method not in answer.headers["Allow"]
        assert "GET" in answer.headers["Allow"]


def test_an_empty_upload_and_a_form_without_a_file_are_refused(space: Opened) -> None:
    sender = space.headers(OTHER)
    for sent in ({"content": b""}, {"data": {"organisation": "x"}, "files": {"other": b"x"}}):
        answer = space.client.post("/api/v1/submissions", headers=sender, **sent)
        assert (answer.status_code, answer.json()["code"]) == (400, "UPLOAD_MISSING")


def test_an_unexpected_error_is_told_without_its_text(space: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("/secret/path")

    monkeypatch.setattr("fairspace.leaderboard_space.api.boards.draft_of", broken)
    answer = space.client.get("/api/v1/boards")
    assert (answer.status_code, answer.json()["code"]) == (500, "OUR_FAULT")
    assert "secret" not in answer.text
    assert answer.headers["X-Request-Id"] in answer.text


def test_a_method_that_a_page_does_not_have_is_told(space: Opened) -> None:
    requests = (("PUT", "/about"), ("DELETE", "/submit"), ("PUT", "/nothing"), ("HEAD", "/nothing"))
    answers = [space.client.request(method, address) for method, address in requests]
    told = [(answer.status_code, answer.headers.get("Allow")) for answer in answers]
    assert told == [(405, "GET, HEAD"), (405, "GET, HEAD"), (404, None), (404, None)]


@pytest.mark.parametrize("address", ["/", "/about", "/submit", "/robots.txt", "/api/v1/boards"])
def test_a_head_is_that_of_the_page_without_its_content(space: Opened, address: str) -> None:
    head, whole = space.client.head(address), space.client.get(address)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == whole.headers["Content-Type"]


def test_other_sites_may_read_a_public_board_and_no_private_one(space: Opened, tmp_path: Path) -> None:
    name = "access-control-allow-origin"
    with opened(tmp_path, address="https://board.example") as public:
        assert public.client.get("/api/v1/boards").headers[name] == "*"
        assert name not in public.client.get("/api/v1/queue").headers
        text = public.client.get("/board/genres").text
        assert '<meta name="description" content="How fairly' in text
        assert '<meta property="og:title" content="GENRES · fairspace">' in text
        assert '<link rel="canonical" href="https://board.example/board/genres">' in text
        image = re.search(r'og:image" content="https://board.example(/site/[0-9a-f]+/share.png)"', text)
        assert image
        answer = public.client.get(image[1])
        assert answer.headers["Content-Type"] == "image/png"
        assert len(answer.content) < 60_000
        refused = public.client.get("/board/iris/inagural")
        assert refused.status_code == 400
        assert "<h1>There is no standard &#39;inagural&#39;</h1>" in refused.text
        assert "Did you mean &#39;inaugural&#39;?" in refused.text
    assert name not in space.client.get("/api/v1/boards").headers


def test_programs_that_read_everything_are_kept_from_what_costs(space: Opened) -> None:
    lines = space.client.get("/robots.txt").text.splitlines()
    assert {"Disallow: /submission/", "Disallow: /download/", "Disallow: /api/v1/submissions"} <= set(lines)
    assert "Disallow: /" not in lines
    (listed,) = (line.removeprefix("Sitemap: ") for line in lines if line.startswith("Sitemap: "))
    places = re.findall("<loc>(.*?)</loc>", space.client.get(urlsplit(listed).path).text)
    assert len(places) >= 11
    for place in places:
        assert space.client.get(html.unescape(place)).status_code == 200, place


def test_language_models_that_read_the_documentation_find_boards_and_api(space: Opened) -> None:
    text = space.client.get("/llms.txt").text
    assert text.startswith("# fairspace\n\n> ")
    places = re.findall(r"\]\((http.*?)\)|JSON: (http\S+)", text)
    assert len(places) >= 2 * len(VIEWS) + 5
    for place in ("".join(either) for either in places):
        assert space.client.get(place).status_code == 200, place


def test_the_examples_of_the_documentation_work(space: Opened) -> None:
    text = html.unescape(space.client.get("/api").text)
    asked = set(re.findall(r"<code>curl http://127.0.0.1(/api/v1/\S+)</code>", text))
    assert any(address.endswith("/result") for address in asked)
    for address in asked:
        if "/submissions/" not in address:
            assert space.client.get(address).status_code == 200, address
    withdrawn = re.search(r"/api/v1/rows/(\w+)/withdraw</code>", text)
    assert withdrawn is not None
    assert space.space.state.entry(withdrawn[1]) is not None


def test_pages_refuse_with_a_page(space: Opened) -> None:
    answer = space.client.get("/nothing/here", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "UNKNOWN_PAGE" in answer.text


def test_every_call_has_its_own_example_in_a_valid_document(space: Opened) -> None:
    document = space.client.get("/api/v1/openapi.json").json()
    OpenAPI.model_validate(document)
    kept = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    calls = {f"{method.upper()} {path}": each for path, of in document["paths"].items() for method, each in of.items()}
    assert {*calls} == {*kept}
    for name, call in calls.items():
        status = "202" if name == "POST /api/v1/submissions" else "200"
        content = call["responses"][status]["content"]["application/json"]
        assert content["example"] == kept[name]
        assert "schema" in content


def test_a_call_without_an_example_is_left_as_it_is() -> None:
    """A further call must not keep the board from starting."""
    document = {"paths": {"/api/v1/further": {"get": {"responses": {"204": {"description": "Done"}}}}}}
    before = json.dumps(document)
    add_examples(document)
    assert json.dumps(document) == before


@pytest.mark.slow
def test_the_examples_are_answers_of_the_application() -> None:
    assert examples() == json.loads(EXAMPLES.read_text(encoding="utf-8"))
