"""Colours of all figures; and the one text of a number, a share and an interval, in figures, tables and sentences."""

from collections.abc import Callable, Sequence

INK, GREY = "#1c2127", "#5f6770"
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#C24E00", "#00795A", "#9A4C80"
"""Colours after Okabe and Ito, distinct with every kind of colour vision; contrast 4.5 or more on white."""
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)


NOTHING = "–"
Show = Callable[[float], str]
"""Format of a number, with the unit and digits of its place."""


def number(value: float | None, digits: int, signed: bool = False) -> str:
    """A number with a true minus sign, '–' for None; never '-0.00'."""
    if value is None:
        return NOTHING
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    if abs(value) < 1 and float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "\N{MINUS SIGN}")


def digits(value: float | None) -> str:
    """A number with four decimals below 10 and two above; '–' for None."""
    return number(value, 4 if value is None or abs(value) < 10 else 2)


def points(share: float) -> str:
    """'93.8', a share in percent without the sign."""
    return f"{100 * share:.1f}"


def percent(share: float) -> str:
    """'93.8 %'."""
    return f"{points(share)} %"


def interval_text(ends: Sequence[float] | None, show: Show = digits, *, knows_low: bool = True) -> str:
    """'0.10 to 0.14', or 'rounds to 0.12'; a dash without an interval. `knows_low`: whether its lower end is known."""
    if ends is None:
        return NOTHING
    low, high = show(ends[0]) if knows_low else "not known", show(ends[1])
    return f"{low} to {high}" if low != high else f"rounds to {low}"


def share_text(share: float, low: float, high: float, decimals: int = 1) -> str:
    """'93.8% (90.1% to 95.0%)', a share with its interval."""
    return f"{share:.{decimals}%} ({low:.{decimals}%} to {high:.{decimals}%})"
