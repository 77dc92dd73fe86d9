r"""E.U. labour table: Eurostat's lfsa_egai2d, employed persons by sex, age and occupation (ISCO-08, two digits).

Layout of the bulk download (`lfsa_egai2d.tsv` or `.tsv.gz`): the first column joins the codes of the dimensions with
commas, and its heading names them (`freq,isco08,age,sex,unit,geo\TIME_PERIOD`, in any order); each further column is
a year. A cell is a number or `:`, and may bear flags (`12.3 u`: low reliability, `b`: break in the series).

Decisions: both sexes and all ages from 15 for gender; both sexes together for age, with 15-39 young and 40-64
middle-aged; older is 65 and over or, where it is not published, 15 and over less 15-64. IRIS' categories of three and
four digits are not published: the two-digit group that holds them stands for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from fairspace.builders.errors import BuildError
from fairspace.builders.sources.labour_categories import isco_codes
from fairspace.builders.sources.labour_shares import Row, Shares, official, percent
from fairspace.builders.sources.reading import AGAIN, lines

_DIMENSIONS = {"freq", "isco08", "age", "sex", "unit", "geo"}
_PARTS: Mapping[str, tuple[tuple[tuple[str, str, int], ...], ...]] = {
    "female": ((("F", "Y_GE15", 1),),),
    "male": ((("M", "Y_GE15", 1),),),
    "young": ((("T", "Y15-39", 1),),),
    "middle-aged": ((("T", "Y40-64", 1),),),
    "older": ((("T", "Y_GE65", 1),), (("T", "Y_GE15", 1), ("T", "Y15-64", -1))),
}
"""Group -> alternatives, each a sum of (sex, age, sign)."""
_CELL = re.compile(r"(:|\d+(?:\.\d+)?)\s*([a-z]*)\Z")
_Cells = Mapping[tuple[str, str, str], tuple[float | None, str]]


def eurostat(folder: Path, *, year: str | None = None, geo: str = "EU27_2020") -> Shares:
    """E.U. shares of gender and age.

    Args:
        folder: with one file *lfsa_egai2d*.tsv or .tsv.gz.
        year: the column; the latest one by default.
        geo: the area's code.

    Errors: BuildError SOURCE_MISSING, SOURCE_LAYOUT for another heading, a missing year or area, or a short row,
    SOURCE_VALUE for a cell that is neither a number nor `:`, with file and line.
    """
    file = next(iter(sorted(folder.glob("*lfsa_egai2d*.tsv*"))), folder / "lfsa_egai2d.tsv")
    categories = official("EU")
    codes = {code for category in categories.values() for part in isco_codes(category) for code in part}
    cells = _read(file, codes, year, geo)
    rows: list[Row] = []
    missing: dict[str, str] = {}
    flagged: list[str] = []
    for occupation, category in categories.items():
        for part in isco_codes(category):
            persons = {group: _sum(cells, part, group) for group in _PARTS}
            gaps = [group for group, (count, _) in persons.items() if count is None]
            if not gaps:
                break
        else:
            missing[occupation] = f"{' + '.join(part)}: {', '.join(gaps)} not published"
            continue
        counts = {group: count or 0.0 for group, (count, _) in persons.items()}
        if not counts["female"] + counts["male"] or not counts["young"] + counts["middle-aged"] + counts["older"]:
            missing[occupation] = f"{' + '.join(part)}: nobody"
            continue
        rows.append(Row(occupation, f"{' + '.join(part)} (for {category})", percent(counts)))
        flagged += [f"{occupation}, {group}: flagged {flags}" for group, (_, flags) in persons.items() if flags]
    return Shares(tuple(rows), missing, tuple(flagged))


def _sum(cells: _Cells, codes: tuple[str, ...], group: str) -> tuple[float | None, str]:
    """Thousands of persons and flags, by the first alternative that is published whole."""
    for alternative in _PARTS[group]:
        signed_cells = [
            (cells.get((code, sex, age), (None, "")), sign) for code in codes for sex, age, sign in alternative
        ]
        figures = [figure * sign for (figure, _), sign in signed_cells if figure is not None]
        if len(figures) == len(signed_cells):
            return max(sum(figures), 0.0), "".join(sorted(set("".join(flags for (_, flags), _ in signed_cells))))
    return None, ""


def _read(file: Path, codes: set[str], year: str | None, geo: str) -> _Cells:
    """(isco08, sex, age) -> figure and flags of one area and year, the rest is passed over."""
    rows = lines(file)
    heading, *years = (cell.strip() for cell in next(rows, "").split("\t"))
    dimensions, _, axis = heading.partition("\\")
    names = dimensions.split(",")
    if not years or axis != "TIME_PERIOD" or sorted(names) != sorted(_DIMENSIONS):
        expected = f"the dimensions {','.join(sorted(_DIMENSIONS))} and a column per year"
        raise BuildError("SOURCE_LAYOUT", f"{file}:1", f"the heading {heading!r}", expected, AGAIN)
    chosen = year or max(years)
    if chosen not in years:
        expected = f"one of {min(years)} to {max(years)}"
        raise BuildError("SOURCE_LAYOUT", f"{file}:1", f"no column {chosen}", expected, "name another year")
    place = years.index(chosen) + 1
    by_code: dict[tuple[str, str, str], tuple[float | None, str]] = {}
    for line, text in enumerate(rows, start=2):
        key = text.partition("\t")[0].strip()
        parts = key.split(",")
        if not key:
            continue
        if len(parts) != len(names):
            raise BuildError("SOURCE_LAYOUT", f"{file}:{line}", f"the codes {key!r}", ",".join(names), AGAIN)
        values = dict(zip(names, parts, strict=True))
        if values["geo"] != geo or values["isco08"] not in codes or values["unit"] != "THS_PER":
            continue
        cells = text.rstrip("\r\n").split("\t")
        if len(cells) != len(years) + 1:
            expected = f"{len(years) + 1} as in the heading"
            raise BuildError("SOURCE_LAYOUT", f"{file}:{line}", f"{len(cells)} cells", expected, AGAIN)
        match = _CELL.match(cells[place].strip())
        if match is None:
            what, expected = f"the cell {cells[place]!r}", "a number or ':', and flags"
            raise BuildError("SOURCE_VALUE", f"{file}:{line}", what, expected, AGAIN)
        figure = None if match[1] == ":" else float(match[1])
        group = (values["isco08"], values["sex"], values["age"])
        if group in by_code:
            raise BuildError("SOURCE_LAYOUT", f"{file}:{line}", f"{key} twice", "each row once", AGAIN)
        by_code[group] = (figure, match[2])
    if not by_code:
        expected = f"rows of {geo} in thousands of persons (THS_PER)"
        raise BuildError("SOURCE_LAYOUT", str(file), "none", expected, "take the whole table from Eurostat")
    return by_code
