"""Markdown files of this project as pages: headings with anchors, scrollable tables, no HTML from the file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

ROOT = Path(__file__).parents[2]
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_UNSAFE = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Document:
    """A Markdown file as a page.

    Args:
        title: its first heading.
        html: the rest.
        headings: anchor -> text of the headings of the second level of the page, in order.
    """

    title: str
    html: Markup
    headings: dict[str, str]


@cache
def document(path: str, prefix: str = "") -> Document:
    """A file of the project, for example `cards/errata.md`. Its first heading is the page's; others stand below it.

    Args:
        path: from the root of the project.
        prefix: of the anchors, where several files stand on one page.
    """
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
                anchor = prefix + _anchor(following.content, anchors)
                token.attrSet("id", anchor)
                if following.content.lower() == anchor and following.content != anchor:
                    aliases[id(token)] = following.content
                if level == 2:
                    headings[anchor] = following.content
    return Document(title, Markup(_MARKDOWN.renderer.render(_framed(rest, aliases), _MARKDOWN.options, {})), headings)  # noqa: S704 our own file


def _anchor(text: str, taken: set[str]) -> str:
    """`E-IRIS-01` -> `e-iris-01`; a number is added where it is taken."""
    plain = _UNSAFE.sub("-", text.lower()).strip("-") or "part"
    anchor, number = plain, 2
    while anchor in taken:
        anchor, number = f"{plain}-{number}", number + 1
    taken.add(anchor)
    return anchor


def _framed(tokens: list[Token], aliases: dict[int, str]) -> list[Token]:
    """Put every table into a region that scrolls and takes the keyboard focus.

    A heading that is a name, such as E-IRIS-01, is found in capitals, too.
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
