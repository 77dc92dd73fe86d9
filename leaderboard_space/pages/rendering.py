"""Pages as answers: a rendered template, with headers that allow only this site's scripts."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from fairspace.builders.registry import paper
from fairspace.leaderboard_space.boards.table import BoardColumn, Strip, TableCell
from fairspace.leaderboard_space.boards.view import remarks
from fairspace.leaderboard_space.boards.views import VIEWS, draft_of, named_standard
from fairspace.leaderboard_space.boards.words import linked, prose, provenance_of, shown, visibility
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import SENTENCES, coverage
from fairspace.submissions.values import Value
from fairspace.submissions.version import VERSION


def thin(value: Value) -> str:
    """The coverage of a value with thin spaces in its numbers."""
    return coverage(value).replace(",", "\N{NARROW NO-BREAK SPACE}")


_TERMS = {name: f"<dt>{escape(name)}</dt>" for name in (*SENTENCES, "Source", "No rank")}


def fold(facts: Mapping[str, str], what: str) -> Markup:
    """The folded facts of a value, named `what`; repeated sentences stand once on the page."""
    about = f'<summary>More<span class="visually-hidden"> about {escape(what)}</span></summary>'
    terms = "".join([f"{_TERMS[name]}<dd>{escape(text)}</dd>" for name, text in facts.items()])
    return Markup(f'<details class="fold">{about}\n<dl tabindex="0">{terms}</dl></details>\n')  # noqa: S704 escaped


def cell_content(cell: TableCell) -> Markup:
    """The content of a board's cell."""
    kind = "state" if cell.missing else "score"
    parts = [_span(kind, cell.text) if cell.missing or cell.facts else escape(cell.text)]
    if cell.note:
        parts.append(Markup('<sup><a href="#note-{0}" aria-label="Note {0}">{0}</a></sup>').format(cell.note))
    if cell.sure:
        parts.append(_span("below sure", cell.sure))
    if cell.biased:
        parts.append(_span("below biased", "beyond chance"))
    if cell.strip:
        parts.append(_strip(cell.strip))
    if cell.below:
        parts.append(_span("below", cell.below))
    return Markup("").join(parts)


def _strip(strip: Strip) -> Markup:
    ends = f"--a:{strip.low}%;--b:{strip.high}%;--at:{strip.at}%"
    sure = f'<i style="--a:{strip.sure[0]}%;--b:{strip.sure[1]}%"></i>' if strip.sure else ""
    return Markup(f'<span class="strip{" beyond" * strip.beyond}{" cut" * strip.cut}" style="{ends}">{sure}</span>')  # noqa: S704 numbers


def _span(name: str, text: str) -> Markup:
    return Markup(f'<span class="{escape(name)}">{escape(text)}</span>')  # noqa: S704 escaped


def searched(row: Row) -> Markup:
    """The properties of a row that `board.js` filters by, as attributes."""
    facts = row.facts
    fields = {
        "q": f"{plain(row.model)} {plain(row.organisation)}".casefold(),
        "provenance": provenance_of(row),
        "licence": plain(facts.licence).strip(),
        "architecture": plain(facts.architecture).strip(),
        "open_weights": {True: "yes", False: "no", None: ""}[facts.open_weights],
        "task": " ".join(facts.tasks),
        "size": "" if facts.parameters is None else f"{facts.parameters:g}",
        "ranked": "" if row.rank is None else "1",
    }
    return Markup("").join(Markup(' data-{}="{}"').format(name, text) for name, text in fields.items() if text)


def sort_key(column: BoardColumn, row: Row) -> Markup:
    """The key of a cell by which `board.js` sorts; none where a row stands last."""
    key = column.sort_by(row)
    return Markup("") if key is None else Markup(' data-key="{}"').format(key)


HERE = Path(__file__).absolute().parents[1]  # in a snapshot of the Hub each file is a link
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
ENVIRONMENT.globals.update(fold=fold, cell_content=cell_content, sort_key=sort_key)
ENVIRONMENT.filters.update(plain=plain, number=number, coverage=thin, shown=shown, prose=prose, linked=linked)
ENVIRONMENT.filters.update(visibility=visibility, searched=searched, evidence_mark=provenance_of, remarks=remarks)
ENVIRONMENT.globals.update(fact_sentences=SENTENCES, papers={name: paper(name) for name in VIEWS}, version=VERSION)
HUB = "'self' https://huggingface.co"
"""Frame ancestors: the Hub shows every Space in a frame; other sites may not."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    f"connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors {HUB}"
)
"""Content security policy: inline styles for figures, no inline scripts."""


@cache
def asset(name: str) -> str:
    """The address of a file in `assets`, which changes with its content for unlimited caching."""
    return f"/site/{hashlib.sha256((ASSETS / name).read_bytes()).hexdigest()[:12]}/{name}"


ENVIRONMENT.globals["asset"] = asset


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """A page from a file of `templates`. Submitted text goes through the filter `plain`; escaping is automatic."""
    space = space_of(request)
    shared: dict[str, Any] = {"path": request.url.path, "site": space.settings.site(), "log": space.state.last}
    content = ENVIRONMENT.get_template(template).render(shared | values)
    headers = {
        "Content-Security-Policy": POLICY,
        "Cache-Control": "private, no-store",
        "Referrer-Policy": "same-origin",
    }
    return Response(content, status, headers, "text/html; charset=utf-8")
