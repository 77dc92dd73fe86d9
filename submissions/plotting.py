"""Colours and numbers that all figures share."""

from __future__ import annotations

INK, GREY = "#1c2127", "#5f6770"
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#C24E00", "#00795A", "#9A4C80"
"""Colours after Okabe and Ito, distinct with every kind of colour vision; contrast 4.5 or more on white."""
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)


def number(value: float | None, digits: int, signed: bool = False) -> str:
    """A number with a true minus sign, '–' for None; never '-0.00'."""
    if value is None:
        return "–"
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    if abs(value) < 1 and float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "\N{MINUS SIGN}")


def digits(value: float | None) -> str:
    """A number with four decimals below 10 and two above; '–' for None."""
    return number(value, 4 if value is None or abs(value) < 10 else 2)
