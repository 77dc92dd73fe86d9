"""Hostile uploads: bad files, bodies too large, too slow or too many, and payloads as text."""

import csv
import io
import json
import os
import select
import socket
import struct
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser

from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.format.manifest import Manifest
from fairspace.submissions.format.schema import Tool
from fairspace.submissions.format.writing import write_submission
from tests.leaderboard_space.attacks.running import Running, gradio_events, running, token
from tests.leaderboard_space.jobs.children import disguised
from tests.leaderboard_space.waiting import until
from tests.leaderboard_space.walking import DESKTOP, Walk, walking
from tests.submissions.checking.hostile import CASES

pytestmark = pytest.mark.process

SUBMIT, UPLOAD = "/api/v1/submissions", "/gradio_api/upload"
MOST = 8_000_000
PAYLOAD = (
    "=cmd|' /C calc'!A0 <script>window.__x=1</script><img src=x onerror=window.__x=2> [l](javascript:window.__x=3) "
    "{{7*7}} ${window.__x=4} \"'><svg onload=window.__x=5> **b** https://evil.example/"
)
BIDI = "a\u202ecba\u2066<b>\u200b"
KINDS = (
    *("zip_slip", "zip_symlink", "duplicate_member", "overlapping_members", "wrong_crc", "encrypted_members"),
    *("name_right_to_left", "bomb_by_ratio", "many_members", "pickle_in_zip", "meta_deep", "manifest_bomb"),
    *("parquet_dictionary_bomb", "parquet_type_that_ends_the_process"),
)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    quotas = dict.fromkeys(("waiting", "faulty_a_day", "valid_a_day", "failed_a_day"), "60")
    root = tmp_path_factory.mktemp("space")
    with running(root, workers="2", upload_seconds="3", upload_bytes=str(MOST), **quotas) as running_space:
        yield running_space


def as_zip(path: Path) -> bytes:
    if path.is_file():
        return path.read_bytes()
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path.iterdir()):
            archive.write(file, file.name)
    return held.getvalue()


def image_bomb() -> bytes:
    """A submission with an image of 100 000 x 100 000 pixels in a few bytes."""
    head = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 1_000_000)), (b"IEND", b"")):
        png += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    table, held = io.BytesIO(), io.BytesIO()
    columns = {"task": ["generation"], "id": ["generation/nurse"], "sample": pa.array([0], pa.int32()), "image": [png]}
    pq.write_table(pa.table(columns), table)
    meta = baseline_meta("random", "iris", 0, {}).model_copy(update={"baseline": None, "model": "a picture"})
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("submission.json", meta.model_dump_json(exclude_none=True))
        archive.writestr("images.parquet", table.getvalue())
    return held.getvalue()


def payload_zip(path: Path) -> bytes:
    tables = import_module("fairspace.submissions.benchmarks.fact_or_fair.baselines").tables("stereotyped", 1)
    text = dict.fromkeys(("model", "revision", "organisation", "licence", "contact"), PAYLOAD)
    meta = baseline_meta("stereotyped", "fact_or_fair", 1, tables)
    tool = Tool(name=PAYLOAD, version=PAYLOAD, settings={PAYLOAD[:60]: PAYLOAD})
    told = {"baseline": None, "generation": {PAYLOAD[:60]: PAYLOAD}, "labels": tool, "judge": tool} | text
    pair = {PAYLOAD[:60]: PAYLOAD}
    stage = {
        "what": "responses",
        **dict.fromkeys(("model", "revision", "engine", "engine_version"), PAYLOAD),
        **dict.fromkeys(("settings", "datasets", "hardware", "software"), pair),
        "tasks": [PAYLOAD],
        "fates": {PAYLOAD[:60]: 1},
        "started": "2026-01-31T12:00:00Z",
        "ended": "2026-01-31T12:00:01Z",
    }
    made = Manifest.model_validate({"stages": [stage]})
    return write_submission(path / "payload.zip", meta.model_copy(update=told), tables, manifest=made).read_bytes()


def faulty_payload_zip() -> bytes:
    tables = import_module("fairspace.submissions.benchmarks.fact_or_fair.baselines").tables("stereotyped", 1)
    meta = baseline_meta("stereotyped", "fact_or_fair", 1, tables).model_dump(exclude_none=True)
    meta |= {"model": BIDI, "licence": 7, PAYLOAD: PAYLOAD}
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("submission.json", json.dumps(meta))
        row = {"task": PAYLOAD, "id": PAYLOAD, "sample": 0, "response": PAYLOAD}
        archive.writestr("responses.jsonl", json.dumps(row) + "\n")
    return held.getvalue()


@pytest.fixture(scope="module")
def handed_in(space: Running, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """All hostile files, uploaded at once: name -> outcome."""
    root = tmp_path_factory.mktemp("hostile")
    files = {}
    for name in KINDS:
        (root / name).mkdir()
        files[name] = as_zip(CASES[name].build(root / name))
    files |= {"image_bomb": image_bomb(), "payload": payload_zip(root), "faulty_payload": faulty_payload_zip()}
    program = space.program("mallory", PAYLOAD)
    names = {}
    for name, content in files.items():
        form = {"file": ("../../etc/passwd\u202e.zip", content)}
        data = {"organisation": PAYLOAD} if "payload" in name else {}
        answer = program.post(SUBMIT, files=form, data=data)
        assert answer.status_code == 202, (name, answer.text)
        names[name] = answer.json()["id"]
    outcomes = {}
    for name, identity in names.items():
        space.await_lines(logger="fairspace.jobs", message="a job ended", id=identity)
        outcomes[name] = program.get(f"{SUBMIT}/{identity}").json()
    return outcomes


@pytest.mark.parametrize("name", [*KINDS, "image_bomb", "faulty_payload"])
def test_a_hostile_submission_is_refused_with_its_codes_and_one_line(
    space: Running, handed_in: dict[str, dict[str, Any]], name: str
) -> None:
    state = handed_in[name]
    assert state["outcome"] == "refused", state
    codes = {fault["code"] for fault in state["faults"]}
    if name in CASES and CASES[name].codes:
        assert codes & CASES[name].codes, (codes, CASES[name].codes)
    (line,) = space.lines(logger="fairspace.jobs", message="a job ended", id=state["id"])
    assert line["outcome"] == "refused"
    assert not [row for row in space.events() if row["kind"] == "result" and row["body"]["user"] != "mallory"]


def test_of_all_that_one_row_came_to_be(space: Running, handed_in: dict[str, dict[str, Any]]) -> None:
    assert handed_in["payload"]["outcome"] == "scored"
    assert [event["body"]["entry"] for event in space.events() if event["kind"] == "result"] == [
        handed_in["payload"]["entry"]
    ]
    stored = {path.name for path in (space.root / "store").rglob("*") if path.is_file()}
    assert not [name for name in stored if "passwd" in name or "cmd" in name]


def raw(space: Running, head: str, parts: Iterator[bytes] | list[bytes], seconds: float = 20) -> tuple[int, str]:
    """Send a request part by part until it is answered; return the status and request id ('' if none)."""
    port = int(space.address.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port), seconds) as sent:
        sent.sendall(head.encode())
        for part in parts:
            if select.select([sent], [], [], 0.002)[0]:
                break
            try:
                sent.sendall(part)
            except ConnectionError:  # answered and closed in between; the answer is there to be read
                break
        answer = b""
        while b"\r\n\r\n" not in answer:
            chunk = sent.recv(65536)
            assert chunk, answer
            answer += chunk
    lines = answer.split(b"\r\n\r\n")[0].decode().split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), fields.get("x-request-id", "")


def refused(
    space: Running, path: str, user: str, status: int, code: str, *head: str, parts: Iterator[bytes] | list[bytes]
) -> None:
    """Assert that a POST with these header lines and parts of a body is refused so, and leaves one log line."""
    lines = (f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {each}" for name, each in token(user).items()))
    answered = raw(space, "\r\n".join((*(lines if user else lines[:2]), *head, "", "")), parts)
    assert answered[0] == status
    (line,) = space.await_lines(logger="fairspace.refused", request=answered[1])
    assert line["code"] == code


def chunks(part: bytes, count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield f"{len(part):x}\r\n".encode() + part + b"\r\n"
    yield b"0\r\n\r\n"


FORM = "Content-Type: multipart/form-data; boundary=xx"
SENT_IN_CHUNKS = "Transfer-Encoding: chunked"


@pytest.mark.parametrize("path", [SUBMIT, UPLOAD])
def test_an_upload_that_is_too_large_too_slow_or_of_too_many_parts_ends_early(space: Running, path: str) -> None:
    user = "large" + path[-3:]

    def ends(status: int, code: str, *head: str, parts: Iterator[bytes] | list[bytes], by: str = user) -> None:
        refused(space, path, by, status, code, *head, parts=parts)

    for length in (MOST * 2, 2**64 - 1):
        ends(413, "UPLOAD_TOO_LARGE", FORM, f"Content-Length: {length}", parts=[])
    endless = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{FORM}\r\nContent-Length: 99999999999999999999\r\n\r\n"
    assert raw(space, endless, []) == (400, "")
    start = b'--xx\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n'
    body = [f"{len(start):x}\r\n".encode() + start + b"\r\n", *chunks(b"x" * 100_000, MOST // 100_000 + 2)]
    ends(413, "UPLOAD_TOO_LARGE", FORM, SENT_IN_CHUNKS, parts=body)
    part = b'--xx\r\nContent-Disposition: form-data; name="files"; filename="a.zip"\r\n\r\na\r\n'
    for form in (FORM, 'Content-Type: multipart/form-data; x="boundary=zzz"; boundary=xx'):
        ends(413, "UPLOAD_TOO_MANY_PARTS", form, SENT_IN_CHUNKS, parts=chunks(part * 10, 1000))
    declared = "Content-Length: 1000"
    ends(400, "BAD_PARAMETER", "Content-Type: multipart/form-data", declared, parts=[])
    ends(408, "UPLOAD_TOO_SLOW", FORM, declared, parts=[start])
    ends(401, "SIGN_IN_REQUIRED", FORM, declared, parts=[], by="")
    left = list((space.root / "work" / "gradio").glob("tmp*"))
    for file in left:
        os.utime(file, (0, 0))  # as old as what `sweep` deletes
    program = space.program("afterwards" + path[-3:])
    assert program.post(UPLOAD, files={"files": ("b.zip", b"b")}).status_code == 200
    # it is swept once the answer is on its way
    until(lambda: not [file for file in left if file.exists()], "what was cut off is still there")


@pytest.mark.parametrize(
    ("path", "head", "parts"),
    [
        *((path, "Content-Length: 9000000", []) for path in ("/gradio_api/queue/join", "/api/v1/nothing", "/")),
        ("/gradio_api/queue/join", SENT_IN_CHUNKS, [*chunks(b"[" * 1000, 400)]),
        ("/" + "a" * 20_000, "Content-Length: 0", []),
        ("/", f"X-Long: {'a' * 20_000}\r\nContent-Length: 0", []),
    ],
    ids=["a call", "an address of the API", "a page", "a call in chunks", "a long address", "a long header"],
)
def test_what_is_no_upload_may_not_be_large(space: Running, path: str, head: str, parts: list[bytes]) -> None:
    refused(space, path, "small", 413, "REQUEST_TOO_LARGE", head, parts=parts)


def test_ten_thousand_tiny_uploads_end_at_the_sixtieth(space: Running) -> None:
    program, began = space.program("tiny"), time.monotonic()
    taken = 0
    while (answer := program.post(UPLOAD, files={"files": ("a.zip", b"a")})).status_code == 200:
        taken += 1
    assert 60 <= taken <= 60 + (time.monotonic() - began) / 60  # one more in each minute that they take
    space.refused(answer, "TOO_MANY_REQUESTS")
    held = list((space.root / "work" / "gradio").rglob("a.zip"))
    assert len(held) == 1


def test_a_file_that_was_handed_in_over_gradio_is_deleted(space: Running) -> None:
    program = space.program("neat")
    (path,) = program.post(UPLOAD, files={"files": ("../../x\u202e.zip", disguised(b"neat"))}).json()
    assert Path(path).is_relative_to(space.root / "work" / "gradio")
    body = {"fn_index": gradio_events(program)["hand_in"]["id"], "data": [{"path": path}, ""], "session_hash": "neat"}
    assert program.post("/gradio_api/queue/join", json=body).status_code == 200
    assert "Accepted" in program.get("/gradio_api/queue/data", params={"session_hash": "neat"}).text
    assert not Path(path).exists()
    body["data"] = [{"path": path}, ""]
    space.refused(program.post("/gradio_api/queue/join", json=body), "UPLOAD_MISSING")


@contextmanager
def visit(browser: Browser, space: Running, user: str, *paths: str) -> Iterator[Walk]:
    """Open pages as a user, on which all text is text; none may complain or ask another host."""
    with walking(browser, space, DESKTOP, "light", token(user, PAYLOAD)) as walk:
        for path in paths:
            look(walk, path)
        yield walk


def look(walk: Walk, path: str) -> None:
    page = walk.page
    page.goto(walk.space.address + path)
    if path == "/submit":
        page.wait_for_selector("#own table")
    assert page.evaluate("window.__x") is None, path
    for made in ("img[src='x']", "svg[onload]", "a[href^='javascript:']", "a[href*='evil.example']"):
        assert page.locator(made).count() == 0, (path, made)
    scripts = page.evaluate("[...document.scripts].filter(one => one.textContent.includes('__x')).length")
    assert scripts == 0, path
    if path.startswith("/model"):
        assert "<script>window.__x=1</script>" in page.evaluate("document.body.innerText"), path
    assert "\u202e" not in page.evaluate("document.documentElement.textContent"), path


def test_no_text_is_more_than_text_on_any_page(
    browser: Browser, space: Running, handed_in: dict[str, dict[str, Any]]
) -> None:
    searched = "/board/fact_or_fair?q=%3Cscript%3Ewindow.__x=6%3C/script%3E"
    row = f"/model/fact_or_fair/{handed_in['payload']['entry']}"
    with visit(browser, space, "the-maintainer", "/board/fact_or_fair", searched, row):
        pass
    own = (f"/submission/{handed_in[name]['id']}" for name in ("payload", "faulty_payload"))
    with visit(browser, space, "mallory", *own, "/queue", "/submit"):
        pass


def test_no_download_holds_a_formula_or_a_header_of_somebody_elses(
    space: Running, handed_in: dict[str, dict[str, Any]]
) -> None:
    client = space.client()
    table = client.get("/download/fact_or_fair/inaugural.csv")
    rows = list(csv.reader(io.StringIO(table.text)))
    mine = [row for row in rows if any("window.__x" in cell for cell in row)]
    assert len(mine) == 1
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@", "\t", "\r"))]
    assert not [cell for cell in mine[0] if cell.startswith("-") and not cell.lstrip("-").replace(".", "").isdigit()]
    assert table.headers["x-content-type-options"] == "nosniff"
    assert "cmd" not in str(table.headers)


def test_a_maintainers_reason_is_text_too(
    browser: Browser, space: Running, handed_in: dict[str, dict[str, Any]]
) -> None:
    entry, maintainer = handed_in["payload"]["entry"], space.program("the-maintainer")
    at = f"/api/v1/rows/{entry}"
    assert maintainer.post(f"{at}/withdraw", json={"reason": PAYLOAD + BIDI}).status_code == 200
    pages = (f"/board/fact_or_fair?models={entry}", f"/submission/{handed_in['payload']['id']}")
    with visit(browser, space, "the-maintainer", *pages) as walk:
        look(walk, f"/model/fact_or_fair/{entry}")
        (complaint,) = walk.complaints
        assert "404" in complaint, "the row is gone"
        walk.complaints.clear()
    events = maintainer.get("/api/v1/events", params={"limit": 1000}).json()["events"]
    [withdrawn] = [event for event in events if event["kind"] == "withdrawn" and event["entry"] == entry]
    assert PAYLOAD in withdrawn["reason"]
    assert maintainer.post(f"{at}/restore", json={"reason": PAYLOAD}).status_code == 200
