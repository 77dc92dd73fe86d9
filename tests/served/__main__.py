"""`python -m tests.served`: a server to practise with, until Ctrl-C. It knows the benchmarks, and answers at random.

`python -m tests.served OPTIONS PARENT` (JSON of `Options.dumps`) serves until the limit or the end of the parent
process, and prints its address first.
"""

import asyncio
import contextlib
import os
import sys
import time

from tests.loopback import serve
from tests.served.options import Options
from tests.served.server import Server

PRACTICE = Options(port=9900, limit=24 * 3600.0)
_LOOK = 0.5


async def _serve(options: Options, parent: int) -> None:
    watch = asyncio.create_task(_watch(parent, time.monotonic() + options.limit))
    await serve(Server(options), options.port)
    watch.cancel()


async def _watch(parent: int, end: float) -> None:
    """End the process with its parent, or at its time."""
    while os.getppid() == parent and time.monotonic() < end:
        await asyncio.sleep(_LOOK)
    os._exit(0)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        asyncio.run(_serve(Options.loads(sys.argv[1]), int(sys.argv[2])))
    else:
        print(f"export SERVED_BASE_URL=http://127.0.0.1:{PRACTICE.port}/v1 SERVED_API_KEY={PRACTICE.key}")
        print("Models: openai-api/served/served-text, openai-api/served/mistral or any other name. Ctrl-C ends it.")
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve(PRACTICE, os.getppid()))
