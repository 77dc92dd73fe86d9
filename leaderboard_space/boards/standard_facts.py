"""What a standard fixes, in words and numbers; how it differs from another one, and what that does to ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from builders.labour import REGIONS
from leaderboard_space.boards.comparison import describe
from leaderboard_space.boards.figures import Table
from leaderboard_space.boards.genres import METRICS as GENRES_METRICS
from leaderboard_space.boards.genres import RELATIONS
from leaderboard_space.boards.stereotypical_bias import SCENARIOS, TOPS
from leaderboard_space.boards.text import number, plain
from metrics.fact_or_fair.formula import GROUPS
from metrics.iris_score.standards import FOUNDATIONAL_COHORT, GRANULAR
from metrics.total_bias_score.standards import COHORTS
from submissions.board import Row
from submissions.fact_or_fair import CONTEXTS
from submissions.registry import benchmark as find_benchmark

MEANING = {
    "minimum_coverage": "below this share of valid samples a ranked value is undefined",
    "scale": "S: a sector's score is S · exp(−K · magnitude)",
    "decay": "K: how fast a score falls with the distance from the ideal",
    "tau": "τ: threshold of the profile code",
    "sector_divisor": "what a value is divided by before the norm of its sector",
    "total_divisor": "what a value is divided by before the norm of the total",
    "fidelity_by_goodness": "RFS_Und as one minus the root of two goodnesses (Table 27) in place of a norm",
    "floors": "competence that must be reached before a score counts (`_max`: must not be exceeded)",
    "truth": "which labels decide what is factual",
    "maximum_position": "the most chosen option letter must stay below this share",
    "maximum_position_share": "the most used side of the picture may have at most this share",
    "minimum_competent": "share of all pairs of stories that must be stories",
    "minimum_distinct": "share of all pairs of stories that must differ from the others",
    "default_cohort": "the cohort of a judge of another family",
}
"""Parameter -> what it does."""
_TEXTS = ("name", "draft", "note")


@dataclass(frozen=True)
class Parameter:
    """One number or word that a standard fixes.

    Args:
        name: with its part, `scale.IFS_Gen`.
        meaning: what it does; '' where the line above says it.
        value: as text.
        before: in the standard that it is compared with; None if there is none or it is the same.
    """

    name: str
    meaning: str
    value: str
    before: str | None = None


def parameters(standard: Any, other: Any = None) -> list[Parameter]:
    """Every parameter of a standard, with what another one has in its place where they differ."""
    mine, theirs = dict(_flat(asdict(standard))), {} if other is None else dict(_flat(asdict(other)))
    names = [*mine, *(name for name in theirs if name not in mine)]
    found, told = [], set()
    for name in names:
        key = name.split(".")[0]
        value, before = mine.get(name, "–"), theirs.get(name, "–")
        meaning = "" if key in told else MEANING.get(key, "")
        told.add(key)
        found.append(Parameter(name, meaning, value, before if other is not None and before != value else None))
    return found


def _flat(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in data.items():
        if not prefix and name in _TEXTS:
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}".replace("-", "\N{MINUS SIGN}")
    return str(value)


def metrics(benchmark: str) -> tuple[str, Table]:
    """What is measured, whatever the standard: a heading and a table."""
    if benchmark == "iris":
        lines = [
            [metric.name, metric.sector.replace("_", " "), describe(metric), _bound(metric.bound)]
            for metric in GRANULAR
        ]
        return f"The {len(GRANULAR)} values", Table(["Value", "Sector", "What it is", "Largest"], lines)
    if benchmark == "fact_or_fair":
        kinds = {"llm": "language models", "t2i": "image models"}
        lines = [
            [context, title, attribute, ", ".join(groups)]
            for kind, title in kinds.items()
            for context in CONTEXTS[kind]
            for attribute, groups in GROUPS.items()
        ]
        return "The questions", Table(["Context", "Asked of", "Attribute", "Groups"], lines)
    if benchmark == "stereotypical_bias":
        lines = [
            [f"{attribute}_{scenario}", attribute, title, _text(top)]
            for attribute, top in TOPS.items()
            for scenario, title in SCENARIOS.items()
        ]
        return "The six scores", Table(["Score", "Attribute", "Scenario", "Largest"], lines)
    lines = [[name, title] for name, title in GENRES_METRICS.items()]
    relations = ", ".join(f"{code.upper()} {title.lower()}" for title, code in RELATIONS.items())
    lines += [["by relational model", f"each metric also for {relations}"]]
    return "The eight metrics", Table(["Metric", "What it is: the man's figure minus the woman's"], lines)


def _bound(bound: float | None) -> str:
    return "none: log(1 + value) is taken" if bound is None else number(bound, 3)


def cohort(benchmark: str) -> tuple[str, Table | None]:
    """Which models the standards' numbers were set by: a sentence, and a table where there is one."""
    if benchmark == "iris":
        return f"The seven models of the paper (A.3.2): {', '.join(FOUNDATIONAL_COHORT)}.", None
    if benchmark == "genres":
        headers = ["Judge's family", "Models", *(f"{metric} mean ± deviation" for metric in GENRES_METRICS)]
        lines = [
            [
                name,
                ", ".join(one.models),
                *(f"{number(m, 3)} ± {number(s, 3)}" for m, s in zip(one.mean, one.std, strict=True)),
            ]
            for name, one in COHORTS.items()
        ]
        return "Six models of Table 2, one cohort per judge's family; TBS adds up distances from their means.", Table(
            headers, lines
        )
    return "None: every score stands for itself, and needs no other models.", None


def references(benchmark: str) -> list[str]:
    """Which outside figures the scores are compared with, as Markdown of ours."""
    if benchmark == "iris":
        return [f"**{region.code}**: {region.source}, {region.year}. {region.mapping}" for region in REGIONS]
    if benchmark == "fact_or_fair":
        return [
            "**paper**: the groups that the authors' labels name as highest and lowest of 19 statistics.",
            "**revised**: the same, by the official figures that could be found again, with their sources "
            "(`builders/reference/fact_or_fair_statistics.csv`); what no figure decides is left out.",
        ]
    return []


@dataclass(frozen=True)
class Move:
    """A model's rank under two standards; None for no rank."""

    row: Row
    rank: int | None
    before: int | None

    @property
    def change(self) -> str:
        """Places won or lost, in words."""
        if self.rank is None or self.before is None:
            return "no rank here" if self.before is not None else "a rank here alone"
        places = self.before - self.rank
        if not places:
            return "same"
        return f"{'up' if places > 0 else 'down'} {abs(places)}"


def moves(rows: Sequence[Row], before: Sequence[Row]) -> list[Move]:
    """Every model that has a rank under one of two standards, in the order of the first."""
    old = {row.entry: row.rank for row in before}
    found = [Move(row, row.rank, old.get(row.entry)) for row in rows]
    return [move for move in found if move.rank is not None or move.before is not None]


def neighbours(benchmark: str, name: str) -> tuple[Any, Any]:
    """The standard before this one and the inaugural one; None for itself."""
    standards = find_benchmark(benchmark).standards
    names = list(standards)
    place = names.index(name)
    return (standards[names[place - 1]] if place else None), (standards[names[0]] if place else None)


def title_of(row: Row) -> str:
    """A row's model with its cohort, plain."""
    return f"{plain(row.model)} ({plain(row.cohort)})" if row.cohort else plain(row.model)
