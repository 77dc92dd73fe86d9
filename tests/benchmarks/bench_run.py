"""Two thousand short questions through Inspect and the journal, beside a bare httpx loop over the same requests.

A server on loopback, in its own process, gives every request one small answer at once, so only the client is measured.
Both send 64 requests at a time and parse JSON; ours also journals each outcome and writes Inspect's log. Each is a
process of its own; memory is taken at a fifth of the requests and at the end.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.record import keep
from tests.benchmarks.timing import child, line, peak_gib

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairspace.submissions.running.asking.inspect_task import OpenedBenchmark

CONCURRENCY = 64
MOST = 1.5
"""Promised time per request as a multiple of the bare loop's."""
MOST_MEMORY = 1.1
"""Promised peak memory at the end as a multiple of that at a fifth of the requests."""
_BLOCKS = 36
_REPLY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "bench",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101},
    }
).encode()
_HEADERS = [(b"content-type", b"application/json"), (b"content-length", str(len(_REPLY)).encode())]


@dataclass(frozen=True)
class Spent:
    requests: int
    seconds: float
    processor: float
    early: float
    peak: float


async def reply(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": _REPLY})


@contextmanager
def served() -> Iterator[str]:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "uvicorn", "tests.benchmarks.bench_run:reply", "--port", str(port)]
    server = subprocess.Popen([*words, "--log-level", "error", "--lifespan", "off"])
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


def opened() -> OpenedBenchmark:
    """FACT-OR-FAIR's objective queries and rounds of IRIS' tournament; fifty thousand took seven minutes and more."""
    from fairspace.submissions.running.asking.inspect_task import ChosenPart, OpenedBenchmark, parts

    found = {part.task: part for part in parts("fact_or_fair", None, tasks=("llm_objective",))}
    positions: dict[str, Sequence[int]] = {task: range(len(part.stimuli)) for task, part in found.items()}
    (tournament,) = parts("iris", None, tasks=("tournament",))
    return OpenedBenchmark(
        ChosenPart("fact_or_fair", seed=1),
        {**found, "tournament": tournament},
        {**positions, "tournament": range(_BLOCKS)},
    )


def bare(url: str, scratch: Path) -> Spent:
    import httpx

    what = opened()
    prompts = (
        ask.prompt
        for task, places in what.positions.items()
        for place in places
        for ask in what.parts[task].read(place).asks
    )
    early = 0.0
    done = 0

    async def worker(client: httpx.AsyncClient) -> None:
        nonlocal done, early
        for prompt in prompts:
            body = {"model": "bench", "messages": [{"role": "user", "content": prompt}], "max_tokens": 256}
            answer = await client.post(f"{url}/chat/completions", json=body)
            assert answer.json()["choices"][0]["message"]["content"] == "A"
            done += 1
            if done == what.asks // 5:
                early = peak_gib()

    async def main() -> None:
        async with httpx.AsyncClient(limits=httpx.Limits(max_connections=CONCURRENCY), timeout=60) as client:
            await asyncio.gather(*(worker(client) for _ in range(CONCURRENCY)))

    began, processor = time.perf_counter(), time.process_time()
    asyncio.run(main())
    return Spent(done, time.perf_counter() - began, time.process_time() - processor, early, peak_gib())


def ours(url: str, scratch: Path) -> Spent:
    import inspect_ai  # noqa: F401
    import openai  # noqa: F401

    from fairspace.submissions.running.asking.answering import answer
    from fairspace.submissions.running.asking.models import ModelSettings

    os.environ["BENCH_API_KEY"] = "none"
    what = opened()
    early = 0.0

    def tell(_: str, done: int, total: int) -> None:
        nonlocal early
        if done == total // 5:
            early = peak_gib()

    model = ModelSettings("openai-api/bench/bench", url, connections=CONCURRENCY)
    began, processor = time.perf_counter(), time.process_time()
    found = answer(what, model, scratch, tell=tell)
    spent = time.perf_counter() - began, time.process_time() - processor
    if found.stage.fates["answered"] != what.asks:
        sys.exit(f"{found.stage.fates} of {what.asks} requests")
    return Spent(what.asks, *spent, early, peak_gib())


_RUNS = {"bare": bare, "ours": ours}


def main() -> None:
    with served() as url, tempfile.TemporaryDirectory() as scratch:
        plain, full = (Spent(**child("bench_run", run, url, scratch)) for run in _RUNS)
    ratio = (full.seconds / full.requests) / (plain.seconds / plain.requests)
    memory = full.peak / full.early
    for what, spent in (("bare httpx loop", plain), ("Inspect and journal", full)):
        each, processor = (1e3 * seconds / spent.requests for seconds in (spent.seconds, spent.processor))
        figures = f"{each:.2f} ms each, {processor:.2f} of the processor; {spent.peak:.2f} GiB"
        line(f"{spent.requests} requests, {CONCURRENCY} at once: {what}", spent.seconds, figures)
    print(f"{ratio:.2f} of the bare loop (<= {MOST}); memory {memory:.2f} of that at a fifth (<= {MOST_MEMORY})")
    keep(f"{full.requests} requests through Inspect", f"{ratio:.2f} times a bare httpx loop (promised: {MOST})")
    if ratio > MOST or memory > MOST_MEMORY:
        sys.exit("less than what we promise")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(asdict(_RUNS[sys.argv[1]](sys.argv[2], Path(sys.argv[3])))))
    else:
        main()
