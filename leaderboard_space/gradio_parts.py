"""What the events of Gradio's pages share: who asks, HTML of our templates, and refusals as a part of the page."""

from __future__ import annotations

from typing import Any

import gradio as gr
from starlette.requests import Request

from leaderboard_space.identity import required_user
from leaderboard_space.intake import User
from leaderboard_space.pages.rendering import ENVIRONMENT
from leaderboard_space.refusals import as_space_error, note

_SIGNS = str.maketrans({"{": "&#123;", "}": "&#125;", "$": "&#36;", "`": "&#96;"})


def asker(request: gr.Request) -> User:
    """Who asks. SpaceError SIGN_IN_REQUIRED."""
    return required_user(http(request))


def http(request: gr.Request) -> Request:
    """The request that an event came with."""
    assert request.request is not None
    return request.request


def html(template: str, **values: Any) -> str:
    """A part of a page. Gradio reads HTML as a template once more, so it holds no sign that means anything there."""
    return ENVIRONMENT.get_template(template).render(values).translate(_SIGNS)


def refused(request: gr.Request, error: Exception) -> str:
    """A refusal as a part of the page; it leaves a line in the log as every other one does."""
    told = as_space_error(http(request), error)
    note(http(request), told)
    return html("parts/refused.html.jinja", error=told)
