"""Labour tables in the layouts of the U.S. and E.U. statistical offices, with figures that are made up and say so."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from fairspace.builders.drawn.palette import draws
from fairspace.builders.sources.labour_categories import CPS_ROWS, isco_codes
from fairspace.builders.sources.labour_shares import official

_PEOPLE = ("Occupation", "Total", "Women", "White", "Black or African American", "Asian", "Hispanic or Latino")
_BANDS = (
    *("16 to 19 years", "20 to 24 years", "25 to 34 years", "35 to 44 years"),
    *("45 to 54 years", "55 to 64 years", "65 years and over"),
)
_FIRST = "Total, 16 years and over"
_YEARS = ("2024", "2023")


def write_bls(folder: Path) -> None:
    """`cpsaat11.csv` and `cpsaat11b.csv`: titles, headings over two lines, thousands and percent, a dash."""
    folder.mkdir(parents=True, exist_ok=True)
    labels = sorted({label for vintages in CPS_ROWS.values() for label in vintages[0]})
    people: list[list[str]] = [
        ["HOUSEHOLD DATA"],
        ["11. Employed persons by detailed occupation, sex, race, and Hispanic or Latino ethnicity: made-up figures"],
        ["[Numbers in thousands]"],
        ["Occupation", "2024", "", "", "", "", ""],
        ["", "Total\nemployed", "Percent of total employed", "", "", "", ""],
        ["", "", *_PEOPLE[2:]],
    ]
    ages: list[list[str]] = [
        ["HOUSEHOLD DATA"],
        ["11b. Employed persons by detailed occupation and age: made-up figures"],
        ["[In thousands]"],
        ["Occupation", "Total, 16 years and over", *_BANDS, "Median age"],
    ]
    for label in (_FIRST, *labels):
        random = draws("sample", "bls", label)
        bands = random.randint(1 if label != _FIRST else 900, 90 if label != _FIRST else 9000, len(_BANDS))
        total = f"{int(bands.sum()):,}"
        shares = [random.uniform(5, 95), random.uniform(55, 80), random.uniform(5, 15), random.uniform(1, 5)]
        people.append([label, total, *(f"{share:.1f}" for share in (*shares, random.uniform(1, 40)))])
        ages.append([label, total, *(f"{count:,}" for count in bands.tolist()), f"{random.uniform(30, 50):.1f}"])
    people[-1][2:] = ["–"] * 5
    for name, rows in (("cpsaat11.csv", people), ("cpsaat11b.csv", ages)):
        with (folder / name).open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)


def write_eurostat(folder: Path) -> None:
    """`lfsa_egai2d.tsv`: two years, with flags and figures that are not published."""
    folder.mkdir(parents=True, exist_ok=True)
    codes = sorted({code for category in official("EU").values() for part in isco_codes(category) for code in part})
    lines = ["freq,isco08,age,sex,unit,geo\\TIME_PERIOD\t" + " \t".join(_YEARS)]
    for code in codes:
        random = draws("sample", "eurostat", code)
        for age, sex, counts in _counts(random):
            cells = [f"{count:.1f}{' u' if count < 20 else ''}" for count in counts]
            cells = [": "] * len(cells) if code == codes[-1] and age == "Y_GE65" else cells
            lines.append(f"A,{code},{age},{sex},THS_PER,EU27_2020\t" + "\t".join(cells))
    (folder / "lfsa_egai2d.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _counts(random: np.random.RandomState) -> list[tuple[str, str, list[float]]]:
    """Age band, sex and thousands of persons in each year; bands and sexes add up."""
    parts = random.uniform(10, 900, (len(_YEARS), 3, 2)).round(1)
    young, middle, older = parts[:, 0], parts[:, 1], parts[:, 2]
    bands = {
        "Y15-39": young,
        "Y40-64": middle,
        "Y_GE65": older,
        "Y15-64": young + middle,
        "Y_GE15": young + middle + older,
    }
    shares = []
    for age, by_sex in bands.items():
        sexes = {"F": by_sex[:, 0], "M": by_sex[:, 1], "T": by_sex.sum(axis=1)}
        shares += [(age, sex, values.tolist()) for sex, values in sexes.items()]
    return shares
