"""`/maintain`: maintainers withdraw, restore, release or verify a row, and see the latest events."""

from __future__ import annotations

from typing import Any

import gradio as gr

from fairspace.leaderboard_space import maintaining
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.gradio_pages.parts import asker, html, http, part, refused
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.storage import StorageError
from fairspace.leaderboard_space.web.identity import current_user, maintains

ROWS = 50
"""Rows that are listed: the last ones in which the search finds its words."""
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
    """The signed-in maintainer. SpaceError SIGN_IN_REQUIRED, NOT_A_MAINTAINER."""
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
