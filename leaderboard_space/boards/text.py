"""Text for pages: this project's Markdown, and numbers and states in words."""

from __future__ import annotations

from functools import lru_cache

from markdown_it import MarkdownIt
from markupsafe import Markup

from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.values import Value

_MARKDOWN = MarkdownIt("commonmark").enable("table")


def shortened(text: str, most: int) -> str:
    """The text, cut to `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


@lru_cache(256)
def prose(text: str) -> Markup:
    """Markdown of this project as HTML; never for submitted text."""
    return Markup(_MARKDOWN.render(text))  # noqa: S704 our own text


def printed_digits(printed: str) -> int:
    """Decimals of a printed number in the unit of the scorer: a printed percentage is a share."""
    decimals = len(printed.removesuffix("%").strip().partition(".")[2])
    return decimals + 2 if printed.endswith("%") else decimals


def shown(value: Value, digits: int = 4) -> str:
    """A value with its printed digits in the unit of the scorer, or its number; '–' without one."""
    if value.value is None:
        return "–"
    printed = value.evidence.get("printed")
    if isinstance(printed, str) and not printed.endswith("%"):
        return plain(printed).replace("-", "\N{MINUS SIGN}")
    if isinstance(printed, str):
        below = printed.startswith("<")
        share = float(printed.strip("<% ")) / 100 if below else value.value
        return ("<" if below else "") + number(share, printed_digits(printed))
    return number(value.value, digits if abs(value.value) < 1000 else 1)


def coverage(value: Value) -> str:
    """'1 433 of 1 440 (99.5 %)', '–' where nothing is expected; never 100 % unless complete."""
    if value.coverage is None:
        return "–"
    percent = 100 * value.coverage
    rounded = f"{percent:.1f}" if value.valid == value.expected else f"{min(percent, 99.9):.1f}"
    thin = "\N{NARROW NO-BREAK SPACE}"
    return f"{value.valid:,} of {value.expected:,}".replace(",", thin) + f" ({rounded} %)"
