"""`python -m tests.hub --port 0 --root DIR`: serve a Hub on loopback; its address is the first line printed.

Repositories live in DIR, so a killed server resumes with them. The server has one thread.
"""

import argparse
import asyncio
import socket
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from tests.hub import files, repositories
from tests.hub.errors import RefusalError, refuse
from tests.hub.faults import Faulty
from tests.hub.storage import Store


def application(root: Path) -> Faulty:
    routes = [*repositories.ROUTES, *files.ROUTES]
    inner = Starlette(routes=routes, exception_handlers={RefusalError: refuse})
    inner.state.store = Store(root)
    return Faulty(inner)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.hub")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--root", type=Path, required=True, help="where repositories are kept")
    arguments = parser.parse_args()
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio delays answers
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", arguments.port))
    listener.listen(256)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    served = application(arguments.root)
    config = uvicorn.Config(served, http="h11", log_level="warning", lifespan="off", timeout_keep_alive=60)
    asyncio.run(uvicorn.Server(config).serve([listener]))


if __name__ == "__main__":
    main()
