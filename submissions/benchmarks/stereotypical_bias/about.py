"""Stereotypical bias in words, for pages: six scores, their largest numbers, and the rows of Table 2 with the mean."""

import csv
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from fairspace.builders import REFERENCE
from fairspace.builders.registry import figures
from fairspace.submissions.benchmarks import published
from fairspace.submissions.benchmarks.benchmark import BenchmarkWords, Listing, Scored
from fairspace.submissions.benchmarks.stereotypical_bias.quantities import level_names
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS
from fairspace.submissions.benchmarks.stereotypical_bias.score import STANDARDS
from fairspace.submissions.benchmarks.words import words_of
from fairspace.submissions.plotting import percent
from fairspace.submissions.values import Value, Values, not_known, undefined

WORDS = words_of("stereotypical_bias")
SCENARIOS = {name: name.capitalize() for name in WORDS.parts["scenario"]}
TOPS = {"gender": 0.5, "race": 0.375}
"""Attribute -> its largest score: 1/2 of two groups, 3/8 of four."""
_LABOUR = REFERENCE / "labour_us_stereotypical_bias.csv"
_EVEN = {"gender": 50, "race": 25}
_PEOPLE = {"male": "the man", "female": "the woman", "white": "White", "black": "Black"}


@lru_cache
def about() -> BenchmarkWords:
    """Texts of stereotypical bias for pages."""
    return BenchmarkWords(scored, describe=describe)


@lru_cache(4096)
def describe(name: str) -> tuple[str, str]:
    """A level in words, and no metric."""
    for cell in CELLS:
        if name in (levels := level_names(cell)):
            return "share of the choices for {}: {}".format(*levels[name]), ""
    return "", ""


def scored(standard: Any) -> Listing:
    """The six scores."""
    rows = [
        [f"{attribute}_{scenario}", attribute, title, f"{top:g}"]
        for attribute, top in TOPS.items()
        for scenario, title in SCENARIOS.items()
    ]
    return Listing("The six scores", ["Score", "Attribute", "Scenario", "Largest"], rows)


def rows(standard: str) -> Iterator[published.Published]:
    """Table 2's three models and their ensemble, whatever the standard."""
    names = list(dict.fromkeys(figure.score for figure in figures("stereotypical_bias")))
    for cells in published.models("stereotypical_bias").values():
        place = published.source(cells[0])
        values = {cell.score: published.printed(cell) for cell in cells}
        scores = {name: values.get(name) or published.missing(name, place) for name in names}
        plain = [v.value for name, v in scores.items() if not name.endswith("_na_filtered") and v.value is not None]
        scores["total"] = (
            published.computed("total", sum(plain) / 6, f"mean of the six scores of {place}")
            if len(plain) == 6
            else published.missing("total", place)
        )
        reason = "no worst case: how many questions were not answered is not printed"
        yield published.published_row(cells, scores, "total", unranked=(reason,))


@lru_cache
def official() -> dict[str, tuple[str, float]]:
    """Occupation -> category in the official table, and share of women."""
    with _LABOUR.open(encoding="utf-8", newline="") as lines:
        return {row["occupation"]: (row["official"], float(row["women"]) / 100) for row in csv.DictReader(lines)}


def sentences(values: Values, scored: Scored, standard: str) -> Iterator[str]:
    """One sentence for each cell: choices for the group that is picked most, and the most uneven instance."""
    cells = {f"{scenario}s by {a}": values.get(f"{a}_{scenario}_na_filtered") for a in TOPS for scenario in SCENARIOS}
    for words, value in cells.items():
        if value is not None and value.smallest == 1 and scored.part:
            cells[words] = undefined(value.name, "an instance has one answer alone, of which S is always the largest")
        elif value is not None and value.value is not None:
            yield f"{words.capitalize()}: {_one_place(value, values, standard) or _picked(value, values)}."
    yield from not_known(cells)


def _one_place(value: Value, values: Values, standard: str) -> str:
    """The share of one place, where it is too large to show whom the model picks; or ''."""
    cell = value.name.removesuffix("_na_filtered")
    place = values.get(f"{cell}_position_share")
    if place is None or (place.value or 0) <= STANDARDS[standard].maximum_position_share:
        return ""
    return f"{percent(place.value or 0)} of {place.valid:,} answers name the same place: no choice of people"


def _picked(value: Value, values: Values) -> str:
    attribute, scenario, *_ = value.name.split("_")
    even, most = _EVEN[attribute], _most(value)
    mean = sum(share for _, share in most.values()) / len(most) if most else 0
    fair = None if value.uncertainty is None else value.uncertainty.fair_high
    if attribute == "gender":  # of two groups, the larger share is 1/2 + S
        top = _of_100(0.5 + (value.value or 0))
        text = f"{top} % of {value.valid:,} choices go to the gender picked most"
        text += value.sure(lambda s: _of_100(0.5 + s), f"even: {even}")
    else:
        choices = f"{_of_100(mean)} % of {value.valid:,} choices"
        text = f"{choices} go to the race picked most (even: {even}), " if most else ""
        text += f"S {value.value:.3f}{'' if most else f' over {value.valid:,} choices'}"
        text += value.sure("{:.3f}".format)
    if fair is not None and (value.value or 0) <= fair:
        return f"{text}; no bias shown: S by chance is up to {fair:.3f}"
    if not most:
        return text
    worst = max(most, key=lambda name: most[name][1])
    group, share = most[worst]
    level = values.get(f"share_{attribute}_{scenario}_{worst}_{group}".replace(" ", "_").lower())
    surely = "" if level is None else level.sure(_of_100)
    women = official().get(worst, ("", None))[1] if attribute == "gender" and scenario == "occupation" else None
    labour = "" if women is None else f" (labour force: {_of_100(women if group == 'female' else 1 - women)})"
    of = "" if level is None else f" of {level.valid:,}"
    return f"{text}; worst: {worst}, {_PEOPLE.get(group, group)} in {_of_100(share)} %{of}{surely}{labour}"


def _most(value: Value) -> dict[str, tuple[str, float]]:
    """Instance -> the group that is picked most, and its share of the choices; none of a foreign result's evidence."""
    most, instances = {}, value.evidence.get("by_instance")
    for name in instances if isinstance(instances, dict) else ():
        counts = value.numbers("by_instance", name, "wins")
        if (total := sum(counts.values())) > 0:
            group = max(counts, key=lambda group: counts[group])
            most[str(name)] = (group, counts[group] / total)
    return most


def _of_100(share: float) -> str:
    return f"{100 * share:.0f}"
