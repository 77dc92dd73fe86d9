"""The tables and figures of stereotypical bias: of a result Table 2 (`paper.toml`), Figures 3 to 6 and A2 to A8.

Of submissions to compare: the ensemble in Table 2, similarities (Tables A3, A4, A10), prefixes (Tables 3, A7, A8, A11).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fairspace.builders.registry import table
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.paper import (
    PaperFigure,
    PaperTable,
    PaperTables,
    PrintedModel,
    dot_figure,
    read_parts,
)
from fairspace.submissions.benchmarks.stereotypical_bias.about import SCENARIOS, official
from fairspace.submissions.benchmarks.stereotypical_bias.compare import compare, prefix_of
from fairspace.submissions.benchmarks.stereotypical_bias.quantities import WINS, level_names
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.values import Value

_FIGURES = {
    "gender_occupation": "Figure 3",
    "gender_descriptor": "Figure A2",
    "gender_persona": "Figure 5",
    "race_persona": "Figure 6",
    "race_occupation": "Figures 4, A3 to A5",
    "race_descriptor": "Figures A6 to A8",
}
_MITIGATED = {"Table 3": "CogVLM", "Table A7": "LLaVA-v1.5", "Table A8": "MiniGPT-v2"}
_MITIGATIONS = {"self_reminder": "SR", "debiasing": "Debiasing"}
_ROLES = {"sexist_racist": "Sexist/Racist", "barack_obama": "Barack Obama", "donald_trump": "Donald Trump"}
_CHANGE = "Change of the scores with {} as prefix; below 0 is fairer."
_NEEDS = "Name submissions to compare beside the result"
_ABSENT = {
    "Tables 1, A1, A2, A5, A6 and Figures 1, 2, A1": "they have no results",
    "Table A9": "it counts words of a corpus (`fairspace corpus`)",
}


def paper(values: Mapping[str, Value], scored: Scored, standard: str) -> PaperTables:
    """The paper's tables and figures."""
    (first,) = read_parts(Path(__file__).with_suffix(".toml"))
    rows = (row for name in ("prefixes", "similarity") for row in table(f"stereobias_tables_{name}"))
    printed = [PrintedModel(row["model"], False, "", {}, row, {}) for row in rows]
    return PaperTables(
        [first, *_comparisons(first), *map(_figure, _FIGURES)], references=printed, read=_read, absent=_ABSENT
    )


def _comparisons(first: Any) -> Iterator[PaperTable]:
    """Tables of several submissions, with the rows of Table 2, in its order or by scenario."""
    by_scenario = sorted(first.blocks, key=lambda block: [*SCENARIOS.values()].index(block.heads[1]))
    of = partial(PaperTable, heads=first.heads, blocks=first.blocks, needs=_NEEDS)
    alike, ends = partial(of, digits=2, unit=100.0), {"": "-", "_na_filtered": "N/A Filtered"}
    for number, model in _MITIGATED.items():
        names = {f"{t} {e}": f"{name}_*{end}" for name, t in _MITIGATIONS.items() for end, e in ends.items()}
        text = _CHANGE.format("self-reminder (SR) or debiasing")
        yield of(number, text, [*names], [*names.values()], across=True, models=[model])
    for number, persona in {"Table A3": False, "Table A4": True}.items():
        rows = [block for block in first.blocks if persona == block.of.endswith("persona")]
        text = "Questions that two models answer alike, in percent."
        yield alike(number, text, ["Similarity"], ["similarity_*"], blocks=rows)
    text, names_of = "Questions answered alike with a role and without.", [f"{role}_similarity_*" for role in _ROLES]
    yield alike("Table A10", text, [*_ROLES.values()], names_of, blocks=by_scenario)
    each = [(title, head, f"{role}_*{end}") for role, title in _ROLES.items() for end, head in ends.items()]
    groups, heads, names_of = map(list, zip(*each, strict=True))
    yield of("Table A11", _CHANGE.format("a role"), heads, names_of, groups=groups, blocks=by_scenario)


def _read(sources: Sequence[Path], open_one: Callable[[Path], Submission]) -> Sequence[PrintedModel]:
    """Rows of submissions: each pair of models, each model with prefixes, and the ensemble of all without."""
    from fairspace.submissions.benchmarks.registry import benchmark

    runs, rows = [*map(open_one, sources)], dict[str, dict[str, Value]]()
    plain, values = [run for run in runs if prefix_of(run) == "plain"], compare(runs)
    if len(plain) > 1:
        agreed = {name: value for name, value in compare(plain).items() if name.startswith("ensemble_")}
        rows["Ensemble of yours"] = {f"{name.removeprefix('ensemble_')}_na_filtered": v for name, v in agreed.items()}
    for name, value in ((n, value) for n, value in values.items() if not n.startswith("ensemble_")):
        of_value = [runs[int(place) - 1] for place in name.split("_") if place.isdigit()]
        prefix = "_and_".join(sorted({prefix_of(run) for run in of_value} - {"plain"}))
        models = dict.fromkeys(run.meta.model for run in of_value)
        if not (prefix and len(models) > 1):
            key = f"{prefix}_{name.rstrip('_0123456789').removeprefix('prefix_difference_')}".removeprefix("_")
            rows.setdefault(" and ".join(models), {})[key] = value
    protocol = benchmark("stereotypical_bias").protocol_title(runs[0].meta.dataset_revision)
    note = {"": f"Compared: {len(runs)} submissions, dataset revision {protocol}."}
    return [PrintedModel(name, True, "", of_row, {}, note) for name, of_row in rows.items()]


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
        about += "; upright marks: the share of women in it in the United States (CPS, 2022; the paper's: 2023)"
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
