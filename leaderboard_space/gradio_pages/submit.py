"""`/submit` as Gradio's Blocks, and the check of its calls. Every event checks its user: it may be called by hand."""

import asyncio
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
import orjson
from fastapi import FastAPI
from gradio.events import api
from starlette.requests import Request
from starlette.routing import Mount
from starlette.types import Message, Receive

from fairspace.leaderboard_space.api.routes import find_submission, stated
from fairspace.leaderboard_space.errors import SpaceError, StorageError
from fairspace.leaderboard_space.events import Event
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT
from fairspace.leaderboard_space.pages.submission import standing
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import (
    DAYS,
    LOGIN,
    LOGOUT,
    Tokens,
    current_user,
    required_user,
    revoke_all,
    revoke_token,
    signs_in,
    token_id,
)
from fairspace.leaderboard_space.web.middlewares import ENVELOPE_BYTES
from fairspace.leaderboard_space.web.refusals import as_space_error, note

KEPT_SECONDS = 3600
"""Lifetime of an uploaded file that nobody submitted."""
SESSIONS = 200
"""Sessions whose page state Gradio remembers."""
THEME = gr.themes.Base(
    primary_hue="blue",
    neutral_hue="slate",
    font=("system-ui", "sans-serif"),
    font_mono=("ui-monospace", "monospace"),
)


@dataclass(frozen=True)
class Gradio:
    """Gradio over one Space: its application, a host whose lifespan starts and stops it, and its folder of uploads."""

    host: FastAPI
    app: FastAPI
    blocks: gr.Blocks
    uploads: Path

    async def check(self, request: Request) -> Receive:
        """The body of a call: an event with its number, or its names, of texts and uploaded files.

        SpaceError BAD_PARAMETER, UPLOAD_MISSING.
        """
        try:
            call = orjson.loads(await request.body())
            if (name := request.url.path.rpartition("/")[2]) in PUBLIC:
                call = {parameter: self._value(value) for parameter, value in call.items()}
                fits = PUBLIC[name][0] in call and call.keys() <= set(PUBLIC[name])
            else:
                call["data"] = [self._value(value) for value in call["data"]]
                fits = len(call["data"]) == len(self.blocks.fns[call["fn_index"]].inputs)
            body = [orjson.dumps(call)]
        except (ValueError, TypeError, KeyError, AttributeError) as error:  # also what is nested deeper than it writes
            raise _bad("no call of an event of this page") from error
        if not fits:
            raise _bad("values that are not those of the event's inputs")

        async def receive() -> Message:
            if not body:
                return await request.receive()
            return {"type": "http.request", "body": body.pop(), "more_body": False}

        return receive

    def _value(self, value: Any) -> str | dict[str, Any] | None:
        if value is None or isinstance(value, str):
            return value
        path = Path(value["path"]).resolve()
        if not path.is_relative_to(self.uploads) or path == self.uploads:
            raise _bad(repr(value)[:100])
        if not os.path.isfile(path):  # noqa: PTH113 Path.is_file raises for names that are too long
            raise SpaceError("UPLOAD_MISSING", "path", "no such file", "one that was uploaded", "upload it again")
        name = str(value.get("orig_name") or path.name)
        return {"path": str(path), "orig_name": name, "meta": {"_type": "gradio.FileData"}}


def _bad(problem: str) -> SpaceError:
    return SpaceError("BAD_PARAMETER", "the call", problem, "what the page sends", "submit with the API; see /api")


def load(space: Space, tokens: Tokens) -> Gradio:
    """Gradio over a Space. Call it outside of an event loop: within one, Gradio leaves its own loops open."""
    return asyncio.run(_load(space, tokens))


async def _load(space: Space, tokens: Tokens) -> Gradio:
    uploads = Path(space.settings.work).resolve() / "gradio"
    shutil.rmtree(uploads, ignore_errors=True)  # of an earlier process
    uploads.mkdir(parents=True)
    os.environ["GRADIO_TEMP_DIR"] = str(uploads)  # Gradio knows no other way to be told
    with gr.Blocks(title="Submit · fairspace", analytics_enabled=False, delete_cache=(600, KEPT_SECONDS)) as blocks:
        pass
    with blocks.route("Submit", "/submit", show_in_navbar=False):
        build_submit(blocks, space, tokens)
        build_api(blocks, space)
    blocks.state_session_capacity = SESSIONS  # before it is mounted, which reads it
    blocks.queue(max_size=100, default_concurrency_limit=4, api_open=False)
    host = FastAPI()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "SSR mode", UserWarning)  # told although it is not asked for
        gr.mount_gradio_app(
            host,
            blocks,
            "/",
            footer_links=["api"],
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
    return Gradio(host, app, blocks, uploads)


OWN = 20
"""Number of the user's last submissions in the list."""
LOOK_SECONDS = 4


def build_submit(blocks: gr.Blocks, space: Space, tokens: Tokens) -> None:
    """Fill the page and connect its events."""
    part("parts/submit_about.html.jinja", settings=space.settings)
    who = part("parts/loading.html.jinja", elem_id="who")
    with gr.Column(visible=False, elem_id="hand-in") as form:
        organisation = gr.Dropdown([], label="Submit on behalf of", interactive=True, elem_id="organisation")
        file = gr.File(label="Submission (.zip)", file_types=[".zip"], elem_id="file", height=150)
        button = gr.Button("Submit", variant="primary", elem_id="submit")
    outcome = part("", elem_id="outcome")
    submissions = part("", elem_id="own")
    with gr.Column(visible=False, elem_id="tokens") as token_part:
        part("parts/token_about.html.jinja", days=DAYS)
        make = gr.Button("Create a token", elem_id="make-token")
        token = gr.Textbox(label="Token", visible=False, interactive=False, buttons=["copy"], elem_id="token")
        lost = gr.Textbox(label="Token to revoke", info="the token or its id", max_length=4000, elem_id="lost-token")
        revoke_one = gr.Button("Revoke this token", elem_id="revoke-token")
        revoke_every = gr.Button("Revoke all my tokens", elem_id="revoke-tokens")
    timer = gr.Timer(LOOK_SECONDS, active=False)

    def load(request: gr.Request) -> list[Any]:
        user = current_user(http(request))
        links = {"login": LOGIN if signs_in() else "", "logout": LOGOUT if signs_in() else ""}
        shown = html("parts/who.html.jinja", user=user, usage=_usage(space, user), settings=space.settings, **links)
        if user is None:
            no_form, no_tokens = gr.Column(visible=False), gr.Column(visible=False)
            return [shown, no_form, gr.Dropdown(), "", no_tokens, gr.Timer(active=False)]
        choices = [(f"{user.name} (yourself)", ""), *((name, name) for name in user.organisations)]
        listed, waits = _own(space, user)
        chooser = gr.Dropdown(choices, value="")
        return [shown, gr.Column(visible=True), chooser, listed, gr.Column(visible=True), gr.Timer(active=waits)]

    def look(request: gr.Request) -> list[Any]:
        try:
            listed, waits = _own(space, asker(request))
        except (SpaceError, StorageError) as error:
            return [refused(request, error), gr.Timer(active=False)]
        return [listed, gr.Timer(active=waits)]

    def hand_in(sent: Any, name: Any, request: gr.Request) -> list[Any]:
        try:
            user = asker(request)
            now = standing(space, _accept(space, sent, user, str(name or "")))
            listed, waits = _own(space, user)
        except (SpaceError, StorageError) as error:
            return [refused(request, error), None, gr.skip(), gr.skip()]
        before = now.submission.outcome != "waiting"
        message = html("parts/accepted.html.jinja", standing=now) if before else ""
        return [message, None, listed, gr.Timer(active=waits)]

    def make_token(request: gr.Request) -> list[Any]:
        try:
            made = tokens.make(asker(request))
            return [gr.Textbox(made, info=f"Its id is {token_id(made)}.", visible=True), gr.skip()]
        except SpaceError as error:
            return [gr.skip(), refused(request, error)]

    def revoked(request: gr.Request, end: Callable[[str], Event]) -> str:
        try:
            return html("parts/revoked.html.jinja", event=end(asker(request).name))
        except (SpaceError, StorageError) as error:
            return refused(request, error)

    def revoke(text: Any, request: gr.Request) -> str:
        return revoked(request, lambda user: revoke_token(space.state, str(text or ""), user))

    def revoke_mine(request: gr.Request) -> str:
        return revoked(request, lambda user: revoke_all(space.state, user, user))

    shared: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "preprocess": False}
    blocks.load(load, None, [who, form, organisation, submissions, token_part, timer], **shared)
    timer.tick(look, None, [submissions, timer], **shared)
    file.upload(lambda: "", None, [outcome], **shared)
    button.click(
        hand_in, [file, organisation], [outcome, file, submissions, timer], preprocess=False, api_visibility="private"
    )
    make.click(make_token, None, [token, outcome], **shared)
    revoke_one.click(revoke, [lost], [outcome], **shared)
    revoke_every.click(revoke_mine, None, [outcome], **shared)


PUBLIC = {"submit": ("file", "organisation"), "submission": ("id",)}
"""Events of `gradio_client` and other programs -> names of their inputs, the required one first."""


def build_api(blocks: gr.Blocks, space: Space) -> None:
    """Add the events of programs."""

    def submit(request: gr.Request, file: Any, organisation: str = "") -> dict[str, Any]:
        """Submit a .zip in the submission format, with a token as header X-Fairspace-Token; the answer is its state.

        The organisation is one of yours if you submit on its behalf.
        """
        with _raised(request):
            return stated(space, _accept(space, file, asker(request), organisation or ""))

    def submission(request: gr.Request, id: str) -> dict[str, Any]:
        """The state of a submission: position, faults, or sentences, scores and row."""
        with _raised(request):
            return stated(space, find_submission(space, id or ""))

    file: Any = blocks.fns[api(submit, api_name="submit")["id"]].inputs[0]
    file._api_info = gr.FileData.model_json_schema()
    api(submission, api_name="submission")


@contextmanager
def _raised(request: gr.Request) -> Iterator[None]:
    """Give clients an error as text, logged like any other."""
    try:
        yield
    except (SpaceError, StorageError) as error:
        raise gr.Error(str(noted(request, error)), print_exception=False) from error


def _accept(space: Space, sent: Any, user: User, organisation: str) -> LoggedSubmission:
    """Accept the uploaded file that a checked call names, and delete it."""
    if not isinstance(sent, dict):
        mend = "choose a .zip file and wait until it is uploaded"
        raise SpaceError("UPLOAD_MISSING", "the form", "no file", "a .zip in the submission format", mend)
    file = Path(sent["path"])
    try:
        return space.intake.accept(file, user, organisation, sent["orig_name"])
    finally:
        file.unlink(missing_ok=True)


def _own(space: Space, user: User) -> tuple[str, bool]:
    space.state.refresh()
    submissions = [submission for submission in reversed(space.state.submissions()) if submission.user == user.name]
    standings = [standing(space, submission) for submission in submissions[:OWN]]
    shown = html(
        "parts/own.html.jinja",
        standings=standings,
        total=len(submissions),
        usage=_usage(space, user),
        settings=space.settings,
    )
    return shown, any(submission.outcome == "waiting" for submission in submissions)


def _usage(space: Space, user: User | None) -> dict[str, int]:
    if user is None:
        return {}
    used = space.intake.usage(user)
    return {"waiting": len(used.waiting), "scored": len(used.scored), "faulty": len(used.faulty)}


def asker(request: gr.Request) -> User:
    """The signed-in user. SpaceError SIGN_IN_REQUIRED."""
    return required_user(http(request))


def http(request: gr.Request) -> Request:
    """The HTTP request of an event."""
    assert request.request is not None
    return request.request


def html(template: str, **values: Any) -> str:
    """A part of a page on one line, which Markdown takes as one block of HTML."""
    return " ".join(ENVIRONMENT.get_template(template).render(values).split())


def part(template: str, elem_id: str | None = None, **values: Any) -> gr.Markdown:
    """A part of a page that an event may change; empty without a template.

    It is Markdown, sanitised by the browser, because `gr.HTML` evaluates scripts, which our policy forbids.
    """
    shown = html(template, **values) if template else ""
    return gr.Markdown(shown, elem_id=elem_id, elem_classes="ours", container=False)


def refused(request: gr.Request, error: Exception) -> str:
    """An error as a part of the page."""
    return html("parts/refused.html.jinja", error=noted(request, error))


def noted(request: gr.Request, error: Exception) -> SpaceError:
    """An error for the client, logged like any other."""
    refusal = as_space_error(http(request), error)
    note(http(request), refusal)
    return refusal
