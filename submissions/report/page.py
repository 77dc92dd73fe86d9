"""A report as one page without network or scripts: figures, tables, answers, methods, citations."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from fairspace.submissions.errors import plain
from fairspace.submissions.report.contents import Report
from fairspace.submissions.report.figure import SCALE, strips
from fairspace.submissions.report.headline import first_values, printed_like

FOLDED = frozenset({"values", "missing"})
"""Folded tables, which may have a hundred rows."""


def to_html(report: Report) -> str:
    """The report as HTML."""
    results, total = report.results, report.headlines[0].score
    shown = [first_values(result) for result in results]
    labels = report.names if len(results) > 1 or printed_like(results[0], total) else ()
    figure = strips(results, shown, labels, printed_like(results[0], total)).document()
    texts = {"caption": SCALE, "folded": FOLDED}
    return _template().render(report=report, figure=Markup(figure), **texts)  # noqa: S704 its texts are escaped


@lru_cache
def _template() -> Template:
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_plain
    )
    return environment.get_template("page.html.jinja")


def _plain(value: object) -> object:
    return plain(value) if type(value) is str else value
