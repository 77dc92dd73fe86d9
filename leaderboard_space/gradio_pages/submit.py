"""`/submit`, `/maintain` and the endpoints for `gradio_client.Client("owner/space").predict(...)`.

The endpoints have the answers of `/api/v1`. A refusal reaches the client as an error whose text begins with its code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import gradio as gr
from gradio.events import api
from starlette.datastructures import QueryParams
from starlette.requests import Request

from fairspace.leaderboard_space import maintaining
from fairspace.leaderboard_space.api import data
from fairspace.leaderboard_space.boards.views import BoardQuery, chosen_standard, chosen_view
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT
from fairspace.leaderboard_space.pages.submission import standing
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.storage import StorageError
from fairspace.leaderboard_space.web.identity import LOGIN, LOGOUT, current_user, maintains, required_user, signs_in
from fairspace.leaderboard_space.web.refusals import as_space_error, note
from fairspace.leaderboard_space.web.tokens import DAYS, revoke_all, revoke_token, token_id
from fairspace.submissions.errors import UsageError

OWN = 20
"""Number of the user's last submissions in the list."""
LOOK_SECONDS = 4


def build_submit(blocks: gr.Blocks, space: Space) -> None:
    """Fill the page and connect its events."""
    part("parts/submit_about.html.jinja", settings=space.settings)
    who = part("parts/loading.html.jinja", elem_id="who")
    with gr.Column(visible=False, elem_id="hand-in") as form:
        organisation = gr.Dropdown([], label="Submit on behalf of", interactive=True, elem_id="organisation")
        file = gr.File(label="Submission (.zip)", file_types=[".zip"], elem_id="file", height=150)
        button = gr.Button("Submit", variant="primary", elem_id="submit")
    outcome = part("", elem_id="outcome")
    submissions = part("", elem_id="own")
    with gr.Column(visible=False, elem_id="tokens") as tokens:
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
            return [
                shown,
                gr.Column(visible=False),
                gr.Dropdown(),
                "",
                gr.Column(visible=False),
                gr.Timer(active=False),
            ]
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
        path = sent.get("path") if isinstance(sent, dict) else None  # within `uploads`, by `gradio_calls`
        try:
            user = asker(request)
            with handed_in(path) as file:
                message = _accept(space, file, user, str(name or ""))
            listed, waits = _own(space, user)
        except (SpaceError, StorageError) as error:
            return [refused(request, error), None, gr.skip(), gr.skip()]
        return [message, None, listed, gr.Timer(active=waits)]

    def make_token(request: gr.Request) -> list[Any]:
        try:
            made = space.tokens.make(asker(request))
            return [gr.Textbox(made, info=f"Its id is {token_id(made)}.", visible=True), gr.skip()]
        except SpaceError as error:
            return [gr.skip(), refused(request, error)]

    def revoke(text: Any, request: gr.Request) -> str:
        try:
            event = revoke_token(space.state, str(text or ""), asker(request).name)
        except (SpaceError, StorageError) as error:
            return refused(request, error)
        return html("parts/revoked.html.jinja", event=event)

    def revoke_mine(request: gr.Request) -> str:
        try:
            user = asker(request).name
            event = revoke_all(space.state, user, user)
        except (SpaceError, StorageError) as error:
            return refused(request, error)
        return html("parts/revoked.html.jinja", event=event)

    shared: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    blocks.load(load, None, [who, form, organisation, submissions, tokens, timer], **shared)
    timer.tick(look, None, [submissions, timer], **shared)
    button.click(
        hand_in, [file, organisation], [outcome, file, submissions, timer], preprocess=False, api_visibility="private"
    )
    make.click(make_token, None, [token, outcome], **shared)
    revoke_one.click(revoke, [lost], [outcome], **shared)
    revoke_every.click(revoke_mine, None, [outcome], **shared)


def _accept(space: Space, path: Path | None, user: User, organisation: str) -> str:
    if path is None:
        mend = "choose a .zip file and wait until it is uploaded"
        raise SpaceError("UPLOAD_MISSING", "the form", "no file", "a .zip in the submission format", mend)
    accepted = space.intake.accept(path, user, organisation)
    return html("parts/accepted.html.jinja", standing=standing(space, accepted))


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


ROWS = 50
"""Maximum rows in the list: the last matches of the search."""
EVENTS = 30
ACTIONS = {
    "Withdraw the row": maintaining.withdraw,
    "Restore the row": maintaining.restore,
    "Release the row: let it have a rank": maintaining.release,
    "Mark as rerun by maintainers": maintaining.verify,
    "Take the verification back": maintaining.unverify,
}


def build_maintain(blocks: gr.Blocks, space: Space) -> None:
    """Fill the page and connect its events."""
    part("parts/maintain_about.html.jinja")
    who = part("parts/loading.html.jinja", elem_id="who")
    with gr.Column(visible=False, elem_id="maintaining") as form:
        entry = gr.Textbox(
            label="Entry", info="16 characters, from the list below or the address of a row", max_length=40
        )
        action = gr.Radio(list(ACTIONS), value=next(iter(ACTIONS)), label="Action", elem_id="action")
        reason = gr.Textbox(label="Reason", info="public and permanent", lines=2, max_length=maintaining.LONGEST)
        button = gr.Button("Apply", variant="primary", elem_id="act")
        outcome = part("", elem_id="outcome")
        words = gr.Textbox(label="Search the rows", info="searches entry, model, organisation and user", max_length=80)
        listed = part("", elem_id="rows")
        log = part("", elem_id="log")

    def shown(text: str) -> list[str]:
        return [_rows(space, text), _log(space)]

    def load(request: gr.Request) -> list[Any]:
        user = current_user(http(request))
        about = html("parts/maintain_who.html.jinja", user=user, maintains=user is not None and maintains(space, user))
        if user is None or not maintains(space, user):
            return [about, gr.Column(visible=False), "", ""]
        return [about, gr.Column(visible=True), *shown("")]

    def search(text: Any, request: gr.Request) -> str:
        try:
            _maintainer(space, request)
            return _rows(space, str(text or ""))
        except (SpaceError, StorageError) as error:
            return refused(request, error)

    def act(name: Any, what: Any, why: Any, text: Any, request: gr.Request) -> list[Any]:
        try:
            user = _maintainer(space, request)
            if str(what) not in ACTIONS:
                raise SpaceError("BAD_PARAMETER", "action", repr(what)[:80], " or ".join(ACTIONS), "choose one")
            event = ACTIONS[what](space.state, str(name or "").strip(), user, str(why or ""))
        except (SpaceError, StorageError) as error:
            return [refused(request, error), gr.skip(), gr.skip()]
        return [html("parts/done.html.jinja", event=event), *shown(str(text or ""))]

    hidden: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "preprocess": False}
    blocks.load(load, None, [who, form, listed, log], **hidden)
    words.submit(search, words, listed, **hidden)
    button.click(act, [entry, action, reason, words], [outcome, listed, log], **hidden)


def _maintainer(space: Space, request: gr.Request) -> User:
    user = asker(request)
    if not maintains(space, user):
        raise SpaceError("NOT_A_MAINTAINER", "maintaining", user.name, "a maintainer", "ask one of the maintainers")
    return user


def _rows(space: Space, text: str) -> str:
    space.state.refresh()
    wanted = (text or "").casefold().split()
    listed = []
    for entry in reversed(space.state.entries()):
        meta = entry.result.meta
        about = f"{entry.entry} {meta.get('model', '')} {meta.get('organisation', '')} {entry.user}".casefold()
        if all(word in about for word in wanted):
            listed.append(entry)
    return html("parts/maintain_rows.html.jinja", entries=listed[:ROWS], total=len(listed))


def _log(space: Space) -> str:
    events = list(space.storage.events(max(0, space.state.refresh() - EVENTS)))
    return html("parts/maintain_log.html.jinja", events=events[::-1])


def asker(request: gr.Request) -> User:
    """The signed-in user. SpaceError SIGN_IN_REQUIRED."""
    return required_user(http(request))


@contextmanager
def handed_in(path: str | None) -> Iterator[Path | None]:
    """The submitted file, if it exists; it is deleted afterwards. Check the user first."""
    file = None if path is None else Path(path)
    if file is None or not file.is_file():
        yield None
        return
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


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
    """An error as a part of the page, logged like any other."""
    refusal = as_space_error(http(request), error)
    note(http(request), refusal)
    return html("parts/refused.html.jinja", error=refusal)


PAGE_ROWS = 100
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
        page: int = 1,
    ) -> dict[str, Any]:
        """A page of a board's rows."""

        def read() -> dict[str, Any]:
            query = BoardQuery.read(QueryParams(page=str(page)), benchmark, standard)
            return data.board(space, query, PAGE_ROWS)

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
    try:
        return ask()
    except (SpaceError, StorageError, UsageError) as error:
        refusal = as_space_error(http(request), error)
        note(http(request), refusal)
        raise gr.Error(str(refusal), print_exception=False) from error
