"""The pages that Gradio serves, `/submit` and `/maintain`, and the endpoints of its clients.

Whoever calls an event by hand gets no further than its page would let them: each asks who they are by itself.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import gradio as gr
from fastapi import FastAPI
from gradio import queueing, routes
from starlette.requests import Request
from starlette.routing import Mount
from starlette.types import Receive

from fairspace.leaderboard_space.gradio_pages.calls import Failures, checked
from fairspace.leaderboard_space.gradio_pages.endpoints import add_endpoints
from fairspace.leaderboard_space.gradio_pages.maintain import build_maintain
from fairspace.leaderboard_space.gradio_pages.memory import SESSIONS, Results
from fairspace.leaderboard_space.gradio_pages.submit import build_submit
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.bodies import ENVELOPE_BYTES

KEPT_SECONDS = 3600
"""After which an uploaded file that nobody handed in is deleted."""
SYSTEM_FONT = ("system-ui", "sans-serif")
MONO_FONT = ("ui-monospace", "monospace")
THEME = gr.themes.Base(primary_hue="blue", neutral_hue="slate", font=SYSTEM_FONT, font_mono=MONO_FONT)


def build(space: Space) -> gr.Blocks:
    """The pages and endpoints over one Space."""
    folder = Path(space.settings.work).absolute() / "gradio"
    shutil.rmtree(folder, ignore_errors=True)  # uploads of an earlier process
    folder.mkdir(parents=True)
    os.environ["GRADIO_TEMP_DIR"] = str(folder)  # Gradio knows no other way to be told
    with gr.Blocks(title="fairspace", analytics_enabled=False, delete_cache=(600, KEPT_SECONDS)) as blocks:
        add_endpoints(space)
    with blocks.route("Submit", "/submit", show_in_navbar=False):
        build_submit(blocks, space)
    with blocks.route("Maintain", "/maintain", show_in_navbar=False):
        build_maintain(blocks, space)
    blocks.state_session_capacity = SESSIONS  # before it is mounted, which reads it
    return blocks.queue(max_size=100, default_concurrency_limit=4, api_open=False)


@dataclass(frozen=True)
class Gradio:
    """Gradio over one Space, as `Gate` calls it.

    Args:
        host: an application with Gradio's as its only mount; its lifespan starts and stops both.
        app: Gradio's application.
        blocks: its pages and events.
        uploads: the folder of what was uploaded.
    """

    host: FastAPI
    app: FastAPI
    blocks: gr.Blocks
    uploads: Path

    @cached_property
    def results(self) -> Results:
        """What its events have answered."""
        return Results(self.blocks._queue)

    async def check(self, request: Request) -> Receive:
        """The body of a call of an event. SpaceError as `checked`."""
        receive = await checked(request, self.blocks, self.uploads)
        self.results.prune()
        return receive


def load(space: Space) -> Gradio:
    """Gradio over a Space; call it outside of a loop, within which Gradio makes loops that nobody closes."""
    return asyncio.run(_load(space))


async def _load(space: Space) -> Gradio:
    host, blocks = FastAPI(), build(space)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "SSR mode", UserWarning)  # told although it is not asked for
        gr.mount_gradio_app(
            host,
            blocks,
            "/",
            footer_links=[],
            run_history=False,
            show_error=False,
            max_file_size=space.settings.upload_bytes + ENVELOPE_BYTES,  # what is larger, `Guard` refuses
            ssr_mode=False,
            enable_monitoring=False,
            pwa=False,
            mcp_server=False,
            theme=THEME,
        )
    (mount,) = (route for route in host.routes if isinstance(route, Mount))
    app = mount.app
    assert isinstance(app, FastAPI)
    app.state.space = space
    vars(queueing)["traceback"] = vars(routes)["traceback"] = Failures
    return Gradio(host, app, blocks, Path(os.environ["GRADIO_TEMP_DIR"]).resolve())
