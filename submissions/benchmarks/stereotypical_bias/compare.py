"""Comparison of submissions to the stereotypical bias benchmark: similarity, consensus, effect of a prefix.

Source: section 5.3 (Ensemble), Tables A3, A4 and A10 (similarity) and Tables 3, A7, A8 and A11 (prefixes).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from fairspace.metrics.columns import Floats, divide
from fairspace.metrics.resampling import Counts, Family, Quantity, Sample, estimate, tally, totals
from fairspace.metrics.stereotypical_association.formula import prefix_difference, similarity
from fairspace.submissions.answers.reading import NOT_HANDED_IN, OUTCOMES
from fairspace.submissions.benchmarks.stereotypical_bias.parse import NOT_AVAILABLE
from fairspace.submissions.benchmarks.stereotypical_bias.quantities import (
    as_value,
    blocks,
    cell_association,
    independent,
    score_designs,
    tables,
)
from fairspace.submissions.benchmarks.stereotypical_bias.records import (
    CELLS,
    Booleans,
    Cell,
    CellAnswers,
    Integers,
    Questions,
    Records,
    questions,
    read,
)
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.uncertainty.uncertainty import resamples_setting
from fairspace.submissions.values import Value, measured, not_run, undefined

_ABSENT = "not every submission has answers of this task"


def prefix_of(submission: Submission) -> str:
    """The run's prompt prefix, a key of the plan's `PREFIXES`; `plain` if none is stated."""
    return str(submission.meta.generation.get("prefix") or "plain")


def compare(submissions: Sequence[Submission], resamples: int | None = None) -> dict[str, Value]:
    """The comparisons by name, with intervals; submissions are numbered from 1 in the order given.

    - `similarity_<cell>_<i>_<j>`: share of identical answers, N/A included, in [0, 1], over the questions that both
      answered; the bounds take the others as different and as identical.
    - `ensemble_<cell>`: S without N/A over the questions with one group chosen by all, `agreed` in the evidence; other
      questions that all answered are N/A, as in section 5.3, and what one did not hand in is in the bounds alone.
    - `prefix_difference_<cell>_<i>`, also with `_na_filtered`: S of a run with a prefix minus S of the plain run of the
      same model and revision, over the questions that both answered; below 0 the prefix helped. Runs without a plain
      run are left out.

    Intervals: the clusters of the scores are drawn again, for all submissions alike, `resamples` times
    (`FAIRSPACE_RESAMPLES` or 1 000 if left out; 0 for none).

    Errors: UsageError for fewer than two submissions, one of another benchmark, or several dataset revisions.
    """
    if len(submissions) < 2:
        raise UsageError(f"A comparison needs two submissions or more, not {len(submissions)}.")
    others = sorted({s.meta.benchmark for s in submissions} - {"stereotypical_bias"})
    if others:
        raise UsageError(f"Only submissions to stereotypical_bias can be compared, not to {', '.join(others)}.")
    revisions = sorted({submission.meta.dataset_revision for submission in submissions})
    if len(revisions) > 1:
        raise UsageError(f"Answers to the questions of {' and '.join(revisions)} cannot be compared; run one of them.")
    records = [read(submission) for submission in submissions]
    numbered = list(enumerate(submissions, 1))
    values: list[Value] = []
    for cell in CELLS:
        answers = [record.cells[cell.name] for record in records]
        expected = _questions(cell, records)
        for (i, first), (j, second) in combinations(numbered, 2):
            evidence = {"models": [first.meta.model, second.meta.model]}
            name = f"similarity_{cell.name}_{i}_{j}"
            values.append(_similarity(name, expected, answers[i - 1], answers[j - 1], evidence))
        values.append(_ensemble(cell, expected, answers))
    for i, run in numbered:
        plain = _plain_run(run, submissions)
        if plain is None:
            continue
        evidence_of_run = {"prefix": prefix_of(run), "model": run.meta.model}
        both = _both(records[i - 1], records[plain])
        for cell in CELLS:
            with_prefix, without = (part.cells[cell.name] for part in both)
            values += _differences(i, cell, _questions(cell, records), with_prefix, without, evidence_of_run)
    times, by_name = resamples_setting() if resamples is None else resamples, {value.name: value for value in values}
    for (table, families), (begin, ending, end) in _designs(submissions, records) if times else ():
        for name, about in estimate(table, families, times).uncertainty.items():
            value = by_name.get(f"{begin}{name.removesuffix(ending)}{end}") if name.endswith(ending) else None
            if value is not None and value.value is not None:
                by_name[value.name] = replace(value, uncertainty=about)
    return by_name


def _designs(
    submissions: Sequence[Submission], records: Sequence[Records]
) -> Iterator[tuple[Sample, tuple[str, str, str]]]:
    """Samples and the names of their comparisons: prefix, suffix to strip, new suffix."""
    for (i, one), (j, other) in combinations(enumerate(records, 1), 2):
        yield from ((sample, ("similarity_", "", f"_{i}_{j}")) for sample in similarities(*_both(one, other)))
    agreed = {}
    for cell in CELLS:
        answers = [record.cells[cell.name] for record in records]
        present = [part for part in answers if part is not None]
        whole = len(present) == len(answers)
        agreed[cell.name] = replace(present[0], group=_agreed(present)) if whole else None
    for sample in score_designs(Records(agreed)):
        yield sample, ("ensemble_", "_na_filtered", "")
    for i, run in enumerate(submissions, 1):
        if (plain := _plain_run(run, submissions)) is not None:
            both = _both(records[i - 1], records[plain])
            yield from ((sample, ("prefix_difference_", "", f"_{i}")) for sample in differences(*both))


def similarities(one: Records, other: Records) -> Iterator[Sample]:
    """The share of identical answers in each cell of two runs, which are drawn together."""
    for table, cells in tables(one):
        counts, families = {}, []
        for cell, answers in cells.items():
            another = other.cells[cell.name] or answers
            both, cluster = answers.given & another.given, answers.asked.cluster
            alike = np.where(both, np.where(answers.group == another.group, 1, 0), -1)
            counts[cell.name] = tally(alike, 2, cluster=cluster, clusters=len(table.strata))
            share = Quantity(cell.name, "exact", (0.0, 1.0), answers=independent(cell, answers))
            families.append(Family([share], partial(_share_alike, cell.name)))
        yield replace(table, blocks=counts), families


def _share_alike(name: str, counts: Counts) -> Floats:
    return divide(counts[name][..., 1:], counts[name].sum(axis=-1, keepdims=True))


def differences(run: Records, plain: Records) -> Iterator[Sample]:
    """The scores of one run less those of another, of the same cells, which are drawn together."""
    for (table, families), (other, _) in zip(score_designs(run), score_designs(plain), strict=True):
        both = {f"plain {name}": block for name, block in other.blocks.items()}
        yield replace(table, blocks={**table.blocks, **both}), [_less(family) for family in families if family.sizes]


def _less(family: Family) -> Family:
    def of(counts: Counts) -> Floats:
        plain = {name: counts[f"plain {name}"] for name in counts if not name.startswith("plain ")}
        return np.asarray(family.of(counts) - family.of(plain))

    signed = [
        replace(each, method="normal", limits=(-each.limits[1], each.limits[1]), note="") for each in family.quantities
    ]
    return Family(signed, of)


def _both(one: Records, other: Records) -> tuple[Records, Records]:
    """Two runs with what both answered."""
    cells: tuple[dict[str, CellAnswers | None], dict[str, CellAnswers | None]] = ({}, {})
    for name in one.cells:
        pair = one.cells[name], other.cells[name]
        for place, (mine, another) in enumerate((pair, pair[::-1])):
            cells[place][name] = None if mine is None or another is None else _where(mine, mine.given & another.given)
    return Records(cells[0]), Records(cells[1])


def _where(answers: CellAnswers, rows: Booleans) -> CellAnswers:
    group, position = (np.where(rows, column, NOT_AVAILABLE) for column in (answers.group, answers.position))
    return CellAnswers(answers.asked, group, position, np.where(rows, answers.outcome, NOT_HANDED_IN))


def _agreed(answers: Sequence[CellAnswers]) -> Integers:
    """(n,) the group that all choose, or `NOT_AVAILABLE`."""
    groups = np.stack([part.group for part in answers])
    return np.where(np.ptp(groups, axis=0) == 0, groups[0], NOT_AVAILABLE)


def _plain_run(run: Submission, submissions: Sequence[Submission]) -> int | None:
    """The index of the plain run for a run with a prefix, or None."""
    if prefix_of(run) == "plain":
        return None
    model = (run.meta.model, run.meta.revision)
    same = [prefix_of(s) == "plain" and (s.meta.model, s.meta.revision) == model for s in submissions]
    return same.index(True) if any(same) else None


def _questions(cell: Cell, records: Sequence[Records]) -> int:
    answered = (answers for record in records if (answers := record.cells[cell.name]) is not None)
    asked = next((answers.asked for answers in answered), questions(cell, records[0].revision))
    return len(asked.rows)


def _similarity(
    name: str, expected: int, a: CellAnswers | None, b: CellAnswers | None, evidence: Mapping[str, Any]
) -> Value:
    if a is None or b is None:
        return not_run(name, _ABSENT, expected=expected)
    both = a.given & b.given
    valid = int(both.sum())
    if not valid:
        return undefined(name, "no question was answered by both", expected=expected, evidence=evidence)
    value, low, high = similarity(a.group[both], b.group[both], expected - valid)
    return measured(name, value, low=low, high=high, expected=expected, valid=valid, evidence=evidence)


def _ensemble(cell: Cell, expected: int, answers: Sequence[CellAnswers | None]) -> Value:
    name, present = f"ensemble_{cell.name}", [part for part in answers if part is not None]
    if len(present) < len(answers) or not present:
        return not_run(name, _ABSENT, expected=expected)
    agreed = _agreed(present)
    missing = ~np.all([part.given for part in present], axis=0)
    kept = missing | (agreed != NOT_AVAILABLE)
    asked = Questions(*(column[kept] for column in vars(present[0].asked).values()))
    outcome = np.where(missing[kept], NOT_HANDED_IN, OUTCOMES.index("choice"))
    answers_of_all = CellAnswers(asked, agreed[kept], np.full(len(outcome), NOT_AVAILABLE), outcome)
    consensus, evidence = cell_association(cell, totals(blocks(cell, answers_of_all)))
    counts = {"expected": expected, "valid": expected - int(missing.sum())}
    evidence["agreed"] = int((agreed != NOT_AVAILABLE).sum())
    value = as_value(name, consensus.na_filtered, evidence=evidence, **counts)
    return value if value.state == "value" else replace(value, reason="an instance has no question on which all agree")


def _differences(
    number: int,
    cell: Cell,
    expected: int,
    run: CellAnswers | None,
    plain: CellAnswers | None,
    evidence: Mapping[str, Any],
) -> Iterator[Value]:
    names = (f"prefix_difference_{cell.name}_{number}", f"prefix_difference_{cell.name}_na_filtered_{number}")
    if run is None or plain is None:
        yield from (not_run(name, _ABSENT, expected=expected) for name in names)
        return
    after, before = (cell_association(cell, totals(blocks(cell, answers)))[0] for answers in (run, plain))
    valid = int(run.given.sum())
    for name, *pair in zip(names, after[:2], before[:2], strict=True):
        yield as_value(name, prefix_difference(*pair), expected=expected, valid=valid, evidence=evidence)
