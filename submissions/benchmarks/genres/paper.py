"""Tables 2 to 4, 12 and 13 of GENRES, and its Figures 4 to 8 and 12 to 14 of one's own model (`paper.toml`)."""

from collections.abc import Mapping
from pathlib import Path

from fairspace.builders.registry import PrintedCell
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.paper import PaperTables, PrintedModel, read_dots, read_parts, value_of
from fairspace.submissions.benchmarks.scoring_table import Rule, ScoringTable
from fairspace.submissions.values import Value, measured

_TWICE = {"M3": "table_2.M3", "M6": "table_2.M6"}
"""Values that Table 2 prints with other digits than Tables 3, 4, 12 and 13."""
_ABSENT = {
    "Figures 15 to 17": "they are those of other judges, so the figures of a result by that judge",
    "Tables 1 and 5 to 11 and Figures 2, 3 and 9 to 11": "they have no results but the design and the prompts",
    "Figure 1": "it is of stories of one character: M1_single, M7_single",
}


def paper(values: Mapping[str, Value], scored: Scored, standard: str) -> PaperTables:
    """The paper's tables and figures."""
    rules = ScoringTable({name: Rule(name, {metric: 1.0}) for metric, name in _TWICE.items()})
    file = Path(__file__).with_suffix(".toml")
    return PaperTables([*read_parts(file), *read_dots(file, _value)], _name, rules, absent=_ABSENT)


def _name(figure: PrintedCell) -> tuple[str, float]:
    return _TWICE.get(figure.score, figure.score.removeprefix("delta_")), 1.0


def _value(model: PrintedModel, name: str) -> Value | None:
    """A value; of `warmth_male_cs:3` the share of profiles in that tenth, of `M4_male` that of agreed evaluations."""
    of, _, place = name.partition(":")
    if not place:
        return value_of(model, name.replace("M4_", "agreement_two_thirds_status_")) or value_of(model, name)
    counts = model.values[of].evidence.get("histogram") if of in model.values else None
    return measured(name, counts[int(place)] / sum(counts)) if counts and sum(counts) else None
