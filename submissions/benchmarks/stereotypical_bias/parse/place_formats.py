"""How vision models write boxes and points: a pattern, the order of its numbers, and the scales it may be in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Order = Literal["xyxy", "yxyx", "grid", "xy", "yx"]
Scale = Literal["fractions", "pixels", "thousandths", "percent", "1024ths"]
Scales = tuple[Scale, ...]

ANY: Scales = ("fractions", "pixels", "thousandths", "percent")
THOUSAND: Scales = ("fractions", "thousandths", "pixels")
PIXELS: Scales = ("fractions", "pixels", "thousandths")


@dataclass(frozen=True)
class Format:
    """A way of writing a box or a point.

    Args:
        name: of the format, or of a model that writes it.
        pattern: its groups are the numbers.
        order: of the numbers; `grid`: two cells of 32 x 32, the first and the last.
        scales: in the order of belief.
        label_follows: the name of what is boxed stands after the box, not before.
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
"""Marked by tokens of their own."""
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
"""What stands before a list."""
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
"""Key of a coordinate -> which end of the box it is."""
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
"""Of a box, not of the picture."""
