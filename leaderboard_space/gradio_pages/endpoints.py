"""Endpoints with the answers of `/api/v1` for Gradio's clients: `gradio_client.Client("owner/space").predict(...)`.

A refusal reaches the client as an error whose text begins with its code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlencode

import gradio as gr
from gradio.events import api
from starlette.datastructures import QueryParams

from fairspace.leaderboard_space.api import data
from fairspace.leaderboard_space.boards.query import BoardQuery
from fairspace.leaderboard_space.boards.views import chosen_standard, chosen_view
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.gradio_pages.parts import asker, handed_in, http
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.storage import StorageError
from fairspace.leaderboard_space.web.identity import current_user
from fairspace.leaderboard_space.web.refusals import as_space_error, note
from fairspace.submissions.errors import UsageError

ROWS = 100
Found = TypeVar("Found")


def add_endpoints(space: Space) -> None:
    """Add the endpoints to the Blocks that are being built."""

    def boards(request: gr.Request) -> list[dict[str, Any]]:
        """Every board with its standards and number of rows."""
        return _told(request, lambda: data.boards(space))

    def board(
        benchmark: str,
        request: gr.Request,
        standard: str = "",
        q: str = "",
        sort: str = "",
        page: int = 1,
        filters: str = "",
    ) -> dict[str, Any]:
        """A page of a board's rows. `filters` are further parameters, such as `provenance=rerun&ranked=1`."""

        def read() -> dict[str, Any]:
            parameters = {"standard": standard, "q": q, "sort": sort, "page": str(page)}
            query = BoardQuery.read(QueryParams(f"{urlencode(parameters)}&{filters}"), benchmark)
            return data.board(space, query, ROWS)

        return _told(request, read)

    def row(benchmark: str, entry: str, request: gr.Request, standard: str = "") -> dict[str, Any]:
        """One row with all its raw values, under a standard (its default if left out)."""

        def read() -> dict[str, Any]:
            name = chosen_view(benchmark).benchmark
            return data.full_row(space, name, entry, chosen_standard(name, standard))

        return _told(request, read)

    def submission(name: str, request: gr.Request) -> dict[str, Any]:
        """The state of a submission by its id."""
        return _told(request, lambda: data.find_submission(space, name))

    def queue(request: gr.Request) -> dict[str, Any]:
        """The waiting submissions, the next one first."""
        return _told(request, lambda: data.queue(space, current_user(http(request))))

    def submit(file: str | None, organisation: str | None, request: gr.Request) -> dict[str, Any]:
        """Submit a .zip with `handle_file`; the client sends a token in the header X-Fairspace-Token."""

        def accept() -> dict[str, Any]:
            user = asker(request)
            with handed_in(file) as path:
                if path is None:
                    raise SpaceError("UPLOAD_MISSING", "file", "no file", "a .zip", "pass it with handle_file")
                return data.submission(space, space.intake.accept(path, user, organisation or ""))

        return _told(request, accept)

    for endpoint in (boards, board, row, submission, queue):
        api(endpoint, api_name=endpoint.__name__)
    sent = gr.File(label="file", visible=False)
    name = gr.Textbox(label="organisation", visible=False)
    gr.Button(visible=False).click(submit, [sent, name], gr.JSON(visible=False), api_name="submit")


def _told(request: gr.Request, ask: Callable[[], Found]) -> Found:
    """The answer, or an error as Gradio reports it, logged once."""
    try:
        return ask()
    except (SpaceError, StorageError, UsageError) as error:
        refusal = as_space_error(http(request), error)
        note(http(request), refusal)
        raise gr.Error(str(refusal), print_exception=False) from error
