"""The standards of all benchmarks, at `/standards`, and each one, at `/standard/<benchmark>/<name>`."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.pages.figures import board_of
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.metrics.iris_score.standards import IrisStandard
from fairspace.submissions.benchmarks.iris.validation import FEWEST, cohort_of, lacking, tables, validate
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.results.row import Row
from fairspace.submissions.show.table import Table
from fairspace.submissions.standards import changed_references, digest, document, field_text, fields, moves

router = APIRouter(include_in_schema=False)
MOST = 200
"""Maximum models in the list of rank changes."""


@router.get("/standards")
def standards(request: Request) -> Response:
    """All standards, with their differences."""
    listed = []
    for view in VIEWS.values():
        about = find_benchmark(view.benchmark)
        those = [
            (standard, [p for p in parameters(standard, neighbours(view.benchmark, name)[0]) if p.before is not None])
            for name, standard in about.standards.items()
        ]
        listed.append((view, about.default, those))
    return page(request, "standards.html.jinja", found=listed)


@router.get("/standard/{benchmark}/{name}")
def standard(request: Request, benchmark: str, name: str) -> Response:
    """One standard: parameters, changes, and their effect on ranks."""
    state = space_of(request).state
    rows = board_of(state, benchmark, name)
    about = find_benchmark(benchmark)
    rules = about.standards[name]
    scored = about.scored(rules)
    before, first = neighbours(benchmark, name)
    moved = moves(rows, board_of(state, benchmark, first.name)) if first is not None else []
    return page(
        request,
        "standard.html.jinja",
        view=VIEWS[benchmark],
        about=about,
        standard=rules,
        before=before,
        first=first,
        parameters=parameters(rules, before),
        metrics=(scored.heading, Table(scored.headers, scored.rows)),
        cohort=cohort(benchmark, rules),
        origin=origin(benchmark, rules),
        references=about.about().references,
        archetypes=about.about().archetypes,
        ranked=sum(row.rank is not None for row in rows),
        succession=about.about().succession(rules, rows),
        moves=moved[:MOST],
        left_out=len(moved) - len(moved[:MOST]),
        validation=validation([*rows], rules) if isinstance(rules, IrisStandard) else (),
        title_of=title_of,
    )


MEANING = {
    "metrics": "the values that are scored; the table below lists them",
    "minimum_coverage": "below this share of valid samples a ranked value is undefined",
    "scale": "S: a sector's score is S · exp(−K · magnitude)",
    "quality_scale": "units of a quality's penalty in one unit as measured",
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
_TOLD = (
    *("benchmark", "name", "draft", "note", "date", "why", "ares", "metrics", "metrics_sha256", "calibration"),
    *("cohort", "cohort_source", "cohorts", "references", "dataset_revisions", "together"),
)
"""Fields shown in other parts of the page."""


@dataclass(frozen=True)
class Parameter:
    """One number or word that a standard fixes.

    Args:
        name: parameter with its part, `scale.IFS_Gen`.
        meaning: explanation; '' if the line above has it.
        before: value in the compared standard; None if absent or equal.
    """

    name: str
    meaning: str
    value: str
    before: str | None = None


def parameters(standard: Any, other: Any = None) -> list[Parameter]:
    """Every parameter of a standard, with a different value of another standard beside it."""
    mine, theirs = _settings(standard), {} if other is None else _settings(other)
    names = [*mine, *(name for name in theirs if name not in mine)]
    listed, explained = [], set()
    for name in names:
        key = name.split(".")[0]
        value, before = mine.get(name, "–"), theirs.get(name, "–")
        meaning = "" if key in explained else MEANING.get(key, "")
        explained.add(key)
        listed.append(Parameter(name, meaning, value, before if other is not None and before != value else None))
    return listed


def _settings(standard: Any) -> dict[str, str]:
    values = document("", standard)
    count = {"metrics": f"{len(values['metrics'])} in {len(standard.sectors)} sectors"} if "metrics" in values else {}
    rest = {name: field_text(value) for name, value in fields({k: v for k, v in values.items() if k not in _TOLD})}
    return count | rest


def cohort(benchmark: str, standard: Any) -> tuple[str, Table | None]:
    """The models behind a standard's numbers: a sentence, and possibly a table."""
    if not standard.cohort:
        return "None: every score stands for itself, and needs no other models.", None
    models = plain(", ".join(standard.cohort))
    text = f"{len(standard.cohort)} models: {models}. Their figures: {standard.cohort_source}."
    figures = find_benchmark(benchmark).about().cohort(standard)
    if figures is None:
        return text, None
    return f"{text} {figures.heading}".rstrip(), Table(figures.headers, figures.rows)


def validation(rows: list[Row], standard: IrisStandard) -> list[tuple[str, Table, str]]:
    """Checks of section 4.1 over the ranked rows with every value, as tables with a remark; empty for too few."""
    complete = [row for row in rows if row.rank is not None and not lacking(row, standard)]
    checks = tables(validate(cohort_of(complete, standard))) if len(complete) >= FEWEST else ()
    return [(title, Table(tuple(headers), lines), rest) for title, headers, lines, rest in checks]


def origin(benchmark: str, standard: Any) -> dict[str, Any]:
    """The basis of a standard beside its parameters; of each reference file whether it is unchanged."""
    changed = changed_references(standard)
    return {
        "sha256": digest(document(benchmark, standard)),
        "revisions": [f"{dataset} {', '.join(names)}" for dataset, names in standard.dataset_revisions.items()],
        "together": [f"{title}: {', '.join(protocols)}" for title, protocols in standard.together.items()],
        "files": [(file, sha256, file not in changed) for file, sha256 in standard.references.items()],
        "metrics_sha256": getattr(standard, "metrics_sha256", ""),
        "ares": getattr(standard, "ares", ""),
        "command": f"fairspace standard {benchmark}/{standard.name}",
    }


def neighbours(benchmark: str, name: str) -> tuple[Any, Any]:
    """The standard released before that differs least from this one, and the first of all; None for the first."""
    standards = sorted(find_benchmark(benchmark).standards.values(), key=lambda standard: standard.date)
    place = [standard.name for standard in standards].index(name)
    apart = {other.name: sum(p.before is not None for p in parameters(standards[place], other)) for other in standards}
    earlier = standards[place - 1 :: -1] if place else []
    return (min(earlier, key=lambda other: apart[other.name]), standards[0]) if place else (None, None)


def title_of(row: Row) -> str:
    """A row's model with its cohort, plain."""
    return f"{plain(row.model)} ({plain(row.cohort)})" if row.cohort else plain(row.model)
