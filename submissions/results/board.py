"""The rows of a board and their fields, for command, Space and downloads: published figures and scored results.

Rows stand by class (`CLASSES`), and each class has ranks of its own, by the worst case (design, invariant 2). Unranked
rows stand below, with every reason. Facts of a model are its submitter's; those of published rows are in
`builders/reference/published/model_facts.csv` with sources.
"""

import hashlib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from fairspace.builders.registry import table
from fairspace.submissions.benchmarks.benchmark import Benchmark, Scored, protocol_group
from fairspace.submissions.benchmarks.published import Published, published
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import digits
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Facts, Row, ranked, row_with
from fairspace.submissions.results.scoring import find_standard, limits_of, rescore
from fairspace.submissions.results.three_numbers import could_be
from fairspace.submissions.results.tiers import tiered, why_no_tier
from fairspace.submissions.values import Value, not_run

UNSCORABLE = "this version of fairspace cannot score it"
"""Reason of an unranked row that another version wrote."""
UNSCORABLE_BY = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors of scoring a result that lacks something this version needs."""
NOT_STATED = "not stated"
"""Licence in `fairspace run` if none is given."""
log = logging.getLogger(__name__)


def board(
    benchmark: str,
    standard: str = "",
    results: Iterable[Result] = (),
) -> list[Row]:
    """Published rows and results of one benchmark under one standard ('' for the default), others rescored.

    Rows stand by class; within a class by cohort and rank, then the unranked ones by value and model name. A submission
    that was scored under several standards stands once, two submissions of one model name stand both. UsageError:
    unknown benchmark or standard.
    """
    standard = find_standard(find_benchmark(benchmark), standard).name
    scored = {entry(result): result for result in results}
    rows = [*published_rows(benchmark, standard), *(scored_row(scored[name], standard) for name in sorted(scored))]
    return tiered(ranked(rows, benchmark, standard), benchmark, standard)


def entry(result: Result) -> str:
    """Identifier of a result on the board, 16 hex digits; the same under every standard."""
    parts = (result.signature.get("submission", ""), str(result.meta.get("model")), str(result.meta.get("revision")))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@lru_cache
def published_rows(benchmark: str, standard: str = "") -> tuple[Row, ...]:
    """The printed rows of a benchmark's paper, still unranked. UsageError: unknown benchmark or standard."""
    standard = find_standard(find_benchmark(benchmark), standard).name
    rows = enumerate(published(benchmark, standard), 1)
    return tuple(_published_row(benchmark, standard, number, row) for number, row in rows)


def _published_row(benchmark: str, standard: str, number: int, row: Published) -> Row:
    bench = find_benchmark(benchmark)
    protocol = row.protocol
    value = row.scores.get(row.ranking)
    return Row(
        entry=f"p-{number:02}",
        model=row.model,
        organisation=row.organisation,
        provenance="published",
        source=row.source,
        scores=row.scores,
        labels=row.labels,
        cohort=row.cohort,
        protocol=protocol,
        group=protocol_group(bench.standards[standard], protocol),
        ranked=None if row.unranked or value is None else value.value,
        unranked=row.unranked,
        footnotes=row.footnotes,
        values=row.values,
        facts=published_facts(benchmark, row),
    )


def scored_row(result: Result, standard: str) -> Row:
    """The row of one's own result under a standard, still unranked. UsageError: unknown standard."""
    return row_with(_row_of(_under(result, standard)), own="scored here")


def logged_row(result: Result, standard: str, tasks: tuple[str, ...] | None = None) -> Row:
    """The row of a result from a log, written by any version of fairspace, still unranked.

    A result that this version cannot score has no scores. `tasks`: those with values, where they are known.
    """
    try:
        return _row_of(_under(result, standard), tasks)
    except UNSCORABLE_BY:
        return unscored_row(result, standard, tasks)


def unscored_row(result: Result, standard: str, tasks: tuple[str, ...] | None = None) -> Row:
    """The row of a result that cannot be scored because of the error that is being handled; it has no scores."""
    return _row_of(_unscored(result, standard), tasks)


def _under(result: Result, standard: str) -> Result:
    return result if result.standard == standard else rescore(result, standard, errors=False)


def _unscored(result: Result, standard: str) -> Result:
    log.exception("result %s under %s/%s: %s", entry(result), result.benchmark, standard, UNSCORABLE)
    names = dict.fromkeys(name for row in published_rows(result.benchmark, standard) for name in row.scores)
    scores = {name: not_run(name, UNSCORABLE) for name in names}
    return replace(result, standard=standard, scored=Scored(scores, "", None, (UNSCORABLE,)), draws=None)


def _row_of(result: Result, tasks: tuple[str, ...] | None = None) -> Row:
    meta, bench = result.meta, find_benchmark(result.benchmark)
    protocol = bench.protocol_of(result.signature, result.scored)
    labelled = result.signature.get("judge") or result.signature.get("labels")
    return Row(
        entry=entry(result),
        model=str(meta.get("model", "")),
        organisation=str(meta.get("organisation", "")),
        provenance="baseline" if meta.get("baseline") else "scored here",
        source=f"fairspace {result.signature.get('fairspace', '')}" + (f", {labelled}" if labelled else ""),
        scores=result.scored.scores,
        labels=result.scored.labels,
        cohort=bench.protocols.cohort_of(result.scored),
        protocol=protocol,
        group=protocol_group(bench.standards[result.standard], protocol),
        ranked=result.scored.ranked,
        unranked=result.scored.unranked,
        remarks=limits_of(result),
        values=result.values,
        result=result,
        facts=facts_of(result, tasks),
        chances=result.scored.chances,
    )


def facts_of(result: Result, tasks: tuple[str, ...] | None = None) -> Facts:
    """Facts of the model from `submission.json`, and the tasks with values, looked up unless they are known."""
    meta = result.meta
    licence = str(meta.get("licence", ""))
    return Facts(
        licence="" if licence == NOT_STATED else licence,
        architecture=meta.get("architecture") or "",
        parameters=meta.get("parameters"),
        open_weights=meta.get("open_weights"),
        tasks=_tasks(find_benchmark(result.benchmark), result.values) if tasks is None else tasks,
    )


def published_facts(benchmark: str, row: Published) -> Facts:
    """Certain facts of a paper's model, and the tasks with printed figures."""
    facts = _reviewed()[benchmark, row.model]
    return Facts(
        licence=facts["licence"],
        architecture=facts["architecture"],
        parameters=float(facts["parameters"]) if facts["parameters"] else None,
        open_weights={"yes": True, "no": False, "": None}[facts["open_weights"]],
        tasks=_tasks(find_benchmark(benchmark), {**row.values, **row.scores}),
    )


@lru_cache
def _reviewed() -> Mapping[tuple[str, str], Mapping[str, str]]:
    return {(row["benchmark"], row["model"]): row for row in table("model_facts")}


def _tasks(bench: Benchmark, values: Mapping[str, Value]) -> tuple[str, ...]:
    return tuple(
        task.name
        for task in bench.tasks
        if any(name in values and values[name].state != "not_run" for name in task.values)
    )


_TEXTS = (
    *("entry", "rank", "model", "organisation", "provenance", "row_class", "visibility", "source", "submitter"),
    *("owner", "claim", "copy_of", "attempt", "account_attempt", "cohort", "protocol", "group"),
)
"""Fields of a row that are JSON data as they are."""
DIGITS = 12
"""Significant digits of a printed number; no paper prints more."""
LEFT = 1e-12
"""Largest rounding distance of a value from its own bounds; more would be a fault, and is not hidden."""


def about_row(row: Row) -> dict[str, Any]:
    """The fields of a row without scores and facts as JSON data; `Row` says what they are. Texts are `plain`.

    `remarks` also has the marks of other stimuli and footnotes; `no_tier` says why there is no tier.
    """
    other = "" if row.result is None else find_benchmark(row.result.benchmark).words.stimuli_of(row.protocol)
    notes = [f"{note.score}: {note.text} ({note.erratum})" for note in row.footnotes]
    return {
        **{name: _plain(getattr(row, name)) for name in _TEXTS},
        "ranked": row.ranked if row.ranked is None or row.provenance != "published" else printed_number(row.ranked),
        "unranked": [*map(plain, row.unranked)],
        "remarks": [
            *map(plain, (*row.remarks, *([f"stimuli other than the paper's: {other}"] if other else []), *notes))
        ],
        "labels": dict(row.labels),
        "tier": row.tier,
        "rank_range": None if row.rank_range is None else [*row.rank_range],
        "no_tier": why_no_tier(row),
        "chances": dict(row.chances),
    }


def row_json(row: Row) -> dict[str, Any]:
    """A row as JSON data, as the API and commands give it; pages and files show the same fields."""
    footnotes = [vars(footnote) for footnote in row.footnotes]
    return {**about_row(row), "scores": values_json(row.scores), "footnotes": footnotes, "facts": facts_json(row.facts)}


def facts_json(facts: Facts) -> dict[str, Any]:
    """Facts of a model as JSON data; texts are `plain`."""
    return {name: [*fact] if name == "tasks" else _plain(fact) for name, fact in vars(facts).items()}


def values_json(values: Mapping[str, Value]) -> dict[str, Any]:
    """Values by name as JSON data, with the effect of missing answers in words where there is one."""
    shown = {name: exact(value) for name, value in values.items()}
    missing = {name: could_be(value, digits) for name, value in shown.items()}
    return {
        name: value.to_json() | ({"missing": missing[name]} if missing[name] else {}) for name, value in shown.items()
    }


def exact(value: Value) -> Value:
    """The value within its bounds, and a printed share with its printed digits: 0.9618, not 0.9618000000000001."""
    number, low, high = value.value, value.low, value.high
    if number is None:
        return value
    if "printed" in value.evidence:
        number = printed_number(number)
    if low is not None and number < low <= number + LEFT:
        low = number
    if high is not None and number - LEFT <= high < number:
        high = number
    same = (number, low, high) == (value.value, value.low, value.high)
    return value if same else replace(value, value=number, low=low, high=high)


def printed_number(number: float) -> float:
    """A printed number with its digits."""
    return float(f"{number:.{DIGITS}g}")


def _plain(field: Any) -> Any:
    return plain(field) if isinstance(field, str) else field
