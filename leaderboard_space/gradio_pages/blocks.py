"""The pages that Gradio serves, `/submit` and `/maintain`, and the endpoints of its clients.

Whoever calls an event by hand gets no further than its page would let them: each asks who they are by itself.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import warnings
from pathlib import Path

import gradio as gr
from fastapi import FastAPI
from gradio import queueing, routes
from starlette.routing import Mount

from fairspace.leaderboard_space.gradio_pages.calls import Failures
from fairspace.leaderboard_space.gradio_pages.endpoints import add_endpoints
from fairspace.leaderboard_space.gradio_pages.gate import Gate
from fairspace.leaderboard_space.gradio_pages.maintain import build_maintain
from fairspace.leaderboard_space.gradio_pages.memory import SESSIONS
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


def mount(app: FastAPI, space: Space) -> None:
    """Mount Gradio behind the application's own addresses and a gate that passes only needed requests."""
    asyncio.run(_mount(app, space))  # outside of a loop, Gradio makes loops that nobody closes


async def _mount(app: FastAPI, space: Space) -> None:
    blocks = build(space)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "SSR mode", UserWarning)  # told although it is not asked for
        gr.mount_gradio_app(
            app,
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
    mounted = _mounted(app)
    mounted.app.state.space, mounted.app.state.metrics = space, app.state.metrics  # type: ignore[attr-defined]
    mounted.app = Gate(mounted.app, blocks, space.settings.upload_seconds)
    vars(queueing)["traceback"] = vars(routes)["traceback"] = Failures


def end_streams(app: FastAPI) -> None:
    """End the streams that tell Gradio's pages that the Space is there; within the loop that serves them."""
    gate = _mounted(app).app
    assert isinstance(gate, Gate)
    gate.app.stop_event.set()  # type: ignore[attr-defined]


def _mounted(app: FastAPI) -> Mount:
    (mounted,) = (route for route in app.routes if isinstance(route, Mount) and route.path == "")
    return mounted
