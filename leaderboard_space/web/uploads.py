"""The file of a request, as a temporary file: the whole body, or the field `file` of a form.

`guard` bounds how large the body is, how long it takes and how many parts it has.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.web.identity import space_of

_CHUNK = 1 << 20
_MEND = "send the .zip as the body, or as the field `file` of a form; see /api"


@asynccontextmanager
async def received(request: Request) -> AsyncIterator[tuple[Path, str]]:
    """The uploaded file, while the context lasts, and the organisation of the submission.

    Nothing of its name is used. SpaceError UPLOAD_MISSING, WORK_FULL.
    """
    folder = space_of(request).settings.work / "uploads"
    with ExitStack() as kept:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = Path(kept.enter_context(tempfile.TemporaryDirectory(dir=folder))) / "submission.zip"
            organisation = await _receive(request, path)
        except OSError as error:
            what = f"the upload cannot be written: {error.strerror or type(error).__name__}"
            mend = "send it again later; this file was not accepted, and the maintainers see it in /health"
            raise SpaceError("WORK_FULL", "the working folder", what, "room for the upload", mend) from error
        if path.stat().st_size == 0:
            raise SpaceError("UPLOAD_MISSING", "the request", "no file", "a .zip in the submission format", _MEND)
        yield path, organisation


async def _receive(request: Request, path: Path) -> str:
    """Write the file of a request to `path`; the organisation."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        with path.open("wb") as file:
            async for chunk in request.stream():
                await run_in_threadpool(file.write, chunk)
        return request.query_params.get("organisation", "")
    async with request.form(max_files=1, max_fields=4) as form:
        sent, organisation = form.get("file"), form.get("organisation", "")
        if not isinstance(sent, UploadFile) or not isinstance(organisation, str):
            raise SpaceError("UPLOAD_MISSING", "the form", "no file in its field `file`", "a .zip", _MEND)
        with path.open("wb") as file:
            while chunk := await sent.read(_CHUNK):
                await run_in_threadpool(file.write, chunk)
        return organisation
