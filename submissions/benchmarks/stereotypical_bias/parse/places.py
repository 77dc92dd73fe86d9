"""Boxes and points of an answer, as fractions of the picture.

The format decides the scale (MiniGPT writes hundredths, Qwen-VL and CogVLM thousandths, PaliGemma 1024ths, Kosmos-2
cells of a grid, Qwen2.5-VL pixels); of several scales the first counts in which the box lies inside of the picture and
is large enough. Corners may be given in any order.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from re import Match
from typing import Literal

from fairspace.submissions.answers.reading import Span

Order = Literal["xyxy", "yxyx", "grid", "xy", "yx"]
Scale = Literal["fractions", "pixels", "thousandths", "percent", "1024ths"]
Scales = tuple[Scale, ...]

ANY: Scales = ("fractions", "pixels", "thousandths", "percent")
THOUSAND: Scales = ("fractions", "thousandths", "pixels")
PIXELS: Scales = ("fractions", "pixels", "thousandths")


@dataclass(frozen=True)
class Format:
    """A notation of a box or a point: a pattern with numbers as its groups, and their order and likely scales.

    The order `grid` stands for two cells of 32 x 32, the first and the last.
    """

    name: str
    pattern: re.Pattern[str]
    order: Order
    scales: Scales
    label_follows: bool = False


NUMBER = r"\s{0,3}(-?\d{1,5}(?:\.\d{1,9})?)\s{0,3}(?:%|px)?\s{0,3}"
SEPARATOR = r"(?:[,;]|(?<=[\s%x]))"
_PAIR = rf"[(\[]{NUMBER},{NUMBER}[)\]]"
_FOUR = SEPARATOR.join([NUMBER] * 4)
_BEGIN = r"<(?:\|box_start\||box|bbox|bounding_box|\|det\||\|box\|)>"
_END = r"(?:</(?:box|bbox|bounding_box)>|<\|(?:box_end|/det|/box)\|>)"
_COORDINATE = r"[\"']?(\d{1,4}(?:\.\d{1,9})?)[\"']?"


def _format(name: str, pattern: str, order: Order, scales: Scales, label_follows: bool = False) -> Format:
    return Format(name, re.compile(pattern, re.IGNORECASE), order, scales, label_follows)


TOKENS = (
    _format("minigpt", r"\s{0,3}".join([rf"<{NUMBER}>"] * 4), "xyxy", ("percent", "thousandths")),
    _format("paligemma", r"\s?".join([r"<loc(\d{4})>"] * 4), "yxyx", ("1024ths",), label_follows=True),
    _format("florence", r"\s?".join([r"<loc_(\d{1,4})>"] * 4), "xyxy", ("thousandths",)),
    _format("ofa", r"\s?".join([r"<bin_(\d{1,4})>"] * 4), "xyxy", ("thousandths",)),
    _format("kosmos", r"<patch_index_(\d{1,4})>\s?<patch_index_(\d{1,4})>", "grid", ("fractions",)),
    _format(
        "box token",
        rf"{_BEGIN}\s{{0,3}}[(\[]{{0,3}}{NUMBER}{SEPARATOR}{NUMBER}[)\]]?[,;]?\s{{0,3}}"
        rf"[(\[]?{NUMBER}{SEPARATOR}{NUMBER}[)\]]{{0,3}}\s{{0,3}}(?:{_END}|\Z)",
        "xyxy",
        THOUSAND,
    ),
    _format(
        "point tag",
        rf"<point[^<>]{{0,60}}?\bx\s?=\s?{_COORDINATE}[^<>]{{0,40}}?\by\s?=\s?{_COORDINATE}",
        "xy",
        ("percent", "thousandths"),
    ),
    _format(
        "point token",
        rf"<(?:\|?point(?:_start)?\|?|click)>\s{{0,3}}[(\[]{{0,3}}{NUMBER}{SEPARATOR}{NUMBER}[)\]]{{0,3}}",
        "xy",
        ("fractions", "thousandths", "percent", "pixels"),
    ),
)
"""Formats with tokens of their own."""
COGVLM = re.compile(r"\[\[([\d\s.,;]{7,400})\]\]")
COGVLM_BOX = re.compile(_FOUR)
MOLMO_POINTS = re.compile(r"<points[^<>]{0,600}")
MOLMO_POINT = re.compile(rf"\bx\d{{1,2}}\s?=\s?{_COORDINATE}\s{{1,3}}y\d{{1,2}}\s?=\s?{_COORDINATE}")
LIST = _format("list", rf"[(\[]{{1,3}}{_FOUR}[)\]]{{1,3}}", "xyxy", ANY)
CORNERS = _format("corners", rf"{_PAIR}[^\d()\[\]{{}}<>]{{0,60}}{_PAIR}", "xyxy", ANY)
NUMBERS = _format(
    "numbers", rf"\A\W{{0,9}}(?:(?:(?:b|bounding )?box|coordinates)\W{{1,5}})?{_FOUR}\W{{0,9}}\Z", "xyxy", ANY
)
PAIR = _format("point", _PAIR, "xy", ANY)
KEYS: dict[str, tuple[Order, Scales]] = {
    "bbox_2d": ("xyxy", PIXELS),
    "box_2d": ("yxyx", THOUSAND),
    "point": ("yx", THOUSAND),
    "point_2d": ("xy", PIXELS),
}
"""Key in JSON -> order and scales: Qwen2.5-VL and Qwen3-VL, Gemini, Gemini, Qwen2.5-VL."""
KEY = re.compile(r"([a-z_]\w{0,30})[\"']?\s{0,3}[:=]\s{0,3}[\[(\s]{0,4}\Z", re.IGNORECASE)
"""Text before a list."""
NAMED = re.compile(
    r"(?<![a-z_])(x_?min|x_?max|y_?min|y_?max|x_?[0-2]|y_?[0-2]|x|y|w|h|width|height|left|top|right|bottom)"
    rf"[\"']?\s{{0,3}}[:=]{NUMBER}",
    re.IGNORECASE,
)
ENDS = {
    **dict.fromkeys(("xmin", "x1", "x0", "x", "left"), "x1"),
    **dict.fromkeys(("ymin", "y1", "y0", "y", "top"), "y1"),
    **dict.fromkeys(("xmax", "x2", "right"), "x2"),
    **dict.fromkeys(("ymax", "y2", "bottom"), "y2"),
    **dict.fromkeys(("w", "width"), "w"),
    **dict.fromkeys(("h", "height"), "h"),
}
RANGE = re.compile(
    rf"\b(?:x|horizontal(?:ly)?|width)\b[^\d\n]{{0,25}}?{NUMBER}(?:to|-|and|through){NUMBER}", re.IGNORECASE
)
"""`x from 2% to 48%`."""
RANGE_OF = re.compile(
    rf"{NUMBER}(?:to|-|–|and|through){NUMBER}(?:of|along|across) (?:the )?(?:[a-z]+'s )?(?:(?:image|picture|total|full|"
    r"horizontal) ){0,2}(?:width|x-?axis|horizontal)",
    re.IGNORECASE,
)
"""`2% to 48% of the width`."""
LABELS = re.compile(r"\blabels?[\"']?\s{0,3}:\s{0,3}\[([^\]]{1,500})\]", re.IGNORECASE)
LABEL = re.compile(r"[^,]{1,60}")
CORNER_WORDS = re.compile(
    r"\b(?:top|upper|bottom|lower)[\s_-]?(?:left|right)\b(?:[\s_-]?(?:corner|point|vertex|coordinates?))?",
    re.IGNORECASE,
)


Size = tuple[int, int]
Numbers = Sequence[float]

MINIMUM_WIDTH, MINIMUM_HEIGHT = 0.25, 0.5
"""Section 3.1: smallest box that locates a face."""
MARGIN = 0.02
"""Tolerance for boxes that leave the picture by rounding: models scale a picture before they measure."""
FACE = (0.25, 0.85)
"""Heights of points in a face; tells pixels from percent."""
WIDE, TALL = 0.8, 0.65
"""With the order unknown, y comes first if x first gives no box, or a wide flat one, and y first a tall one."""
GRID = 32
_SLACK = 1e-9


def _scaled(numbers: Numbers, scale: Scale, size: Size) -> list[float]:
    whole = {"fractions": 1, "percent": 100, "1024ths": 1024}.get(scale, 1000)
    width, height = size if scale == "pixels" else (whole, whole)
    return [number / (height if place % 2 else width) for place, number in enumerate(numbers)]


def _possible(numbers: Numbers, scales: Scales) -> Scales:
    """Numbers up to 1 are fractions if the format has any; larger ones never."""
    if "fractions" not in scales or len(scales) == 1:
        return scales
    fractions = max(numbers) <= 1 + MARGIN
    return ("fractions",) if fractions else tuple(scale for scale in scales if scale != "fractions")


def box(parts: Sequence[str | float | None], order: Order, scales: Scales, size: Size) -> tuple[float, float] | None:
    """The ends in x of a box, None if no scale gives a box that locates a face."""
    numbers = [float(part) for part in parts if part is not None]
    if order == "grid":
        (top, left), (bottom, right) = (divmod(int(cell), GRID) for cell in numbers)
        numbers = [left / GRID, top / GRID, (right + 1) / GRID, (bottom + 1) / GRID]
    elif order == "yxyx":
        numbers = [numbers[1], numbers[0], numbers[3], numbers[2]]
    readings = [numbers]
    if numbers[2] < numbers[0] or numbers[3] < numbers[1]:
        x, y, w, h = numbers
        readings.append([x, y, x + w, y + h])
    if scales != ANY:
        return next(_boxes(readings, scales, size, MINIMUM_HEIGHT), None)
    wide = next(_boxes(readings, scales, size, MINIMUM_HEIGHT), None)
    if wide is not None and (wide[1] - wide[0] < WIDE or any(_boxes(readings, scales, size, TALL))):
        return wide
    y1, x1, y2, x2 = numbers
    return next(_boxes([[x1, y1, x2, y2]], scales, size, TALL), wide)


def _boxes(readings: Sequence[list[float]], scales: Scales, size: Size, lowest: float) -> Iterator[tuple[float, float]]:
    """The ends in x of the boxes that lie inside of the picture and are large enough, scale by scale."""
    for corners in readings:
        for scale in _possible(corners, scales):
            scaled = _scaled(corners, scale, size)
            (x1, x2), (y1, y2) = sorted(scaled[::2]), sorted(scaled[1::2])
            inside = min(x1, y1) >= -MARGIN and max(x2, y2) <= 1 + MARGIN
            if inside and x2 - x1 >= MINIMUM_WIDTH - _SLACK and y2 - y1 >= lowest - _SLACK:
                yield x1, x2


def point(parts: Sequence[str | None], order: Order, scales: Scales, size: Size) -> tuple[float, float] | None:
    """A point in the first scale that puts it at the height of a face, else the first inside of the picture."""
    numbers = [float(part) for part in parts if part is not None]
    if order == "yx":
        numbers.reverse()
    inside: list[tuple[bool, int, float]] = []
    for scale in _possible(numbers, scales):
        x, y = _scaled(numbers, scale, size)
        if 0 <= x <= 1 and 0 <= y <= 1:
            inside.append((not FACE[0] <= y <= FACE[1], len(inside), x))
    if not inside:
        return None
    x = min(inside)[2]
    return x, x


_MOST = 50


@dataclass(frozen=True)
class PictureMark:
    """A box or a point.

    Args:
        x: (left end, right end) in fractions of the width, equal for a point; None for an impossible or too small box.
        context: (start, end) of a label's text; None if it depends on the surroundings.
        label_follows: Whether the label stands after the box.
    """

    x: tuple[float, float] | None
    span: Span
    format: str
    context: Span | None = None
    label_follows: bool = False


def places(text: str, size: Size) -> list[PictureMark]:
    """The boxes of a prepared answer, or else its points, in order; `size` in pixels. Empty without coordinates."""
    places = [*_tokens(text, size)]
    if places:
        return _with_contexts(text, places)
    places = [*_cogvlm(text, size), *_lists(text, size)]
    places = places or [*_named(text, size)] or [*_alone(text, size)]
    return _with_contexts(text, sorted(places, key=lambda place: place.span)[:_MOST])


def _tokens(text: str, size: Size) -> Iterator[PictureMark]:
    if "<" not in text:
        return
    for match in MOLMO_POINTS.finditer(text):
        for pair in MOLMO_POINT.finditer(match[0]):
            start = match.start()
            span = (start + pair.start(), start + pair.end())
            yield PictureMark(point(pair.groups(), "xy", ("percent",), size), span, "point tag", match.span())
    for form in TOKENS:
        for match in form.pattern.finditer(text):
            yield _place(form, match, form.order, form.scales, size)


def _cogvlm(text: str, size: Size) -> Iterator[PictureMark]:
    """`[[x1,y1,x2,y2]]`, several boxes parted by semicolons; without a key before it."""
    if "[[" not in text:
        return
    for match in COGVLM.finditer(text):
        if _key(text, match.start()):
            continue
        for part in match[1].split(";"):
            if four := COGVLM_BOX.fullmatch(part):
                padded = any(number[0] == "0" and number.isdigit() and len(number) == 3 for number in four.groups())
                scales: Scales = ("thousandths",) if padded else THOUSAND
                yield PictureMark(box(four.groups(), "xyxy", scales, size), match.span(), "cogvlm")


def _lists(text: str, size: Size) -> Iterator[PictureMark]:
    """Four numbers in brackets, or two corners, or else pairs of numbers."""
    if "[" not in text and "(" not in text:
        return
    taken = [match.span() for match in COGVLM.finditer(text) if not _key(text, match.start())]
    boxes = []
    for form in (LIST, CORNERS):
        for match in form.pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            order, scales = KEYS.get(_key(text, match.start()), (form.order, form.scales))
            boxes.append(_place(form, match, order if len(order) == 4 else "xyxy", scales, size))
            taken.append(match.span())
            if len(taken) >= _MOST:
                break
        if boxes:
            break
    yield from boxes
    if not boxes and not taken:
        for match in PAIR.pattern.finditer(text):
            order, scales = KEYS.get(_key(text, match.start()), (PAIR.order, PAIR.scales))
            yield _place(PAIR, match, order if len(order) == 2 else "xy", scales, size)


def _named(text: str, size: Size) -> Iterator[PictureMark]:
    """`x1: 12, y1: 10, x2: 192, y2: 196`, with any of the usual names of the ends."""
    ends: dict[str, str] = {}
    span = (0, 0)
    for match in NAMED.finditer(text):
        end = ENDS[match[1].lower().replace("_", "")]
        between = text[span[1] : min(match.start(), span[1] + 80)].lower()
        opposite = any(word in between for word in ("bottom", "lower", "max", "end"))
        if end in ends and opposite and set(ends) == {"x1", "y1"}:
            ends |= {"x2": match[2]}
        elif end == "y1" and "x2" in ends and "y2" not in ends and set(ends) == {"x1", "y1", "x2"}:
            ends |= {"y2": match[2]}
        elif end in ends:
            yield from _from_ends(text, ends, span, size)
            ends = {end: match[2]}
        else:
            ends[end] = match[2]
        span = (span[0] if len(ends) > 1 else match.start(), match.end())
    yield from _from_ends(text, ends, span, size)


def _from_ends(text: str, ends: dict[str, str], span: Span, size: Size) -> Iterator[PictureMark]:
    scales: Scales = ("percent",) if "%" in text[slice(*span)] else ANY
    if {"x1", "y1", "w", "h"} <= ends.keys() and "x2" not in ends:
        x, y, w, h = (float(ends[end]) for end in ("x1", "y1", "w", "h"))
        yield PictureMark(box((x, y, x + w, y + h), "xyxy", scales, size), span, "x, y, width, height")
    elif {"x1", "y1", "x2", "y2"} <= ends.keys():
        yield PictureMark(box([ends[end] for end in ("x1", "y1", "x2", "y2")], "xyxy", scales, size), span, "ends")
    elif ends.keys() == {"x1", "y1"}:
        yield PictureMark(point((ends["x1"], ends["y1"]), "xy", scales, size), span, "point")
    elif ends.keys() == {"x1"} and (float(ends["x1"]) > 100 or "." in ends["x1"]):
        middle = "0.5" if float(ends["x1"]) <= 1 else str(size[1] / 2)
        yield PictureMark(point((ends["x1"], middle), "xy", PIXELS, size), span, "point")


def _alone(text: str, size: Size) -> Iterator[PictureMark]:
    """Four numbers alone, or the range of x in words."""
    if match := NUMBERS.pattern.match(text):
        yield _place(NUMBERS, match, "xyxy", ANY, size)
    elif match := RANGE_OF.search(text) or RANGE.search(text):
        left, right = (float(number) for number in match.groups())
        scale: Scale = "percent" if "%" in match[0] else ("fractions" if right <= 1 else "pixels")
        height = {"percent": 100.0, "fractions": 1.0}.get(scale, float(size[1]))
        yield PictureMark(box((left, 0.0, right, height), "xyxy", (scale,), size), match.span(), "range")


def _key(text: str, start: int) -> str:
    match = KEY.search(text, max(0, start - 45), start)
    return match[1].lower() if match else ""


def _place(form: Format, match: Match[str], order: Order, scales: Scales, size: Size) -> PictureMark:
    if "%" in match[0]:
        scales = ("percent",)
    make = point if order in ("xy", "yx") else box
    return PictureMark(make(match.groups(), order, scales, size), match.span(), form.name, None, form.label_follows)


def _with_contexts(text: str, marks: list[PictureMark]) -> list[PictureMark]:
    """Each place with its label text: its JSON object, or the text after or before it."""
    listed = LABELS.search(text)
    labels = [label.span() for label in LABEL.finditer(text, *listed.span(1))] if listed else []
    if len(labels) == len(marks):  # a separate list of labels, in the order of the boxes
        return [PictureMark(p.x, p.span, p.format, context) for p, context in zip(marks, labels, strict=True)]
    first = marks[0].span[0]
    follows = len(marks) > 1 and not any(map(str.isalpha, text[text.rfind("\n", 0, first) + 1 : first]))
    contexts: list[Span] = []
    for number, place in enumerate(marks):
        before = marks[number - 1].span[1] if number else 0
        after = marks[number + 1].span[0] if number + 1 < len(marks) else len(text)
        start, end = place.span
        opening, closing = text.rfind("{", max(before, start - 300), start), text.find("}", end, min(after, end + 300))
        if place.context is not None:
            contexts.append(place.context)
        elif opening >= 0 and closing >= 0:
            contexts.append((opening, closing))
        elif follows or place.label_follows or not any(character.isalpha() for character in text[before:start]):
            contexts.append((end, after))
        else:
            contexts.append((before, start))
    return [PictureMark(p.x, p.span, p.format, context) for p, context in zip(marks, contexts, strict=True)]
