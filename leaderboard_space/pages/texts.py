"""Pages of text: errata, meaning of a rank, how to submit, about, and the API's documentation."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from posixpath import dirname, normpath
from typing import Any, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from fairspace.leaderboard_space.boards.models import known_models
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.boards.words import linked
from fairspace.leaderboard_space.errors import REFUSALS
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import DAYS, site_of, space_of
from fairspace.submissions.answers.misreading import measured_errors
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.reading.containers import Limits
from fairspace.submissions.results.row import CLASSES

ROOT = Path(__file__).parents[2]
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_UNSAFE = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class Document:
    """A Markdown file as a page. `headings`: anchor -> text of its second-level headings, in order."""

    title: str
    html: Markup
    headings: dict[str, str]


DOCUMENTS = {
    "/errata": "cards/errata.md",
    "/trust": "leaderboard_space/TRUST.md",
    "/format": "submissions/FORMAT.md",
    "/running": "submissions/RUNNING.md",
    "/examples": "submissions/EXAMPLES.md",
}
"""Address -> its Markdown file."""
_PAGES = {file: address for address, file in DOCUMENTS.items()} | {"README.md": "/how-to-submit"}


@cache
def document(path: str) -> Document:
    """A file of the project, for example `cards/errata.md`; its links lead to pages, or are plain text."""
    tokens = _MARKDOWN.parse((ROOT / path).read_text(encoding="utf-8"))
    title = tokens[1].content
    rest = tokens[3:]
    lowest = min((int(token.tag[1]) for token in rest if token.type == "heading_open"), default=2)
    headings: dict[str, str] = {}
    anchors: set[str] = set()
    aliases: dict[int, str] = {}
    for token, following in zip(rest, [*rest[1:], None], strict=True):
        if token.type in ("heading_open", "heading_close"):
            level = min(int(token.tag[1]) - lowest + 2, 6)
            token.tag = f"h{level}"
            if token.type == "heading_open" and following is not None:
                anchor = _anchor(following.content, anchors)
                token.attrSet("id", anchor)
                if following.content.lower() == anchor and following.content != anchor:
                    aliases[id(token)] = following.content
                if level == 2:
                    headings[anchor] = following.content
    html = Markup(_MARKDOWN.renderer.render(_framed(_led(rest, dirname(path)), aliases), _MARKDOWN.options, {}))  # noqa: S704 our own file
    return Document(title, linked(html), headings)


def _led(tokens: list[Token], folder: str) -> list[Token]:
    """Lead links to files to their pages; hide those to files without a page."""
    for token in tokens:
        hidden = False
        for child in token.children or ():
            if child.type == "link_open":
                file, mark, anchor = str(child.attrs["href"]).partition("#")
                address = file if not file or ":" in file else _PAGES.get(normpath(f"{folder}/{file}"))
                hidden = address is None
                child.attrs["href"] = f"{address}{mark}{anchor}"
            child.hidden = hidden and child.type in ("link_open", "link_close")
    return tokens


def _anchor(text: str, taken: set[str]) -> str:
    """`E-IRIS-01` -> `e-iris-01`, as GitHub's, with a number if it is taken."""
    plain = _UNSAFE.sub("", text.lower()).strip().replace(" ", "-") or "part"
    anchor, number = plain, 2
    while anchor in taken:
        anchor, number = f"{plain}-{number}", number + 1
    taken.add(anchor)
    return anchor


def _framed(tokens: list[Token], aliases: dict[int, str]) -> list[Token]:
    """Put every table into a region that scrolls and takes the keyboard focus.

    Headings that are names, such as E-IRIS-01, can also be linked to in capitals.
    """
    framed: list[Token] = []
    number = 0
    for token in tokens:
        if token.type == "table_open":
            number += 1
            label = {"class": "scroll", "role": "region", "aria-label": f"Table {number}", "tabindex": "0"}
            framed.append(Token("div_open", "div", 1, attrs=dict(label), block=True))
        if id(token) in aliases:
            framed.append(Token("span_open", "span", 1, attrs={"id": aliases[id(token)]}))
            framed.append(Token("span_close", "span", -1))
        framed.append(token)
        if token.type == "table_close":
            framed.append(Token("div_close", "div", -1, block=True))
    return framed


router = APIRouter(include_in_schema=False)
ROBOTS = """User-agent: *
Disallow: /submission/
Disallow: /download/
Disallow: /figures/
Disallow: /gradio_api/
Disallow: /api/v1/submissions
"""
_FOR_LANGUAGE_MODELS = """# fairspace

> Boards of four published benchmarks of the fairness of generative models. Every value is a number with an interval,
> *undefined* or *not run*, with a reason; what is missing counts as the worst that it could have been. Labels are
> perceived presentation, with error. A score is of these prompts, and never says that a use of a model is fair.
"""
_READ = ("/about", "/standards", "/how-to-submit", "/api", *DOCUMENTS)
"""Pages of text."""


def _document(request: Request) -> Response:
    """A Markdown file as a page, with anchors such as `#e-iris-02`."""
    return page(request, "document.html.jinja", document=document(DOCUMENTS[request.url.path]))


for _address in DOCUMENTS:
    router.add_api_route(_address, _document)


@router.get("/how-to-submit")
def how_to_submit(request: Request) -> Response:
    """The steps with their commands, limits and quotas, visibility and ethics."""
    return page(
        request,
        "how_to_submit.html.jinja",
        settings=space_of(request).settings,
        limits=Limits(),
        views=VIEWS.values(),
        tasks={name: find_benchmark(name).task_names() for name in VIEWS},
        address=site_of(request),
    )


@router.get("/robots.txt")
def robots(request: Request) -> Response:
    """Addresses that crawlers should not read, and where those that they should are listed."""
    text = f"{ROBOTS}Sitemap: {site_of(request)}/sitemap.xml\n"
    return Response(text, media_type="text/plain")


@router.get("/llms.txt")
def llms(request: Request) -> Response:
    """Where a language model finds boards, what their numbers mean, and the API; see llmstxt.org."""
    site = site_of(request)
    lines = [_FOR_LANGUAGE_MODELS, "## Boards"]
    for name, view in VIEWS.items():
        line = f"- [{view.words.title}]({site}/board/{name}): {view.words.question}"
        lines.append(f"{line} As JSON: {site}/api/v1/boards/{name}")
    lines += ["\n## What numbers mean, and how to hand in", *(f"- [{path[1:]}]({site}{path})" for path in _READ)]
    lines += ["\n## API", f"- [OpenAPI]({site}/api/v1/openapi.json): calls, with shortened answers of a real Space\n"]
    return Response("\n".join(lines), media_type="text/plain")


@router.get("/sitemap.xml")
def sitemap(request: Request) -> Response:
    """The boards, the models that we or a paper ran, and the pages of text."""
    models = (f"/models/{quote(model.slug)}" for model in known_models(space_of(request).state))
    pages = ["/", *(f"/{kind}/{name}" for kind in ("board", "compare") for name in VIEWS), *models, *_READ]
    places = "".join(f"<url><loc>{escape(site_of(request) + page)}</loc></url>" for page in pages)
    text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
    return Response(text, media_type="application/xml")


@router.get("/about")
def about(request: Request) -> Response:
    """About the boards: terms, and what scores do not show."""
    readers = measured_errors().values()
    return page(request, "about.html.jinja", views=VIEWS.values(), classes=CLASSES, readers=readers)


EXAMPLES = {"benchmark": "iris", "entry": "p-01", "name": "0f1e2d3c4b5a69788796", "action": "withdraw"}
"""Example values of parts of an address."""
SCORED = "f0e1d2c3b4a59687"
"""Example entry of a row that was scored here, if this Space has none yet."""


class ApiCall(NamedTuple):
    """One call of the API, with an example."""

    method: str
    path: str
    about: str
    curl: str


@router.get("/api")
def api_page(request: Request) -> Response:
    """The calls with examples for curl."""
    address = site_of(request)
    shown = (entry for entry in space_of(request).state.entries() if entry.withdrawn is None)
    scored = next(((entry.benchmark, entry.entry) for entry in shown), (EXAMPLES["benchmark"], SCORED))
    return page(
        request,
        "api.html.jinja",
        calls=calls(request.app.openapi(), address, scored),
        address=address,
        codes=sorted((status, code, meaning) for code, (status, meaning) in REFUSALS.items()),
        days=DAYS,
    )


def calls(document: Mapping[str, Any], address: str, scored: tuple[str, str]) -> list[ApiCall]:
    """Every call of an OpenAPI document. `scored`: benchmark and entry for calls without answers for printed rows."""
    examples = []
    for path, operations in document["paths"].items():
        of_scored = path.endswith(("/result", "/{action}"))
        parts = EXAMPLES | dict(zip(("benchmark", "entry"), scored, strict=True)) if of_scored else EXAMPLES
        for method, operation in operations.items():
            words = ["curl"]
            if method == "post":
                words += ["-H", "X-Fairspace-Token: TOKEN"]
                is_upload = path.endswith("/submissions")
                words += ["--data-binary", "@my-submission.zip"] if is_upload else ["--json", '{"reason": "why"}']
            curl = shlex.join([*words, address + path.format_map(parts)])
            examples.append(ApiCall(method.upper(), path, operation["description"], curl))
    return examples
