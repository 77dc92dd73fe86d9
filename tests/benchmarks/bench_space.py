"""A Space of 5 500 rows on loopback: start, pages, then 50 readers and 5 submitters, in processes of their own.

A reader asks for a page, a figure, the API or a download, and pauses for two seconds on average; the front page and
first pages of a board are most frequent. A submitter uploads a real submission, and the next one once it is scored.
"""

import asyncio
import hashlib
import io
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
import orjson
import psutil

from fairspace.leaderboard_space.events import Draft, result_path
from fairspace.leaderboard_space.intake import result_draft, result_key
from fairspace.leaderboard_space.site.process import MODULE
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.results.board import entry
from fairspace.submissions.results.result import Result
from tests.benchmarks.timing import line

ROWS = 5_500
PARTS = {"fact_or_fair": 10 / 11, "iris": 1 / 11}
READERS, SUBMITTERS, SECONDS, WARM = 50, 5, 60, 20
PAUSE = 2.0
MOST_START, MOST_AGAIN, MOST_FILTER, MOST_ROOM, MOST_MEMORY = 4.0, 1.5, 0.1, 0.45, 1.05
"""Seconds to the first pages, without a folder of pages and with one, and of another page or table; GiB of all its
processes but the scoring, and that at the end as a multiple of that after a third."""
MOST_SECONDS = {0.5: 0.02, 0.95: 0.08, 0.99: 1.0}
"""Quantile of the reads -> its limit in seconds."""
SECRET = "a secret of the bench, long enough for tokens"
FRONT, FIRST = "/", "/board/fact_or_fair"
STANDARDS = ("shuffled", "inaugural")
"""The board's own standard, and another one."""
OWN = 10
"""Every such row was run by us; the others were submitted."""
OTHERS = ("page/20", "all", "all/page/3", "shuffled/image-models")


def make_store(root: Path) -> list[str]:
    """Write the store; return the entries of the larger board."""
    from tests.leaderboard_space.factory import result

    storage, entries = LocalStorage(root), []
    answers: tuple[Any, ...] = ("random", "constant", "stereotyped", "balanced")
    for benchmark, part in PARTS.items():
        results = [_slim(result(benchmark, name, "model")) for name in answers]
        drafts_of = [*map(result_draft, results)]
        files_of = [json.loads(*files.values()) for _, files in drafts_of]
        drafts: list[Any] = []
        files: dict[str, Any] = {}
        for number in range(round(ROWS * part)):
            of = number % len(answers)
            meta = {**results[of].meta, "model": f"Model {number}", "organisation": f"Lab {number % 97}"}
            meta["licence"] = ("MIT", "Apache-2.0", "proprietary")[number % 3]
            name = hashlib.sha256(f"{benchmark} {number}".encode()).hexdigest()
            about: dict[str, Any] = {"meta": meta, "signature": {**results[of].signature, "submission": name}}
            made, draft = replace(results[of], **about), drafts_of[of][0]
            content = orjson.dumps(files_of[of] | about)
            key, sha256 = result_key(made), hashlib.sha256(content).hexdigest()
            whose = {"own": True} if number % OWN == 0 else {"user": f"account-{number % 97}"}
            of_row = {"key": key, "entry": entry(made), "sha256": sha256, "result": draft.body["result"] | about}
            drafts.append(replace(draft, key=f"result:{key}", body={**draft.body, **of_row, **whose}))
            files[result_path(benchmark, key)] = content
            if benchmark == "fact_or_fair":
                entries.append(str(of_row["entry"]))
            if len(drafts) == 500:
                _append(storage, drafts, files)
        _append(storage, drafts, files)
    storage.close()
    return entries


def _append(storage: LocalStorage, drafts: list[Draft], files: dict[str, bytes]) -> None:
    with mock.patch("os.fsync"):  # durability is not needed here
        storage.append(drafts, dict(files))
    drafts.clear()
    files.clear()


def _slim(found: Result) -> Result:
    """The result without evidence, which the readers' pages do not show."""
    values = {name: replace(value, evidence={}) for name, value in found.values.items()}
    scores = {name: replace(value, evidence={}) for name, value in found.scored.scores.items()}
    return replace(found, values=values, scored=replace(found.scored, scores=scores))


def serve(root: str, port: str) -> None:
    """The server, as `fairspace leaderboard serve` runs it, with high quotas."""
    from fairspace.leaderboard_space.serving import serve as served
    from fairspace.leaderboard_space.settings import Settings

    work = Path(root).parent / "work"
    quotas = {"valid_a_day": 10_000, "waiting": 100, "requests_a_minute": 0}
    settings = Settings(store=root, work=work, secret=SECRET, baselines=False, **quotas)  # type: ignore[arg-type]
    served(settings, port=int(port))


@contextmanager
def running(store: Path, log: Path) -> Iterator[tuple[str, psutil.Process, float]]:
    """The server in a process: its address, itself, and the seconds until it answered."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.benchmarks.bench_space", "serve", str(store), str(port)]
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(log.parent / "bytecode")}  # installed packages have theirs
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.perf_counter()
    with log.open("wb") as out:
        server = subprocess.Popen(command, stderr=out, stdout=out, env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            if server.poll() is not None:
                sys.exit(f"the server did not start: {log.read_text(encoding='utf-8')[-2000:]}")
            try:
                httpx.get(f"{url}/health/live", timeout=30)
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield url, psutil.Process(server.pid), time.perf_counter() - began
    finally:
        server.terminate()
        server.wait(90)


def seconds_of(client: httpx.Client, address: str) -> float:
    began = time.perf_counter()
    client.get(address).raise_for_status()
    return time.perf_counter() - began


def addresses(entries: list[str], draw: random.Random) -> tuple[str, str]:
    entry, page = draw.choice(entries), min(50, 1 + int(draw.expovariate(1 / 4)))
    kinds = {
        "front": (15, FRONT),
        "board": (20, f"{FIRST}/page/{page}" if page > 1 else FIRST),
        "variant": (15, f"{FIRST}/{draw.choice(OTHERS)}"),
        "row": (10, f"/model/fact_or_fair/{entry}"),
        "model": (5, f"/models/model-{draw.randrange(len(entries))}"),
        "figure": (8, f"/figures/fact_or_fair/{draw.choice(STANDARDS)}/tradeoff-gender.svg"),
        "api board": (10, f"/api/v1/boards/fact_or_fair/page/{page}"),
        "api row": (7, f"/api/v1/boards/fact_or_fair/rows/{entry}"),
        "queue": (3, "/queue"),
        "download": (1, f"/download/fact_or_fair/{draw.choice(STANDARDS)}.csv"),
    }
    kind = draw.choices(list(kinds), [weight for weight, _ in kinds.values()])[0]
    return kind, kinds[kind][1]


def read(url: str, entries_file: str) -> None:
    """The readers; prints seconds by kind, and errors, as JSON."""
    entries = json.loads(Path(entries_file).read_text(encoding="utf-8"))
    took: dict[str, list[float]] = {}
    errors: list[str] = []
    until = time.monotonic() + SECONDS

    async def reader(number: int, client: httpx.AsyncClient) -> None:
        draw = random.Random(number)
        while time.monotonic() < until:
            await asyncio.sleep(draw.uniform(0, 2 * PAUSE))
            kind, address = addresses(entries, draw)
            began = time.perf_counter()
            try:
                answer = await client.get(f"{url}{address}")
                if answer.status_code != 200:
                    errors.append(f"{address}: {answer.status_code}")
            except httpx.HTTPError as error:
                errors.append(f"{address}: {type(error).__name__}")
            took.setdefault(kind, []).append(time.perf_counter() - began)

    async def main() -> None:
        limits = httpx.Limits(max_connections=READERS, max_keepalive_connections=READERS)
        async with httpx.AsyncClient(limits=limits, timeout=60) as client:
            await asyncio.gather(*(reader(number, client) for number in range(READERS)))

    asyncio.run(main())
    print(json.dumps({"took": took, "errors": errors}))


def submission(made: Path, number: int) -> bytes:
    """A submission with the answers of the zip at `made`; each number is another model."""
    target = io.BytesIO()
    with zipfile.ZipFile(made) as source, zipfile.ZipFile(target, "w") as archive:
        for info in source.infolist():
            content = source.read(info)
            if info.filename == "submission.json":
                content = json.dumps({**json.loads(content), "model": f"Submitted {number}"}).encode()
            archive.writestr(info, content)
    return target.getvalue()


def submit(url: str) -> None:
    """The submitters; prints the scored number, and errors, as JSON."""
    from fairspace.leaderboard_space.intake import User
    from fairspace.leaderboard_space.web.identity import Tokens
    from tests.leaderboard_space.factory import good_zip

    scored, errors = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        made = good_zip(Path(scratch) / "one.zip", "submitted")
        files = iter([submission(made, number) for number in range(100)])
    until = time.monotonic() + SECONDS

    async def submitter(number: int) -> None:
        nonlocal scored
        token = {"X-Fairspace-Token": Tokens(SECRET).make(User(f"submitter-{number}"))}
        async with httpx.AsyncClient(base_url=url, headers=token, timeout=60) as client:
            while time.monotonic() < until:
                answer = await client.post("/api/v1/submissions", content=next(files))
                while answer.is_success and answer.json()["outcome"] == "waiting" and time.monotonic() < until:
                    await asyncio.sleep(1)
                    answer = await client.get(f"/api/v1/submissions/{answer.json()['id']}")
                if not answer.is_success or answer.json()["outcome"] in ("refused", "failed"):
                    errors.append(answer.text[:300])
                elif answer.json()["outcome"] == "scored":
                    scored += 1

    async def main() -> None:
        await asyncio.gather(*(submitter(number) for number in range(SUBMITTERS)))

    asyncio.run(main())
    print(json.dumps({"scored": scored, "errors": errors}))


def under_load(url: str, server: psutil.Process, entries: Path) -> tuple[dict[str, Any], dict[str, Any], float, float]:
    """Results of readers and submitters, and the server's memory in GiB after the warm-up and at the end."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_space"]
    readers = subprocess.Popen([*command, "read", url, str(entries)], stdout=subprocess.PIPE)
    submitters = subprocess.Popen([*command, "submit", url], stdout=subprocess.PIPE)
    time.sleep(WARM)
    warm = memory(server)
    told = [json.loads(process.communicate()[0]) for process in (readers, submitters)]
    return told[0], told[1], warm, memory(server)


def parts_of(server: psutil.Process) -> list[psutil.Process]:
    """The server and the builder of its pages, without what scores."""
    return [server, *(child for child in server.children() if MODULE in child.cmdline())]


def memory(server: psutil.Process) -> float:
    """GiB of the server and its builder; what they share counts once."""
    return sum(float(process.memory_full_info().pss) for process in parts_of(server)) / 2**30


def percentile(found: list[float], part: float) -> float:
    return sorted(found)[min(len(found) - 1, int(part * len(found)))]


def main() -> None:
    missed: list[str] = []

    def bound(what: str, found: float, most: float) -> None:
        line(what, found, f"<= {most:g}")
        if found > most:
            missed.append(what)

    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        entries = make_store(root / "store")
        (root / "entries.json").write_text(json.dumps(entries), encoding="utf-8")
        with running(root / "store", root / "log") as (url, _, _):  # the first start compiles the modules, Gradio's too
            httpx.get(f"{url}/submit", timeout=120).raise_for_status()
        shutil.rmtree(root / "work" / "site")
        with running(root / "store", root / "log") as (url, _, start):
            client = httpx.Client(base_url=url, timeout=60)
            cold = seconds_of(client, FRONT) + seconds_of(client, FIRST)
            bound(
                "start: from the process to the front page and a board, no page made before", start + cold, MOST_START
            )
        with running(root / "store", root / "log") as (url, server, start):
            client = httpx.Client(base_url=url, timeout=60)
            again = seconds_of(client, FRONT) + seconds_of(client, FIRST)
            bound("start: to the same pages, from the folder of before", start + again, MOST_AGAIN)
            slowest = max(seconds_of(client, f"{FIRST}/{other}") for other in OTHERS)
            bound("first other pages and tables, the slowest", slowest, MOST_FILTER)
            before = sum(sum(process.cpu_times()[:2]) for process in parts_of(server))
            reads, submits, warm, end = under_load(url, server, root / "entries.json")
            spent = sum(sum(process.cpu_times()[:2]) for process in parts_of(server)) - before
            client.close()
            told = [one for one in (root / "log").read_text(encoding="utf-8").splitlines() if '"ERROR"' in one]
    took = [seconds for found in reads["took"].values() for seconds in found]
    print(f"the machine's load average: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{READERS} readers, {SUBMITTERS} submitters, {SECONDS} s: {len(took)} reads, {submits['scored']} scored")
    for kind, found in sorted(reads["took"].items()):
        line(f"  {kind}, {len(found)} reads: median", percentile(found, 0.5), f"p95 {percentile(found, 0.95):.3f} s")
    line("the server's processor seconds for a read, all else it did included", spent / len(took))
    for part, most in MOST_SECONDS.items():
        bound(f"reads: p{100 * part:g}", percentile(took, part), most)
    bound("memory of the server and its builder at the end, GiB", end, MOST_ROOM)
    print(f"memory: {warm:.2f} GiB after {WARM} s, {end:.2f} at the end; {end / warm:.2f} (<= {MOST_MEMORY})")
    if end / warm > MOST_MEMORY:
        missed.append("memory")
    for error in (*reads["errors"], *submits["errors"]):
        missed.append(f"an error: {error}")
    for one in told[:3]:
        print(one[:2000])
    if not submits["scored"]:
        missed.append("no submission was scored")
    if missed:
        sys.exit("less than what we promise: " + "; ".join(missed[:10]))


_PARTS: dict[str, Callable[..., None]] = {"serve": serve, "read": read, "submit": submit}
if __name__ == "__main__":
    if len(sys.argv) > 1:
        _PARTS[sys.argv[1]](*sys.argv[2:])
    else:
        main()
