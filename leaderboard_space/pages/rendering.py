"""Pages as answers: a rendered template, with headers that allow only this site's scripts."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from fairspace.leaderboard_space.boards.query import decimal
from fairspace.leaderboard_space.boards.telling import provenance_of, visibility
from fairspace.leaderboard_space.boards.text import coverage, prose, shown
from fairspace.leaderboard_space.boards.views import draft_of, named_standard
from fairspace.leaderboard_space.pages.markup import cell_content, chance, fold, measured
from fairspace.leaderboard_space.web.identity import current_user, is_maintainer
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.folded_facts import SENTENCES

HERE = Path(__file__).resolve().parents[1]
ASSETS = HERE / "assets"
ENVIRONMENT = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=select_autoescape(default=True, default_for_string=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,  # a template that changes under a running Space does not fit its code
)
ENVIRONMENT.globals.update(draft_of=draft_of, named_standard=named_standard)
ENVIRONMENT.globals.update(fold=fold, measured=measured, chance=chance, cell_content=cell_content)
ENVIRONMENT.filters.update(plain=plain, number=number, coverage=coverage, shown=shown, prose=prose)
ENVIRONMENT.filters.update(visibility=visibility, decimal=decimal, evidence_mark=provenance_of)
ENVIRONMENT.globals["fact_sentences"] = SENTENCES
HUB = "'self' https://huggingface.co"
"""Who may show a page in a frame: the Hub shows every Space in one, and no other Space may."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    f"connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors {HUB}"
)
"""Figures set styles in their elements, so styles may stand inline; no script may."""


@cache
def asset(name: str) -> str:
    """The address of a file in `assets`, which changes with its content, so that a browser may keep it for ever."""
    return f"/site/{hashlib.sha256((ASSETS / name).read_bytes()).hexdigest()[:12]}/{name}"


ENVIRONMENT.globals["asset"] = asset


def page(
    request: Request,
    template: str,
    *,
    status: int = 200,
    max_age: int = 0,
    **values: Any,
) -> Response:
    """A page.

    Args:
        request: what is answered; its user is shown in the head of the page.
        template: a file of `templates`.
        status: of the answer.
        max_age: seconds for which a browser may keep a page that shows no user.
        values: what the template shows. Submitted text goes through the filter `plain`; escaping is automatic.
    """
    return answer(
        request,
        render(request, template, **values),
        status=status,
        max_age=max_age,
    )


def render(request: Request, template: str, **values: Any) -> bytes:
    """A template with its values; arguments as for `page`."""
    user = current_user(request)
    shared = {"user": user, "maintainer": user is not None and is_maintainer(request, user), "path": request.url.path}
    return ENVIRONMENT.get_template(template).render(shared | values).encode()


def answer(
    request: Request,
    content: bytes,
    *,
    status: int = 200,
    max_age: int = 0,
) -> Response:
    """A rendered page, or 304 if the browser has it; arguments as for `page`."""
    tag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
    visitor = current_user(request) is None
    headers = {
        "Content-Security-Policy": POLICY,
        "Cache-Control": f"public, max-age={max_age}" if max_age and visitor else "private, no-cache",
        "ETag": tag,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Vary": "Cookie",
    }
    if status == 200 and request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, status, headers, "text/html; charset=utf-8")
