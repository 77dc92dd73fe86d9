"""Shared by the events of Gradio's pages: the user, HTML from templates, and errors as a part of the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.requests import Request

from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT
from fairspace.leaderboard_space.web.identity import required_user
from fairspace.leaderboard_space.web.refusals import as_space_error, note


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
    """The request that an event came with."""
    assert request.request is not None
    return request.request


def html(template: str, **values: Any) -> str:
    """A part of a page in one line, which Markdown takes as one block of HTML."""
    return " ".join(ENVIRONMENT.get_template(template).render(values).split())


def part(template: str, elem_id: str | None = None, **values: Any) -> gr.Markdown:
    """A part of a page that an event may change; empty without a template.

    It is Markdown, as `gr.HTML` evaluates its content as a script's template, which our policy lets no page do; and the
    browser sanitises Markdown once more.
    """
    shown = html(template, **values) if template else ""
    return gr.Markdown(shown, elem_id=elem_id, elem_classes="ours", container=False)


def refused(request: gr.Request, error: Exception) -> str:
    """An error as a part of the page; it is logged like any other."""
    refusal = as_space_error(http(request), error)
    note(http(request), refusal)
    return html("parts/refused.html.jinja", error=refusal)
