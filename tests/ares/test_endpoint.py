import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from fairspace.ares.asking_ares import ArbiterCounts, ArbiterError, question
from fairspace.ares.configuration_ares import AGE_GENDER
from fairspace.ares.endpoint_ares import EndpointVlm
from fairspace.ares.vlm_ares import open_vlm
from tests.ares.tiny_vlm import COLOURS, answered, coloured

LABELS = list(COLOURS)
KNOWN = [coloured(colour, 64) for colour in COLOURS.values()]
SOON = {"retry-after-ms": "1"}
Answer = tuple[int, dict[str, str], bytes]


def completion(text: str | None, finish: str = "stop") -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return json.dumps(
        {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    ).encode()


def refusal(status: int, code: str = "", headers: dict[str, str] | None = None) -> Answer:
    return status, headers or SOON, json.dumps({"error": {"message": "no", "code": code}}).encode()


def shown(body: dict[str, Any]) -> Image.Image:
    url = body["messages"][0]["content"][0]["image_url"]["url"]
    assert url.startswith("data:image/jpeg;base64,")
    return Image.open(BytesIO(base64.b64decode(url.partition(",")[2])))


def looks(body: dict[str, Any]) -> Answer:
    """Answers by the colour of the image, as `tests.ares.tiny_vlm` learned it."""
    seen = shown(body).convert("RGB").resize((1, 1)).getpixel((0, 0))
    assert isinstance(seen, tuple)
    near = min(LABELS, key=lambda label: sum(abs(a - b) for a, b in zip(COLOURS[label], seen, strict=True)))
    return 200, {}, completion(answered(near))


class Endpoint:
    def __init__(self, *script: Answer | float, then: Callable[[dict[str, Any]], Answer] = looks) -> None:
        self.script, self.then, self.lock = list(script), then, threading.Lock()
        self.requests: list[tuple[float, str | None, dict[str, Any]]] = []
        self.at_once = self.most = 0
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with endpoint.lock:
                    endpoint.requests.append((time.monotonic(), self.headers["Authorization"], body))
                    endpoint.at_once += 1
                    endpoint.most = max(endpoint.most, endpoint.at_once)
                    planned = endpoint.script.pop(0) if endpoint.script else endpoint.then(body)
                if isinstance(planned, float):
                    time.sleep(planned)
                    planned = endpoint.then(body)
                status, headers, data = planned
                sent = {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}
                with endpoint.lock:
                    endpoint.at_once -= 1
                try:
                    self.send_response(status)
                    for name, value in sent.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(data)
                except (BrokenPipeError, ConnectionResetError):
                    return

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(5)


@contextmanager
def serving(opens: Callable[..., Any]) -> Iterator[Callable[..., tuple[Endpoint, Any]]]:
    """Starts endpoints, each with a client that is opened with its address and the named settings."""
    started: list[tuple[Endpoint, Any]] = []

    def start(
        *script: Answer | float, then: Callable[[dict[str, Any]], Answer] = looks, **how: Any
    ) -> tuple[Endpoint, Any]:
        endpoint = Endpoint(*script, then=then)
        started.append((endpoint, opens(endpoint.url, timeout=5, **how)))
        return started[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "secret-key")
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            patch.delenv(name, raising=False)
        yield start
    for endpoint, client in started:
        client._client.close()
        endpoint.close()


@pytest.fixture
def serve() -> Iterator[Any]:
    with serving(lambda url, **how: open_vlm({"endpoint": url, "model": "seer", **how})) as start:
        yield start


def test_image_question_and_key_arrive_and_the_name_tells_no_key(serve: Any) -> None:
    endpoint, arbiter = serve(tokens=32)
    assert arbiter.answer([coloured(COLOURS["older male"], 64)], AGE_GENDER) == ["older male"]
    ((_, key, body),) = endpoint.requests
    assert key == "Bearer secret-key"
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("seer", 0.0, 32)
    assert body["messages"][0]["content"][1] == {"type": "text", "text": question(AGE_GENDER)}
    assert arbiter.name == "seer at 127.0.0.1 temperature 0"


def test_answers_are_in_order_and_no_more_at_once_than_allowed(serve: Any) -> None:
    endpoint, arbiter = serve(*(0.01 * (n % 4) for n in range(24)), concurrency=3)
    assert arbiter.answer(KNOWN * 4, AGE_GENDER) == LABELS * 4
    assert 1 < endpoint.most <= 3
    assert arbiter.counts == ArbiterCounts(asked=24, answered=24)
    one, alone = serve(0.01, 0.01, 0.01, concurrency=1)
    assert alone.answer(KNOWN[:3], AGE_GENDER) == LABELS[:3]
    assert one.most == 1


def test_a_busy_endpoint_is_asked_again_after_the_pause_it_names(serve: Any) -> None:
    endpoint, arbiter = serve(refusal(429, headers={"Retry-After": "1"}), refusal(500), refusal(503))
    assert arbiter.answer(KNOWN[:1], AGE_GENDER) == LABELS[:1]
    times = [at for at, _, _ in endpoint.requests]
    assert len(times) == 4
    assert times[1] - times[0] >= 1
    assert arbiter.counts == ArbiterCounts(asked=1, answered=1)


def test_an_endpoint_that_keeps_failing_stops_the_run(serve: Any) -> None:
    endpoint, arbiter = serve(then=lambda body: refusal(500), retries=2)
    with pytest.raises(ArbiterError, match=r"seer at 127.* kept failing after 3 attempts: status 500.*run again later"):
        arbiter.answer(KNOWN[:1], AGE_GENDER)
    assert len(endpoint.requests) == 3


def test_it_may_be_abstained_from_instead_and_is_counted(serve: Any) -> None:
    endpoint, arbiter = serve(then=lambda body: refusal(500), retries=1, abstain_on_failure=True)
    assert arbiter.answer(KNOWN[:2], AGE_GENDER) == [None, None]
    assert arbiter.counts == ArbiterCounts(asked=2, failed=2)
    assert len(endpoint.requests) == 4


@pytest.mark.parametrize(
    ("headers", "data"),
    [
        ({}, b'{"id": "1", "choices": [{"index'),
        ({}, b""),
        ({}, b"[]"),
        ({}, b"null"),
        ({}, b'{"choices": []}'),
        ({}, b'{"choices": [{"index": 0, "message": null}]}'),
        ({}, b'{"choices": "none"}'),
        ({"Content-Type": "text/html"}, b"<html>Please log in</html>"),
        ({"Content-Type": "text/plain"}, b"overloaded"),
    ],
)
def test_a_body_that_is_no_completion_is_asked_for_again_and_never_read_as_an_answer(
    serve: Any, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], data: bytes
) -> None:
    monkeypatch.setattr("fairspace.ares.endpoint_ares._PAUSE", 0.01)
    endpoint, arbiter = serve((200, headers, data))
    assert arbiter.answer(KNOWN[:1], AGE_GENDER) == LABELS[:1]
    assert len(endpoint.requests) == 2
    endpoint, arbiter = serve(then=lambda body: (200, headers, data), retries=2)
    with pytest.raises(ArbiterError, match="kept failing after 3 attempts"):
        arbiter.answer(KNOWN[:1], AGE_GENDER)
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    "data",
    [
        completion("I'm sorry, I can't help with identifying people."),
        completion('{"age": "young", "gend', "length"),
        completion(None),
        completion(""),
    ],
)
def test_an_answer_without_the_form_is_asked_for_once_more_in_other_words(serve: Any, data: bytes) -> None:
    endpoint, arbiter = serve((200, {}, data))
    assert arbiter.answer(KNOWN[:1], AGE_GENDER) == LABELS[:1]
    texts = [body["messages"][0]["content"][1]["text"] for _, _, body in endpoint.requests]
    assert texts == [question(AGE_GENDER), question(AGE_GENDER, again=True)]
    endpoint, arbiter = serve(then=lambda body: (200, {}, data))
    assert arbiter.answer(KNOWN[:3], AGE_GENDER) == [None] * 3
    assert len(endpoint.requests) == 6
    assert arbiter.counts == ArbiterCounts(asked=3, asked_again=3, unusable=3)


def test_a_content_filter_is_counted_and_not_asked_again(serve: Any) -> None:
    blocked: Answer = (200, {}, completion("", "content_filter"))
    endpoint, arbiter = serve(blocked, refusal(400, "content_policy_violation"), concurrency=1)
    assert arbiter.answer(KNOWN[:3], AGE_GENDER) == [None, None, LABELS[2]]
    assert arbiter.counts == ArbiterCounts(asked=3, answered=1, refused=2)
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("status", "said"), [(400, "status 400"), (401, "OPENAI_API_KEY"), (403, "OPENAI_API_KEY"), (404, "ends with /v1")]
)
def test_what_more_attempts_cannot_mend_stops_at_once(serve: Any, status: int, said: str) -> None:
    endpoint, arbiter = serve(then=lambda body: refusal(status), abstain_on_failure=True)
    with pytest.raises(ArbiterError, match=said) as caught:
        arbiter.answer(KNOWN[:1], AGE_GENDER)
    assert len(endpoint.requests) == 1
    assert "secret-key" not in str(caught.value)


def test_the_key_goes_over_https_or_to_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    for url, key in (
        ("https://host.example/v1", "secret-key"),
        ("http://localhost:1/v1", "secret-key"),
        ("http://host.example/v1", "none"),
        ("http://localhost.example/v1", "none"),
    ):
        client = EndpointVlm(url, "m")._client
        assert client.api_key == key
        client.close()
