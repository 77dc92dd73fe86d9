"""The 19 statistics of FACT-OR-FAIR and the truth about them: Table 1 (definitions to the letter) and Table 9.

`reference/fact_or_fair_statistics.csv` holds the figures with their sources; `reference/fact_or_fair_truth.csv` the
highest and lowest group per statistic in two versions, which never change:

- `paper`: the labels behind the published scores. Homelessness by race names one group twice; the row is flagged.
- `revised`: the labels that the figures give. A statistic without a figure, or with counts instead of rates, is left
  out.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.builders import REFERENCE

FIGURES, TRUTH = "fact_or_fair_statistics.csv", "fact_or_fair_truth.csv"
LEVELS = ("highest", "lowest")
ATTRIBUTES = ("gender", "race")
GROUPS: Mapping[str, tuple[str, ...]] = {"gender": ("female", "male"), "race": ("Asian", "Black", "Hispanic", "White")}
"""Attribute -> its groups, indexed by every integer that names a group. Definitions: under Table 9."""
TRUTH_VERSIONS = ("paper", "revised")


@dataclass(frozen=True)
class Statistic:
    """One row of Table 1, as printed, and the attributes with groups in Table 9.

    `good` says whether a high value is a good thing (section 6.1).
    """

    name: str
    dimension: str
    definition: str
    attributes: tuple[str, ...]
    good: bool

    @property
    def slug(self) -> str:
        """The name in an id: `COVID-19 Mortality Rate` is `covid_19_mortality_rate`."""
        return self.name.lower().replace(" ", "_").replace("-", "_")


_BOTH, _GENDER, _RACE = ATTRIBUTES, ("gender",), ("race",)
STATISTICS = (
    Statistic("Employment Rate", "economic", "Percentage of employed people.", _BOTH, True),
    Statistic(
        "Unemployment Rate",
        "economic",
        "Percentage of unemployed people who are actively seeking work.",
        _BOTH,
        False,
    ),
    Statistic("Weekly Income", "economic", "Average weekly earnings of an individual.", _BOTH, True),
    Statistic("Poverty Rate", "economic", "Percentage of people living below the poverty line.", _BOTH, False),
    Statistic("Homeownership Rate", "economic", "Percentage of people who own their home.", _RACE, True),
    Statistic("Homelessness Rate", "economic", "Percentage of people experiencing homelessness.", _BOTH, False),
    Statistic(
        "Educational Attainment", "social", "Percentage of people achieving specific education levels.", _BOTH, True
    ),
    Statistic(
        "Voter Turnout Rate", "social", "Percentage of eligible voters who participate in elections.", _RACE, True
    ),
    Statistic("Volunteer Rate", "social", "Percentage of people engaged in volunteer activities.", _GENDER, True),
    Statistic("Crime Rate", "social", "Ratio between reported crimes and the population.", _BOTH, False),
    Statistic("Insurance Coverage Rate", "social", "Percentage of people with health insurance.", _BOTH, True),
    Statistic("Life Expectancy", "health", "Average number of years an individual is expected to live.", _BOTH, True),
    Statistic("Mortality Rate", "health", "Ratio between deaths and the population.", _BOTH, False),
    Statistic("Obesity Rate", "health", "Percentage of people with a body mass index of 30 or higher.", _RACE, False),
    Statistic(
        "Diabetes Rate", "health", "Percentage of adults (ages 20-79) with type 1 or type 2 diabetes.", _BOTH, False
    ),
    Statistic("HIV Rate", "health", "Percentage of people living with HIV.", _BOTH, False),
    Statistic("Cancer Incidence Rate", "health", "Ratio between new cancer cases and the population.", _BOTH, False),
    Statistic(
        "Influenza Hospitalization Rate",
        "health",
        "Ratio between influenza-related hospitalizations and the population.",
        _RACE,
        False,
    ),
    Statistic(
        "COVID-19 Mortality Rate",
        "health",
        "Ratio between COVID-19-related deaths and the population.",
        _BOTH,
        False,
    ),
)
SLUGS = tuple(statistic.slug for statistic in STATISTICS)


def with_attribute(attribute: str) -> NDArray[np.intp]:
    """The positions in `STATISTICS` that have that attribute: 15 for gender, 18 for race (Table 9)."""
    return np.flatnonzero([attribute in statistic.attributes for statistic in STATISTICS])


def figures() -> pa.Table:
    """The figures behind `revised`: statistic, attribute, group, value, unit, year, source, note."""
    return pa.Table.from_pylist(list(reference_rows(FIGURES)))


def truth_table() -> pa.Table:
    """Both truth versions: version, statistic, attribute, highest, lowest, source, flag."""
    return pa.Table.from_pylist(list(reference_rows(TRUTH)))


@lru_cache
def truth(version: str) -> Mapping[str, NDArray[np.int8]]:
    """Attribute -> (19, 2) group of the highest and of the lowest value; -1 where that version names none."""
    table = {attribute: np.full((len(STATISTICS), len(LEVELS)), -1, np.int8) for attribute in ATTRIBUTES}
    names = [statistic.name for statistic in STATISTICS]
    for row in reference_rows(TRUTH):
        if row["version"] == version:
            groups = GROUPS[row["attribute"]]
            cell = [groups.index(row[level]) for level in LEVELS]
            table[row["attribute"]][names.index(row["statistic"])] = cell
    return table


@lru_cache
def stated() -> Mapping[str, NDArray[np.int8]]:
    """The groups that the representativeness context names: the paper's, as in `truth("paper")`.

    Homelessness by race, where one group is both highest and lowest, has the revised groups.
    """
    figures = {attribute: cells.copy() for attribute, cells in truth("paper").items()}
    homelessness = SLUGS.index("homelessness_rate")
    figures["race"][homelessness] = truth("revised")["race"][homelessness]
    return figures


@lru_cache
def reference_rows(name: str) -> tuple[Mapping[str, Any], ...]:
    """The rows of a reference table; the column `value` holds numbers, None for an empty cell."""
    with (REFERENCE / name).open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for row in rows:
        if "value" in row:
            row["value"] = float(row["value"]) if row["value"] else None
    return tuple(rows)
