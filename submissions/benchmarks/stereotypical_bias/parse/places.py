"""Boxes and points of an answer, as fractions of the picture.

The scale is decided by the format (MiniGPT writes hundredths, Qwen-VL and CogVLM thousandths, PaliGemma 1024ths,
Kosmos-2 cells of a grid, Qwen2.5-VL pixels), then by size: of the scales that a format leaves open the first one counts
in which the box lies inside of the picture and is large enough. Corners may be given in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from re import Match

from fairspace.submissions.benchmarks.stereotypical_bias.parse import place_formats as formats
from fairspace.submissions.benchmarks.stereotypical_bias.parse.geometry import Size, box, point
from fairspace.submissions.benchmarks.stereotypical_bias.parse.place_formats import Format, Order, Scale, Scales

Span = tuple[int, int]

_MOST = 50
"""Boxes that are read of one answer."""


@dataclass(frozen=True)
class Place:
    """A box or a point.

    Args:
        x: (left end, right end) in fractions of the picture's width, the same for a point; None if the box is too
            small, or its numbers make no sense.
        span: (start, end) in the text.
        format: its name.
        context: (start, end) of the text that may name what is there; None where that depends on what stands around.
        label_follows: the name stands after the box.
    """

    x: tuple[float, float] | None
    span: Span
    format: str
    context: Span | None = None
    label_follows: bool = False


def places(text: str, size: Size) -> list[Place]:
    """The boxes of a text, or its points if it has no box, in order; empty if it is not written in coordinates.

    Args:
        text: the prepared answer.
        size: width and height of the picture in pixels.
    """
    places = [*_tokens(text, size)]
    if places:
        return _with_contexts(text, places)
    places = [*_cogvlm(text, size), *_lists(text, size)]
    places = places or [*_named(text, size)] or [*_alone(text, size)]
    return _with_contexts(text, sorted(places, key=lambda place: place.span)[:_MOST])


def _tokens(text: str, size: Size) -> Iterator[Place]:
    if "<" not in text:
        return
    for match in formats.MOLMO_POINTS.finditer(text):
        for pair in formats.MOLMO_POINT.finditer(match[0]):
            start = match.start()
            span = (start + pair.start(), start + pair.end())
            yield Place(point(pair.groups(), "xy", ("percent",), size), span, "point tag", match.span())
    for form in formats.TOKENS:
        for match in form.pattern.finditer(text):
            yield _place(form, match, form.order, form.scales, size)


def _cogvlm(text: str, size: Size) -> Iterator[Place]:
    """`[[x1,y1,x2,y2]]`, several boxes parted by semicolons; without a key before it."""
    if "[[" not in text:
        return
    for match in formats.COGVLM.finditer(text):
        if _key(text, match.start()):
            continue
        for part in match[1].split(";"):
            if four := formats.COGVLM_BOX.fullmatch(part):
                padded = any(number[0] == "0" and number.isdigit() and len(number) == 3 for number in four.groups())
                scales: Scales = ("thousandths",) if padded else formats.THOUSAND
                yield Place(box(four.groups(), "xyxy", scales, size), match.span(), "cogvlm")


def _lists(text: str, size: Size) -> Iterator[Place]:
    """Four numbers in brackets, or two corners, or else pairs of numbers."""
    if "[" not in text and "(" not in text:
        return
    taken = [match.span() for match in formats.COGVLM.finditer(text) if not _key(text, match.start())]
    boxes = []
    for form in (formats.LIST, formats.CORNERS):
        for match in form.pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            order, scales = formats.KEYS.get(_key(text, match.start()), (form.order, form.scales))
            boxes.append(_place(form, match, order if len(order) == 4 else "xyxy", scales, size))
            taken.append(match.span())
            if len(taken) >= _MOST:
                break
        if boxes:
            break
    yield from boxes
    if not boxes and not taken:
        for match in formats.PAIR.pattern.finditer(text):
            order, scales = formats.KEYS.get(_key(text, match.start()), (formats.PAIR.order, formats.PAIR.scales))
            yield _place(formats.PAIR, match, order if len(order) == 2 else "xy", scales, size)


def _named(text: str, size: Size) -> Iterator[Place]:
    """`x1: 12, y1: 10, x2: 192, y2: 196`, with any of the usual names of the ends."""
    ends: dict[str, str] = {}
    span = (0, 0)
    for match in formats.NAMED.finditer(text):
        end = formats.ENDS[match[1].lower().replace("_", "")]
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


def _from_ends(text: str, ends: dict[str, str], span: Span, size: Size) -> Iterator[Place]:
    scales: Scales = ("percent",) if "%" in text[slice(*span)] else formats.ANY
    if {"x1", "y1", "w", "h"} <= ends.keys() and "x2" not in ends:
        x, y, w, h = (float(ends[end]) for end in ("x1", "y1", "w", "h"))
        yield Place(box((x, y, x + w, y + h), "xyxy", scales, size), span, "x, y, width, height")
    elif {"x1", "y1", "x2", "y2"} <= ends.keys():
        yield Place(box([ends[end] for end in ("x1", "y1", "x2", "y2")], "xyxy", scales, size), span, "ends")
    elif ends.keys() == {"x1", "y1"}:
        yield Place(point((ends["x1"], ends["y1"]), "xy", scales, size), span, "point")
    elif ends.keys() == {"x1"} and (float(ends["x1"]) > 100 or "." in ends["x1"]):
        middle = "0.5" if float(ends["x1"]) <= 1 else str(size[1] / 2)
        yield Place(point((ends["x1"], middle), "xy", formats.PIXELS, size), span, "point")


def _alone(text: str, size: Size) -> Iterator[Place]:
    """Four numbers and nothing else, or the range of x in words."""
    if match := formats.NUMBERS.pattern.match(text):
        yield _place(formats.NUMBERS, match, "xyxy", formats.ANY, size)
    elif match := formats.RANGE_OF.search(text) or formats.RANGE.search(text):
        left, right = (float(number) for number in match.groups())
        scale: Scale = "percent" if "%" in match[0] else ("fractions" if right <= 1 else "pixels")
        height = {"percent": 100.0, "fractions": 1.0}.get(scale, float(size[1]))
        yield Place(box((left, 0.0, right, height), "xyxy", (scale,), size), match.span(), "range")


def _key(text: str, start: int) -> str:
    """The key before a list, or ''."""
    match = formats.KEY.search(text, max(0, start - 45), start)
    return match[1].lower() if match else ""


def _place(form: Format, match: Match[str], order: Order, scales: Scales, size: Size) -> Place:
    if "%" in match[0]:
        scales = ("percent",)
    make = point if order in ("xy", "yx") else box
    return Place(make(match.groups(), order, scales, size), match.span(), form.name, None, form.label_follows)


def _with_contexts(text: str, found: list[Place]) -> list[Place]:
    """Each place with the text that may name it: its JSON object, what stands after it or before it."""
    listed = formats.LABELS.search(text)
    labels = [label.span() for label in formats.LABEL.finditer(text, *listed.span(1))] if listed else []
    if len(labels) == len(found):  # a list of their own names the boxes in their order
        return [Place(p.x, p.span, p.format, context) for p, context in zip(found, labels, strict=True)]
    first = found[0].span[0]
    follows = len(found) > 1 and not any(map(str.isalpha, text[text.rfind("\n", 0, first) + 1 : first]))
    contexts: list[Span] = []
    for number, place in enumerate(found):
        before = found[number - 1].span[1] if number else 0
        after = found[number + 1].span[0] if number + 1 < len(found) else len(text)
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
    return [Place(p.x, p.span, p.format, context) for p, context in zip(found, contexts, strict=True)]
