"""U.S. labour tables: tables 11 and 11b of the Current Population Survey, annual averages.

The Bureau publishes `cpsaat11.xlsx` (employed persons by occupation, sex, race and ethnicity: thousands and percent)
and `cpsaat11b.xlsx` (by occupation and age: thousands); each is saved as CSV. Titles, year, headings over several
lines, footnote marks and thousands separators may stay in it. Headings are found by their text, in any column.

Decisions:

- *Age.* Half of 35 to 44 counts as young and half as middle-aged; every other band lies in one group.
- *Skin tone* is the paper's proxy: dark is Black or African American, light is White non-Hispanic, middle is the rest.
  Table 11 counts Hispanics within the races, so White less Hispanic stands for White non-Hispanic, as if all Hispanics
  were White: the nearest that the table allows, and a little low.
- *Dashes.* They stand for no data and for too few persons. A dash in an age band is 0 where the other bands add up to
  the total; with any other dash the occupation has no row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fairspace.builders.errors import BuildError
from fairspace.builders.sources.labour_categories import CPS_ROWS
from fairspace.builders.sources.labour_shares import Row, Shares, official, percent
from fairspace.builders.sources.reading import AGAIN, cells

_TOTAL = "total"
_PEOPLE = (_TOTAL, "women", "white", "black or african american", "asian", "hispanic or latino")
_BANDS = ("16 to 19", "20 to 24", "25 to 34", "35 to 44", "45 to 54", "55 to 64", "65 years and over")
_FIRST_ROW = "total, 16 years and over"
_FOOTNOTE = re.compile(r"\s*(\(\d+\)|[¹²³⁴⁵⁶⁷⁸⁹]+)\Z")
_NUMBER = re.compile(r"(\d{1,3}(,\d{3})+(\.\d+)?|\d+(\.\d+)?|\.\d+)\Z")
_DASHES = ("–", "—", "-", "")
_ROUNDING = 5.0
"""Thousands by which rounded bands may miss their total."""


class _Figures(NamedTuple):
    """A row: its file and line, and its figures by heading, None for a dash."""

    where: str
    values: tuple[float | None, ...]


def bls(folder: Path) -> Shares:
    """U.S. shares of gender, age and skin tone.

    Args:
        folder: with cpsaat11.csv and cpsaat11b.csv.

    Errors: BuildError SOURCE_LAYOUT if a heading or the first row is missing, SOURCE_VALUE for a cell that is no figure
    and for figures that cannot be, with file and line.
    """
    people, ages = _table(folder / "cpsaat11.csv", _PEOPLE), _table(folder / "cpsaat11b.csv", (_TOTAL, *_BANDS))
    rows: list[Row] = []
    missing: dict[str, str] = {}
    for occupation in official("US"):
        vintages = CPS_ROWS.get(occupation, ())
        labels = next((labels for labels in vintages if all(_key(x) in people and _key(x) in ages for x in labels)), ())
        if not labels:
            named = " or ".join(map(" + ".join, vintages))
            missing[occupation] = f"no row {named}" if named else "the survey counts civilians"
            continue
        persons: dict[str, float] = {}
        for label in labels:
            counts, by_age = _people(people[_key(label)]), _ages(ages[_key(label)])
            if not counts or not by_age:
                missing[occupation] = f"figures of {label} are not published"
                break
            persons = {group: persons.get(group, 0.0) + count for group, count in (counts | by_age).items()}
        if occupation not in missing:
            rows.append(Row(occupation, " + ".join(labels), percent(persons)))
    return Shares(tuple(rows), missing)


def _people(row: _Figures) -> dict[str, float]:
    """Thousands of persons by gender and skin tone; empty if a figure is missing."""
    figures = [figure for figure in row.values if figure is not None]
    if len(figures) < len(_PEOPLE):
        return {}
    total, women, white, black, asian, hispanic = figures
    if not total or women > 100 or white + black + asian > 100.5 or hispanic > white:
        expected = "persons, and percentages of races with Hispanics among the White"
        raise BuildError("SOURCE_VALUE", row.where, f"the figures {figures}", expected, AGAIN)
    light, dark = white - hispanic, black
    shares = {"female": women, "male": 100 - women, "light": light, "middle": 100 - light - dark, "dark": dark}
    return {group: total * share / 100 for group, share in shares.items()}


def _ages(row: _Figures) -> dict[str, float]:
    """Thousands of persons by age group; empty if a figure is missing."""
    total, *shares = row.values
    bands = [figure or 0.0 for figure in shares]
    complete = total is not None and abs(sum(bands) - total) <= _ROUNDING
    if not total or not sum(bands) or (None in shares and not complete):
        return {}
    if not complete:
        what = f"ages that add up to {sum(bands):g}, of a total of {total:g}"
        raise BuildError("SOURCE_VALUE", row.where, what, "ages that add up to the total", AGAIN)
    half = bands[3] / 2
    return {"young": sum(bands[:3]) + half, "middle-aged": half + bands[4] + bands[5], "older": bands[6]}


def _table(file: Path, headings: Sequence[str]) -> dict[str, _Figures]:
    """Label -> figures of a table as published. Rows without figures are headings of groups and are left out."""
    above: dict[int, str] = {}
    places: list[int] = []
    rows: dict[str, _Figures] = {}
    for line, row in cells(file):
        where = f"{file}:{line}"
        texts = [_FOOTNOTE.sub("", " ".join(cell.split())) for cell in row]
        label = _key(next(filter(None, texts), ""))
        if not places:
            if not (label.startswith(_FIRST_ROW) and any(map(_NUMBER.match, texts))):
                above |= {place: _key(text) for place, text in enumerate(texts) if text}
                continue
            places = _places(above, headings, where)
        figures = [texts[place] if place < len(texts) else "" for place in places]
        if any(figures):
            rows.setdefault(label, _Figures(where, tuple(_figure(text, where) for text in figures)))
    if not places:
        what, expected = f"no row that starts with {_FIRST_ROW!r}", "the table as published, titles and all"
        raise BuildError("SOURCE_LAYOUT", str(file), what, expected, AGAIN)
    return rows


def _places(above: Mapping[int, str], headings: Sequence[str], where: str) -> list[int]:
    """The column of each heading. Where headings stand above each other, the lowest counts: it is in `above`."""
    columns = sorted(above.items())
    places = {heading: [place for place, text in columns if text.startswith(heading)] for heading in headings}
    missing = [heading for heading, places in places.items() if not places]
    if missing:
        raise BuildError("SOURCE_LAYOUT", where, f"no column {', '.join(missing)}", ", ".join(headings), AGAIN)
    return [places[0] for places in places.values()]


def _figure(text: str, where: str) -> float | None:
    if text in _DASHES:
        return None
    if not _NUMBER.match(text):
        raise BuildError("SOURCE_VALUE", where, f"the figure {text!r}", "a number or a dash", AGAIN)
    return float(text.replace(",", ""))


def _key(label: str) -> str:
    return label.replace("’", "'").casefold()
