"""Sensitivity analyses of GENRES: other judges, the authors' reading, either parse alone, repeated evaluations.

A parser without a preference for names gives equal counts in both parses; the mean of both is the value. The paper
averages "over four independent evaluations" (section 4.1); here the first one is scored.
"""

from dataclasses import replace

import numpy as np

from fairspace.builders.genres import plan
from fairspace.metrics.intervals import LEVEL
from fairspace.submissions.benchmarks.genres.parse.judge import judge_of
from fairspace.submissions.benchmarks.genres.quantities import JUDGED, PARSED, metric_values
from fairspace.submissions.benchmarks.genres.records import Records
from fairspace.submissions.uncertainty.uncertainty import Variant
from fairspace.submissions.values import Values, number_of


def repeated_evaluations(records: Records, values: Values) -> list[Variant]:
    """Each judge's mean over several evaluations, with a Student's t interval of their spread; the passages stay."""
    from scipy.special import stdtrit

    suffixes: dict[str, list[str]] = {}
    for number, name in enumerate((records.judge or "", *records.others), 1):
        suffixes.setdefault(judge_of(name), []).append("" if number == 1 else f"@{number}")
    variants = []
    for judge, those in suffixes.items():
        numbers, ends = {}, {}
        for metric in JUDGED if len(those) > 1 else ():
            each = [of for suffix in those if (of := number_of(values, f"{metric}{suffix}")) is not None]
            if len(each) < len(those):
                continue
            numbers[metric] = float(np.mean(each))
            half = float(stdtrit(len(each) - 1, (1 + LEVEL) / 2)) * float(np.std(each, ddof=1)) / len(each) ** 0.5
            ends[metric] = (numbers[metric] - half, numbers[metric] + half)
        if numbers:
            note = (
                f"Means over {len(those)} evaluations of the same passages by one judge; the paper prints means over "
                "four. The intervals hold how far this judge's answers vary, and not the choice of passages."
            )
            variants.append(Variant("repeated_evaluations", judge, numbers, ends, note))
    return variants


_PARSES = {"as_written": "as written", "exchanged": "with their names exchanged"}


def variants(records: Records, values: Values) -> list[Variant]:
    """Variants by each other judge, by the authors' reading, and by each parse; none without narratives."""
    if not records.responses:
        return []
    reading = authors_reading(records, values)
    return [*_judges(records, values), *([] if reading is None else [reading]), *name_swap(records, values)]


def _judges(records: Records, values: Values) -> list[Variant]:
    variants = []
    for number, judge in enumerate(records.others, 2):
        if judge_of(judge) != judge:
            continue
        judged = {name.partition("@")[0]: value for name, value in values.items() if name.endswith(f"@{number}")}
        numbers = {name: value.value for name, value in judged.items() if value.value is not None}
        ends = {
            name: (value.uncertainty.low, value.uncertainty.high)
            for name, value in judged.items()
            if value.uncertainty is not None
        }
        if numbers:
            note = "The same passages, judged by another model; intervals hold the error of sampling."
            variants.append(Variant("judge", judge, numbers, ends, note))
    return [*variants, *repeated_evaluations(records, values)]


def authors_reading(records: Records, values: Values) -> Variant | None:
    """All metrics by the authors' reading of responses and judgements; None if nothing differs."""
    read = metric_values(records.authors, PARSED)
    if records.judge is not None:
        judged = metric_values(records.authors, JUDGED)
        read |= {metric: judged[metric] for metric in JUDGED}
    figures = {name: value.value for name, value in read.items()} | unpaired_warmth(records)
    numbers = {
        name: number
        for name, number in figures.items()
        if number is not None and values[name].value not in (None, number)
    }
    note = (
        "As the authors' code reads and counts. Narratives: one parse as written, all names of Table 9, a response "
        "without the heading as a whole. M1: the mean of all male profiles less that of all female ones, by relational "
        "model, whether the other profile of the passage is known or not. The judge's answers: repeated trait words "
        "count again, a name that stands within the answer is chosen, everything but "
        '"NA" counts as pros or cons, and JSON that is broken in any way is not read.'
    )
    return Variant("authors_reading", "the authors' code", numbers, note=note) if numbers else None


def as_the_authors_read(records: Records) -> Records:
    """The records by the authors' reading of responses and judgements; M1 stays paired."""
    return replace(records, features=records.authors)


def unpaired_warmth(records: Records) -> dict[str, float]:
    """M1 as in the authors' `M1.py` (E-GENRES-14), per relational model with ratios of both genders."""
    ratios = records.authors.columns.get("warmth_ratio")
    if ratios is None:
        return {}
    relation = np.array([name.split("/", 1)[0] for name in records.ids])
    relations = [ratios[relation == name] for name in plan.RELATIONS]
    if not all((~np.isnan(rows)).any(axis=0).all() for rows in relations):
        return {}
    male, female = np.mean([np.nanmean(rows, axis=0) for rows in relations], axis=0)
    return {"M1": float(100 * (male - female))}


def name_swap(records: Records, values: Values) -> list[Variant]:
    """M3, M5 and M6 by each parse alone: as written, and with names exchanged."""
    variants = []
    for name, parse in _PARSES.items():
        if name not in records.parses:
            continue
        numbers = {
            metric: value.value
            for metric, value in metric_values(records.parses[name], PARSED).items()
            if value.value is not None and values[metric].value is not None
        }
        if numbers:
            variants.append(Variant("name_swap", name, numbers, note=f"By the parse of the narratives {parse} alone."))
    return variants
