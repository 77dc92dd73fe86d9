"""`/submit`: sign-in, the submission form, the user's submissions, and a token for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.gradio_pages.parts import asker, handed_in, html, http, part, refused
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.pages.submission import standing
from fairspace.leaderboard_space.revoking import revoke_all, revoke_token
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.storage import StorageError
from fairspace.leaderboard_space.web.identity import current_user
from fairspace.leaderboard_space.web.sign_in import LOGIN, LOGOUT, signs_in
from fairspace.leaderboard_space.web.tokens import DAYS, token_id

OWN = 20
"""Submissions of one's own that are listed, the last ones."""
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
    """The user's submissions as HTML, and whether one of them waits."""
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
