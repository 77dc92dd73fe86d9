"""`python -m tests.hub --port 0 --root DIR`: serve a Hub on loopback; its address is the first line printed.

Repositories live in DIR, so a killed server resumes with them. The server has one thread.
"""

import argparse
import asyncio
from pathlib import Path

from starlette.applications import Starlette

from tests.hub import files, repositories
from tests.hub.errors import RefusalError, refuse
from tests.hub.faults import Faulty
from tests.hub.storage import Store
from tests.loopback import serve

parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.hub")
parser.add_argument("--port", type=int, default=0, help="0: any free one")
parser.add_argument("--root", type=Path, required=True, help="where repositories are kept")
arguments = parser.parse_args()
inner = Starlette(routes=[*repositories.ROUTES, *files.ROUTES], exception_handlers={RefusalError: refuse})
inner.state.store = Store(arguments.root)
asyncio.run(serve(Faulty(inner), arguments.port))
