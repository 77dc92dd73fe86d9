"""`python -m tests.served`: a server to practise with, until Ctrl-C. It knows the benchmarks, and answers at random.

`python -m tests.served OPTIONS PARENT` (JSON of `Options.dumps`) serves until the limit or the end of the parent
process, and prints its address first.
"""

import asyncio
import contextlib
import os
import socket
import sys
import time

import uvicorn

from tests.served.options import Options
from tests.served.server import Server

PRACTICE_PORT = 9900
PRACTICE_SECONDS = 24 * 3600.0
_LOOK = 0.5


async def _serve(options: Options, parent: int) -> None:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio delays answers
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options.port))
    listener.listen(1024)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        Server(options), http="h11", log_level="error", access_log=False, lifespan="off", timeout_keep_alive=60
    )
    watch = asyncio.create_task(_watch(parent, time.monotonic() + options.limit))
    await uvicorn.Server(config).serve([listener])
    watch.cancel()


async def _watch(parent: int, end: float) -> None:
    """End the process with its parent, or at its time."""
    while os.getppid() == parent and time.monotonic() < end:
        await asyncio.sleep(_LOOK)
    os._exit(0)


def _practise() -> None:
    options = Options(port=PRACTICE_PORT, limit=PRACTICE_SECONDS)
    print(f"export SERVED_BASE_URL=http://127.0.0.1:{options.port}/v1 SERVED_API_KEY={options.key}")
    print(
        "Models: openai-api/served/served-text, openai-api/served/mistral or any other name. Ctrl-C ends it.",
        flush=True,
    )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(options, os.getppid()))


def main() -> None:
    words = sys.argv[1:]
    if not words:
        _practise()
    elif len(words) == 2 and words[1].isdecimal():
        asyncio.run(_serve(Options.loads(words[0]), int(words[1])))
    else:
        print(__doc__)
        sys.exit(0 if words in (["-h"], ["--help"]) else 2)


if __name__ == "__main__":
    main()
