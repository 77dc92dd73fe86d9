"""An SVG image: lines, shapes, text, marks and linear axes. All text is escaped, colours are those of a light page.

A page exchanges the colours for its own by style sheet (`[fill="#0072B2"]`), so a file and a page are the same bytes.
"""

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from fairspace.submissions.errors import plain, web
from fairspace.submissions.plotting import GREY, INK, number

PAPER, LINE = "#ffffff", "#d5d9dd"
SIZE = 12.5
"""Text size in pixels."""
_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[] -"), frozenset("mwMW%@—…")


def width_of(text: str, size: float = SIZE) -> float:
    """Approximate width of a text in a sans-serif font, in pixels, rounded up."""
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
    """The text without line breaks, shortened to `room` pixels."""
    text = plain(text)[: int(room / (0.4 * size)) + 2]  # no sign is narrower, so more would not fit
    if width_of(text, size) <= room:
        return text
    while text and width_of(text, size) + width_of("…", size) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def wrapped(text: str, room: float) -> list[str]:
    """The text in lines that are no wider than `room` pixels."""
    lines: list[str] = []
    for word in plain(text).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(cut(word, room))
    return lines


class Svg:
    """An image; later elements cover earlier ones. `title` describes it to screen readers."""

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

    def path(self, points: list[tuple[float, float]], colour: str, width: float = 1.0, dash: str = "") -> None:
        """A line through points."""
        way = "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
        more = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(f'<path d="{way}" fill="none" stroke="{colour}" stroke-width="{_short(width)}"{more}/>')

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
        """Group the elements drawn within as one value, named `text` and linked to `href`."""
        title = f"<title>{web(text)}</title>"
        tag = f'<a class="mark" href="{web(href)}">' if href else '<g class="mark">'
        self._parts.append(tag + title)
        yield
        self._parts.append("</a>" if href else "</g>")

    def reach(self, x: float, y: float, width: float, height: float) -> None:
        """An invisible box around a mark that a pointer or a finger can hit."""
        self.box(x, y, width, height, PAPER, 0)

    def _repr_svg_(self) -> str:
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


def side_by_side(title: str, images: Sequence[Svg], columns: int) -> Svg:
    """Images of one width as one, in rows of so many columns."""
    svg = Svg(columns * images[0].width, title)
    for first in range(0, len(images), columns):
        row = images[first : first + columns]
        for place, image in enumerate(row):
            moved = f"translate({_short(place * image.width)} {_short(svg.height)})"
            svg._parts += [f'<g transform="{moved}">', *image._parts, "</g>"]
        svg.height += max(image.height for image in row) + 12
    return svg


SHAPES = {
    "diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "right": ((-0.8, -1.0), (1.1, 0), (-0.8, 1.0)),
    "left": ((0.8, -1.0), (-1.1, 0), (0.8, 1.0)),
    "up": ((-1.0, 0.8), (0, -1.1), (1.0, 0.8)),
    "cross": ((-0.9, -0.9), (0.9, 0.9), (-0.9, 0.9), (0.9, -0.9)),
    "tick": ((0, -1.9), (0, 1.9)),
}
"""Shape -> corners around its middle, in units of its size; a circle has none."""


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0") if abs(number) >= 10 or number == int(number) else f"{number:.2f}"


def legend(svg: Svg, entries: dict[str, tuple[str, str]], x: float, y: float, width: float) -> float:
    """Draw name -> colour and shape, in as many lines as needed, and return the lower end."""
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


@dataclass(frozen=True)
class Axis:
    """A linear axis: the numbers from `low` to `high` between the pixels `start` and `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Pixel of a number; one beyond an end stands at that end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether the axis reaches a number."""
        return self.low <= value <= self.high

    def ticks(self, apart: float = 70.0) -> list[float]:
        """Round numbers, about `apart` pixels from each other."""
        room = max(1.0, abs(self.end - self.start) / apart)
        step = _round_step((self.high - self.low) / room)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [place * step for place in range(first, last + 1)]

    def labels(self, apart: float = 70.0) -> list[tuple[float, str]]:
        """Pixel and text of every tick."""
        ticks = self.ticks(apart)
        step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return [(self(tick), number(tick, digits)) for tick in ticks]


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= least * (1 - 1e-9))


def span(numbers: Iterable[float], *, zero: bool = False) -> tuple[float, float]:
    """The ends of an axis that holds all numbers with some room; from 0 on, or to 0, with `zero`."""
    places = [*numbers, *([0.0] if zero else [])]
    low, high = min(places, default=0.0), max(places, default=1.0)
    room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    if zero and low == high == 0:
        return 0.0, 1.0
    return (low if zero and low == 0 else low - room), (high if zero and high == 0 else high + room)


def upright(svg: Svg, axis: Axis, top: float, bottom: float, title: str = "") -> float:
    """Draw a horizontal axis's grid lines with numbers and a title below, and return the lower end."""
    for x, text in axis.labels():
        svg.line(x, top, x, bottom, GREY if text == "0" and axis.low < 0 else LINE)
        svg.text(x, bottom + 12, text, colour=GREY, size=11.5, anchor="middle")
    if title:
        shown = cut(title, axis.end)
        middle = min((axis.start + axis.end) / 2, axis.end - width_of(shown) / 2)
        svg.text(middle, bottom + 30, shown, colour=GREY, anchor="middle")
    return bottom + (40 if title else 22)
