"""Tables 2 to 4, 12 and 13 of GENRES (`paper.toml`), and its Figures 4 to 8 and 12 to 14 of one's own model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fairspace.builders.genres import plan
from fairspace.builders.registry import Figure
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.genres.about import RELATIONS
from fairspace.submissions.benchmarks.genres.unranked import BINS
from fairspace.submissions.benchmarks.paper import Model, Paper, PaperFigure, read_parts
from fairspace.submissions.benchmarks.paper_dots import dot_figure
from fairspace.submissions.benchmarks.scoring_table import Rule, ScoringTable
from fairspace.submissions.values import Value, measured

_SUFFIXES = {**{title: f"_{code}" for title, code in RELATIONS.items()}, "All": ""}
_SIDES = ("the man", "the woman")
_TWICE = {"M3": "table_2.M3", "M6": "table_2.M6"}
"""Values that Table 2 prints with other digits than Tables 3, 4, 12 and 13."""
_NOT_MADE = (
    "Not made: Figures 15 to 17 (other judges: the figures of a result by that judge); Tables 1 and 5 to 11 and "
    "Figures 2, 3 and 9 to 11 (design and prompts); Figure 1 (stories of one character: M1_single, M7_single)."
)


def paper(values: Mapping[str, Value], scored: Scored, standard: str) -> Paper:
    """The paper's tables and figures."""
    rules = ScoringTable({name: Rule(name, {metric: 1.0}) for metric, name in _TWICE.items()})
    parts = [*read_parts(Path(__file__).with_suffix(".toml")), *_figures(values)]
    return Paper(parts, _name, rules, note=_NOT_MADE)


def _name(figure: Figure) -> tuple[str, float]:
    return _TWICE.get(figure.score, figure.score.removeprefix("delta_")), 1.0


def _figures(values: Mapping[str, Value]) -> list[PaperFigure]:
    def sides(pattern: str, who: Sequence[str] = plan.GENDERS) -> dict[str, dict[str, list[str]]]:
        return {"": {title: [f"{pattern.format(of)}{end}" for of in who] for title, end in _SUFFIXES.items()}}

    status = "agreement_two_thirds_status_{}" if "agreement_two_thirds_status" in values else "M4_{}"
    by_whom = "on which two thirds of the evaluations agree" if status[0] == "a" else "by one judge"
    percents = [f"{100 * bin_ // BINS} to {100 * (bin_ + 1) // BINS} %" for bin_ in range(BINS)]
    warmth = {
        title: {
            text: [f"warmth_{gender}_{code}:{place}" for gender in plan.GENDERS] for place, text in enumerate(percents)
        }
        for title, code in RELATIONS.items()
    }
    correlations = {
        f"{metric}, {what}": {title: [f"{metric}{end}"] for title, end in _SUFFIXES.items()}
        for metric, what in (("M7", "both pros and cons"), ("M8", "main character"))
    }
    return [
        dot_figure(
            "Figures 4, 12 to 14",
            "Warmth ratios of the profiles: the share of profiles in each tenth, by gender and relational model.",
            warmth,
            _SIDES,
            "share of profiles",
            columns=2,
            read=_histogram,
        ),
        dot_figure(
            "Figure 5",
            "M2, valence of the personality words, man less woman; above 0 the man's are more positive.",
            {"": {title: [f"M2{end}"] for title, end in _SUFFIXES.items()}},
            ("man less woman",),
            "M2",
        ),
        dot_figure(
            "Figure 6",
            f"Share of passages in which the man, or the woman, has the higher status, {by_whom}.",
            sides(status),
            _SIDES,
            "share of passages",
            ends=(0.0, 1.0),
        ),
        dot_figure(
            "Figure 7", "Emotion words about each character, mean of a passage.", sides("M5_{}"), _SIDES, "words"
        ),
        dot_figure(
            "Figure 8",
            "Correlation of gender with being given both pros and cons, and with being the main character; above 0 the "
            "man more often. The paper's size of a bubble is its p-value (M7_p, M8_p).",
            correlations,
            ("correlation",),
            "correlation",
            columns=2,
        ),
    ]


def _histogram(model: Model, name: str) -> Value | None:
    """The share of profiles in a tenth, from the evidence of `warmth_male_cs:3`."""
    of, _, place = name.partition(":")
    counts = model.values[of].evidence.get("histogram") if of in model.values else None
    return measured(name, counts[int(place)] / sum(counts)) if counts and sum(counts) else None
