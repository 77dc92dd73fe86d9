"""Connections that send slowly, or nothing, delay nobody else."""

import resource
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from fairspace.leaderboard_space.web import connections
from fairspace.leaderboard_space.web.connections import Places, Proxies

ATTACKER = "127.0.0.2"
LARGE = 30_000_000
HALF_OPEN = 2_000


async def page(request: Request) -> Response:
    return PlainTextResponse("a page")


async def large(request: Request) -> Response:
    return Response(bytes(LARGE))


@contextmanager
def served(places: Places) -> Iterator[int]:
    app = Starlette(routes=[Route("/", page), Route("/health/live", page), Route("/large", large)])
    config = uvicorn.Config(app, "127.0.0.1", 0, http=places.protocol(), loop="uvloop", ws="none", log_config=None)
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)


def opened(stack: ExitStack, port: int, sent: bytes, peer: str = ATTACKER) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), 20, (peer, 0))
    stack.callback(connection.close)
    connection.sendall(sent)
    return connection


def rest(connection: socket.socket) -> bytes:
    parts = []
    try:
        while part := connection.recv(1 << 20):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def seconds(port: int) -> float:
    """Median time of a page, each on a connection of its own, while the server stays alive."""
    took = []
    for path in ("/", "/health/live") * 5:
        began = time.perf_counter()
        assert httpx.get(f"http://127.0.0.1:{port}{path}", timeout=20).status_code == 200
        took.append(time.perf_counter() - began)
    return statistics.median(took)


@pytest.fixture
def descriptors() -> Iterator[None]:
    """Raise the limit of open files: both ends of the connections are in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * HALF_OPEN + 500
    assert hard < 0 or hard >= wanted, f"this test needs {wanted} descriptors: raise the hard limit (ulimit -Hn)"
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft if soft < 0 else max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("descriptors")
def test_half_open_connections_of_one_address_cost_others_nothing() -> None:
    places = Places(Proxies(), most=50, of_address=20, head_seconds=60)
    with served(places) as port, ExitStack() as stack:
        before = seconds(port)
        held = [opened(stack, port, b"GET / HTTP/1.1\r\nHost: a\r\n") for _ in range(HALF_OPEN)]
        assert seconds(port) <= 3 * before + 0.1
        assert places.held[ATTACKER] <= 20
        assert any(rest(connection).startswith(b"HTTP/1.1 429 ") for connection in held[20:])  # a reset may come first


def test_half_open_connections_of_many_addresses_make_room_for_who_asks() -> None:
    places = Places(Proxies(), most=50, of_address=20, head_seconds=60)
    with served(places) as port, ExitStack() as stack:
        held = [opened(stack, port, b"GET / HT", f"127.0.1.{number}") for number in range(1, 40)]
        seconds(port)
        held += [opened(stack, port, b"GET / HT", f"127.0.1.{number}") for number in range(40, 201)]
        seconds(port)
        assert rest(held[0]).startswith(b"HTTP/1.1 408 ")
        assert sum(places.held.values()) <= 51


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nContent-Length: 9\r\n\r\n", b"\r\n"])
def test_a_request_that_never_ends_ends_its_connection(sent: bytes) -> None:
    places = Places(Proxies(), head_seconds=0.2, body_seconds=0.2)
    with served(places) as port, ExitStack() as stack:
        connection = opened(stack, port, sent)
        answer = rest(connection)
        answered = sent.endswith(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200" if answered else b"HTTP/1.1 408" if sent else b"")
        assert not places.held


def test_a_proxy_holds_as_many_connections_as_it_needs() -> None:
    places = Places(Proxies([f"{ATTACKER}/32"]), of_address=5)
    with served(places) as port, ExitStack() as stack:
        held = [opened(stack, port, b"GET / HTTP/1.1\r\nHost: a\r\n") for _ in range(30)]
        for connection in held:
            connection.sendall(b"Connection: close\r\n\r\n")
        assert all(rest(connection).startswith(b"HTTP/1.1 200") for connection in held)


def test_a_head_without_an_end_is_not_kept_and_what_follows_a_body_is_no_header() -> None:
    with served(Places(Proxies())) as port, ExitStack() as stack:
        connection = opened(stack, port, b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000)
        assert b" 431 " in rest(connection)[:40]
        body = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\nX-Late: 1\r\n\r\n"
        assert rest(opened(stack, port, body)).startswith(b"HTTP/1.1 405")


def test_requests_one_behind_the_other_are_all_answered_on_one_connection() -> None:
    places = Places(Proxies(), head_seconds=0.3)
    with served(places) as port, ExitStack() as stack:
        connection = opened(stack, port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 5)
        assert rest(connection).count(b"a page") == 5
        assert not places.waiting


def test_an_answer_that_nobody_reads_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "STALL_SECONDS", 0.1)
    places = Places(Proxies(), head_seconds=60)
    with served(places) as port, ExitStack() as stack:
        connection = opened(stack, port, b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        deadline = time.monotonic() + 240
        while not connection.recv(1):
            time.sleep(0.01)
        while places.held:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert len(rest(connection)) < LARGE
