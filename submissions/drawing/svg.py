"""An SVG image: lines, shapes, text and marks. All text is escaped, colours are those of a light page.

A page exchanges the colours for its own by style sheet (`[fill="#0072B2"]`), so a file and a page are the same bytes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from fairspace.submissions.errors import plain, web
from fairspace.submissions.plotting import GREY, INK

PAPER, LINE = "#ffffff", "#d5d9dd"
SIZE = 12.5
"""Of text, in pixels."""
_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[] -"), frozenset("mwMW%@—…")


def width_of(text: str, size: float = SIZE) -> float:
    """About how wide a text is in a sans-serif font, in pixels; rather more than less."""
    return size * sum(
        0.4
        if sign in _NARROW
        else 1.0
        if sign in _WIDE or unicodedata.east_asian_width(sign) in "WF"
        else 0.74
        if sign.isupper()
        else 0.63
        for sign in text
    )


def cut(text: str, room: float, size: float = SIZE) -> str:
    """The text without line breaks, and shortened so that it is no wider than `room` pixels."""
    text = plain(text)[: int(room / (0.4 * size)) + 2]  # no sign is narrower, so more would not fit
    if width_of(text, size) <= room:
        return text
    while text and width_of(text, size) + width_of("…", size) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def wrapped(text: str, room: float, size: float = SIZE) -> list[str]:
    """The text in lines that are no wider than `room` pixels."""
    lines: list[str] = []
    for word in plain(text).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(cut(word, room, size))
    return lines


class Svg:
    """An image that grows by what is drawn, the later above the earlier.

    Args:
        width: in pixels.
        title: what it shows, for readers who do not see it.
    """

    def __init__(self, width: float, title: str) -> None:
        self.width = width
        self.height = 0.0
        self.title = title
        self._parts: list[str] = []

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        colour: str = LINE,
        width: float = 1.0,
        dash: str = "",
        opacity: float = 1.0,
    ) -> None:
        """A straight line; `dash` as in SVG, such as '2 4'."""
        more = f' stroke-dasharray="{dash}"' if dash else ""
        more += f' stroke-opacity="{_short(opacity)}"' if opacity < 1 else ""
        ends = f'x1="{_short(x1)}" y1="{_short(y1)}" x2="{_short(x2)}" y2="{_short(y2)}"'
        self._parts.append(f'<line {ends} stroke="{colour}" stroke-width="{_short(width)}"{more}/>')

    def path(
        self,
        points: list[tuple[float, float]],
        colour: str = "none",
        fill: str = "none",
        width: float = 1.0,
        dash: str = "",
        opacity: float = 1.0,
    ) -> None:
        """A line through points, closed where it is filled."""
        way = "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in points) + ("Z" if fill != "none" else "")
        more = f' stroke-dasharray="{dash}"' if dash else ""
        more += f' fill-opacity="{_short(opacity)}"' if fill != "none" and opacity < 1 else ""
        stroke = f' stroke="{colour}" stroke-width="{_short(width)}"' if colour != "none" else ""
        self._parts.append(f'<path d="{way}" fill="{fill}"{stroke}{more}/>')

    def box(self, x: float, y: float, width: float, height: float, fill: str, opacity: float = 1.0) -> None:
        """A filled rectangle."""
        more = f' fill-opacity="{_short(opacity)}"' if opacity < 1 else ""
        size = f'x="{_short(x)}" y="{_short(y)}" width="{_short(width)}" height="{_short(height)}"'
        self._parts.append(f'<rect {size} fill="{fill}"{more}/>')

    def symbol(self, x: float, y: float, colour: str, kind: str = "circle", size: float = 4.5) -> None:
        """A mark's shape; `kind` is one of `SHAPES`, with `-open` for its outline alone."""
        name, _, outline = kind.partition("-")
        look = f'fill="{PAPER}" stroke="{colour}" stroke-width="2"' if outline else f'fill="{colour}"'
        if name == "circle":
            self._parts.append(f'<circle cx="{_short(x)}" cy="{_short(y)}" r="{_short(size)}" {look}/>')
            return
        way = "M" + "L".join(f"{_short(x + size * a)} {_short(y + size * b)}" for a, b in SHAPES[name])
        if name in ("cross", "tick"):
            way = "M".join(
                f"{_short(x + size * a)} {_short(y + size * b)}L{_short(x + size * c)} {_short(y + size * d)}"
                for (a, b), (c, d) in zip(SHAPES[name][::2], SHAPES[name][1::2], strict=True)
            )
            self._parts.append(f'<path d="M{way}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
            return
        self._parts.append(f'<path d="{way}Z" {look}/>')

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        colour: str = INK,
        size: float = SIZE,
        anchor: str = "start",
        bold: bool = False,
        turned: bool = False,
        halo: bool = False,
    ) -> None:
        """Text whose middle line is at `y`; with `halo`, lines below it are covered."""
        look = "" if size == SIZE else f' font-size="{_short(size)}"'
        look += "" if anchor == "start" else f' text-anchor="{anchor}"'
        look += ' font-weight="600"' if bold else ""
        look += f' stroke="{PAPER}" stroke-width="3" paint-order="stroke"' if halo else ""
        look += f' transform="rotate(-90 {_short(x)} {_short(y)})"' if turned else ""
        content = web(text)
        where = f'x="{_short(x)}" y="{_short(y + 0.35 * size)}"'
        self._parts.append(f'<text {where} fill="{colour}"{look}>{content}</text>')

    @contextmanager
    def mark(self, text: str, href: str = "") -> Iterator[None]:
        """What is drawn within stands for one value: `text` names it, and `href` is where a click leads."""
        title = f"<title>{web(text)}</title>"
        tag = f'<a class="mark" href="{web(href)}">' if href else '<g class="mark">'
        self._parts.append(tag + title)
        yield
        self._parts.append("</a>" if href else "</g>")

    def reach(self, x: float, y: float, width: float, height: float) -> None:
        """Room around a mark in which a pointer or a finger meets it."""
        self.box(x, y, width, height, PAPER, 0)

    def _repr_svg_(self) -> str:
        """The image in a notebook."""
        return self.document()

    def document(self, site: str = "") -> str:
        """The image as a file; links begin with `site`."""
        size = f'width="{_short(self.width)}" height="{_short(self.height)}"'
        view = f'viewBox="0 0 {_short(self.width)} {_short(self.height)}"'
        body = "".join(self._parts)
        if site:
            body = body.replace('href="/', f'href="{web(site)}/')
        font = 'font-family="system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, Helvetica, Arial, sans-serif"'
        ground = f'<rect class="ground" width="100%" height="100%" fill="{PAPER}"/>'
        title = f"<title>{web(self.title)}</title>"
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view} {font} font-size="{SIZE}">'
        return f"{head}{title}{ground}{body}</svg>\n"


SHAPES = {
    "diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "right": ((-0.8, -1.0), (1.1, 0), (-0.8, 1.0)),
    "left": ((0.8, -1.0), (-1.1, 0), (0.8, 1.0)),
    "up": ((-1.0, 0.8), (0, -1.1), (1.0, 0.8)),
    "cross": ((-0.9, -0.9), (0.9, 0.9), (-0.9, 0.9), (0.9, -0.9)),
    "tick": ((0, -1.9), (0, 1.9)),
}
"""Shape -> its corners around its middle, in units of its size; a circle has none."""


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0") if abs(number) >= 10 or number == int(number) else f"{number:.2f}"


def legend(svg: Svg, entries: dict[str, tuple[str, str]], x: float, y: float, width: float) -> float:
    """Name -> colour and shape, in as many lines as they need; returns where they end."""
    place, line = x, y + 10
    for name, (colour, kind) in entries.items():
        shown = cut(name, width - 30)
        needed = 16 + width_of(shown) + 16
        if place > x and place + needed > x + width:
            place, line = x, line + 20
        if kind == "line":
            svg.line(place, line, place + 11, line, colour, 2, "2 3")
        else:
            svg.symbol(place + 5, line, colour, kind)
        svg.text(place + 16, line, shown, colour=GREY)
        place += needed
    return line + 14 if entries else y
