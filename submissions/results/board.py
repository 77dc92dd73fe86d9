"""The rows of a board and their fields, for command, Space and downloads: published figures and scored results.

Rows stand by class (`CLASSES`), and each class has ranks of its own, by the worst case (design, invariant 2). Unranked
rows stand below, with every reason. Facts of a model are its submitter's; those of published rows are in
`builders/reference/published/model_facts.csv` with sources.
"""

from __future__ import annotations

import hashlib
import logging
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import Any

from fairspace.builders.registry import table
from fairspace.submissions.benchmarks.benchmark import Benchmark, Scored, protocol_group
from fairspace.submissions.benchmarks.published import Published, published
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Facts, Provenance, Row, RowClass, row_with
from fairspace.submissions.results.scoring import find_standard, limits_of, rescore
from fairspace.submissions.results.tiers import tiered, why_no_tier
from fairspace.submissions.values import Value, not_run, number_of

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


def keep_out(row: Row, *reasons: str) -> Row:
    """The row without a rank, for reasons independent of its scores; unchanged without reasons."""
    if not reasons:
        return row
    unranked = tuple(dict.fromkeys((*reasons, *row.unranked)))
    return row_with(row, ranked=None, rank=None, unranked=unranked, kept_out=(*row.kept_out, *reasons))


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


def ranking_of(row: Row, bench: Benchmark, standard: str) -> str:
    """The score that ranks a row; '' for a printed row without one."""
    if row.result is not None and row.result.scored.ranking:
        return row.result.scored.ranking
    names = bench.scoring.table(bench.scoring.resolve(find_standard(bench, standard), row.labels), AS_RELEASED).ranking
    return next((name for name in names if name in row.scores), names[0] if names else "")


def ranked(rows: Iterable[Row], benchmark: str, standard: str = "") -> list[Row]:
    """Rows by class with their ranks, best first within each cohort and group, then the unranked ones by value.

    Equal numbers share a rank. Baselines take none, nor do submitted rows before they are verified or released.
    """
    bench = find_benchmark(benchmark)
    sign, standard = -1.0 if bench.higher_is_better else 1.0, standard or bench.default

    def value_of(row: Row) -> float | None:
        if row.ranked is not None:
            return row.ranked
        return number_of(row.scores, ranking_of(row, bench, standard))

    rows = list(rows)
    groups = sorted({row.group for row in rows}, reverse=True)  # the newest revision first, printed rows last

    def order(row: Row) -> tuple[float, bool, bool, str, int, float, str, str]:
        value = value_of(row)
        number = math.inf if value is None else sign * value
        name, place = row.model.casefold(), groups.index(row.group)
        return row.part, bool(row.copy_of), row.ranked is None, row.cohort, place, number, name, row.entry

    rows = sorted(rows, key=order)
    signed: dict[tuple[RowClass, str, str], list[float]] = {}
    for row in rows:
        if row.ranked is not None and row.takes_rank:
            signed.setdefault(row.ranked_with, []).append(sign * row.ranked)
    return [
        row_with(row, rank=bisect_left(signed[row.ranked_with], sign * row.ranked) + 1)
        if row.ranked is not None and row.takes_rank
        else row
        for row in rows
    ]


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
    known = _reviewed()[benchmark, row.model]
    return Facts(
        licence=known["licence"],
        architecture=known["architecture"],
        parameters=float(known["parameters"]) if known["parameters"] else None,
        open_weights={"yes": True, "no": False, "": None}[known["open_weights"]],
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


@dataclass(frozen=True)
class RowField:
    """One field of a row, with its type as JSON data, and its column header on the board's page.

    `about`: meaning, where the name does not say it; `read`: reader, by default of the row's attribute of this name.
    """

    name: str
    type: Any
    about: str = ""
    read: Callable[[Row], Any] | None = None
    header: str = ""

    def of(self, row: Row) -> Any:
        """The value of a row as JSON data; its text is untrusted."""
        value = getattr(row, self.name) if self.read is None else self.read(row)
        if isinstance(value, tuple):
            return list(value)
        return dict(value) if isinstance(value, Mapping) else value


def _end_of_ranks(end: int) -> Callable[[Row], int | None]:
    return lambda row: None if row.rank_range is None else row.rank_range[end]


def _remarks(row: Row) -> list[str]:
    other = "" if row.result is None else find_benchmark(row.result.benchmark).words.stimuli_of(row.protocol)
    marks = [*row.remarks, *([f"stimuli other than the paper's: {other}"] if other else [])]
    return [*marks, *(f"{note.score}: {note.text} ({note.erratum})" for note in row.footnotes)]


_FIELDS = (
    RowField("entry", str, "unique on its board"),
    RowField("rank", int | None, "1 is best; null if unranked, or a baseline"),
    RowField("model", str),
    RowField("organisation", str, "who made the model; for a row that was scored here, as its submitter states"),
    RowField("provenance", Provenance),
    RowField("submitter", str, "the account that handed it in"),
    RowField("owner", str, "who owns the model on the Hub, if the submitter belongs to it", header="Proved owner"),
    RowField("attempt", int, "its number among the attempts at its model, from 1; 0 if nobody handed it in"),
    RowField("account_attempt", int, "its number among the attempts of its account on this benchmark"),
    RowField("claim", str, "whose model it is: its proved owner, or who claims that these are its answers"),
    RowField("copy_of", str, "the bundled baselines that its answers are, or look like, in words; '' for its own"),
    RowField(
        "row_class",
        RowClass,
        "what stands behind its numbers; ranks are counted within a class. `printed` is a paper's row",
    ),
    RowField(
        "visibility",
        str,
        "the evidence for the figures. `published`: from a paper; the evidence of a score has `printed`, or says that "
        "it is computed here and has in `paper_prints` what the paper prints, if anything",
    ),
    RowField("source", str, header="Source"),
    RowField("cohort", str, "rows are ranked within their cohort"),
    RowField("protocol", str, "how its values were measured", header="Protocol"),
    RowField("group", str, "rows are ranked within their class, cohort and this group of protocols"),
    RowField("ranked", float | None, "the number that decides the rank: the worst case"),
    RowField("unranked", list[str], "all reasons why there is no rank"),
    RowField(
        "remarks", list[str], "marks of a part or of other stimuli, and footnotes on printed numbers", read=_remarks
    ),
    RowField("labels", dict[str, str]),
    RowField("tier", int | None, "1 contains the best and all that are not significantly worse; null for none"),
    RowField("rank_range", list[int] | None, "the best and the worst rank that the row could have"),
    RowField("rank_best", int | None, read=_end_of_ranks(0)),
    RowField("rank_worst", int | None, read=_end_of_ranks(1)),
    RowField("no_tier", str, "why there is no tier, '' if there is one", why_no_tier),
    RowField("chances", dict[str, float], "probability of each label, and of each score to reach its threshold"),
    RowField("footnotes", list[dict[str, Any]], read=lambda row: [vars(footnote) for footnote in row.footnotes]),
    RowField("licence", str, "", attrgetter("facts.licence"), "Licence"),
    RowField("architecture", str, "", attrgetter("facts.architecture"), "Architecture"),
    RowField("parameters", float | None, "in billions", attrgetter("facts.parameters"), "Parameters, 10⁹"),
    RowField("open_weights", bool | None, "", attrgetter("facts.open_weights"), "Open weights"),
    RowField("tasks", list[str], "", attrgetter("facts.tasks"), "Tasks run"),
)
ROW_FIELDS: Mapping[str, RowField] = {field.name: field for field in _FIELDS}
