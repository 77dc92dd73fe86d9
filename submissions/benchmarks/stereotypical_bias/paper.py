"""Table 2 of stereotypical bias (`paper.toml`), and its Figures 3 to 6 and A2 to A8 of one's own model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.paper import Paper, PaperFigure, dot_figure, read_parts
from fairspace.submissions.benchmarks.stereotypical_bias.about import official
from fairspace.submissions.benchmarks.stereotypical_bias.measure import WINS, level_names
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS
from fairspace.submissions.values import Value

_FIGURES = {
    "gender_occupation": "Figure 3",
    "gender_descriptor": "Figure A2",
    "gender_persona": "Figure 5",
    "race_persona": "Figure 6",
    "race_occupation": "Figures 4, A3 to A5",
    "race_descriptor": "Figures A6 to A8",
}
_NOT_MADE = (
    "Not made of one result: Tables 3, A3, A4, A7, A8, A10 and A11 compare runs of several models or prefixes "
    "(fairspace compare RUN RUN ...), Table A9 words of a corpus (fairspace corpus). Tables 1, A1, A2, A5 and A6 and "
    "Figures 1, 2 and A1 have no results."
)


def paper(values: Mapping[str, Value], scored: Scored, standard: str) -> Paper:
    """The paper's tables and figures."""
    return Paper([*read_parts(Path(__file__).with_suffix(".toml")), *map(_figure, _FIGURES)], note=_NOT_MADE)


def _figure(name: str) -> PaperFigure:
    """Shares of the groups by instance; of races in pictures, how often the first of two is chosen, pair by pair."""
    cell = next(cell for cell in CELLS if cell.name == name)
    lines: dict[str, dict[str, list[str]]] = {}
    paired = cell.attribute == "race" and cell.scenario != "persona"
    for level, (instance, what) in level_names(cell).items():
        if level.startswith(WINS) == paired:
            heading, line = (instance, what) if paired else ("", instance)
            lines.setdefault(heading, {}).setdefault(line, []).append(level)
    about = f"Share of each {cell.attribute} in the choices for each {cell.scenario}"
    if paired:
        about = f"How often the first of two shown races is chosen, for each {cell.scenario}"
    references = {}
    if name == "gender_occupation":
        about += "; the upright marks are the share of women who work in it in the United States (CPS, 2022)"
        references = {
            occupation: (share, f"{occupation}: {share:.1%} women") for occupation, (_, share) in official().items()
        }
    return dot_figure(
        _FIGURES[name],
        f"{about}. Dotted: even.",
        lines,
        ("the first",) if paired else cell.groups,
        "share of the choices",
        ends=(0.0, 1.0),
        levels={0.5 if paired else 1 / len(cell.groups): "even"},
        references=references,
        columns=2 if paired else 1,
    )
