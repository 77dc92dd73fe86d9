"""Text for the pages: submitted text made harmless for plots, our own Markdown, and numbers and states in words."""

from __future__ import annotations

import html
from functools import lru_cache

from markdown_it import MarkdownIt
from markupsafe import Markup

from submissions.faults import plain as plain
from submissions.values import Value

_MARKDOWN = MarkdownIt("commonmark").enable("table")


def shortened(text: str, most: int) -> str:
    """The text, cut to `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


@lru_cache(256)
def prose(text: str) -> Markup:
    """Our own Markdown as HTML; never for submitted text."""
    return Markup(_MARKDOWN.render(text))  # noqa: S704 our own text


def plot(text: str) -> str:
    """Submitted text for plotly, which reads a few HTML tags in names, labels and hover texts."""
    return html.escape(plain(text))


def number(value: float | None, digits: int, signed: bool = False) -> str:
    """A number with a true minus sign, '–' for None; never '-0.00'."""
    if value is None:
        return "–"
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "\N{MINUS SIGN}")


def shown(value: Value, digits: int = 4) -> str:
    """A value as it is printed, or its number; '–' without one."""
    if value.value is None:
        return "–"
    printed = value.evidence.get("printed")
    if isinstance(printed, str):
        return plain(printed).replace("-", "\N{MINUS SIGN}")
    return number(value.value, digits if abs(value.value) < 1000 else 1)


def coverage(value: Value) -> str:
    """'1 433 of 1 440 (99.5 %)', '–' where nothing is expected; never 100 % unless complete."""
    if value.coverage is None:
        return "–"
    percent = 100 * value.coverage
    rounded = f"{percent:.1f}" if value.valid == value.expected else f"{min(percent, 99.9):.1f}"
    thin = "\N{NARROW NO-BREAK SPACE}"
    return f"{value.valid:,} of {value.expected:,}".replace(",", thin) + f" ({rounded} %)"
