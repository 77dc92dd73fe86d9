"""Measurement error of a row: its values and scores under another judge, threshold or set of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import Ends
from fairspace.submissions.uncertainty.variant import KINDS, Kind, Variant
from fairspace.submissions.values import Value

TITLES: Mapping[Kind, tuple[str, str]] = {
    "occupation_threshold": (
        "Another threshold for occupations",
        "An answer that names no occupation of the list counts as the nearest one if its embedding is similar enough. "
        "These are the values with other similarity thresholds.",
    ),
    "judge": ("Another judge", "The values that each of the other judges gives on its own."),
    "repeated_evaluations": (
        "The same judge asked again",
        "The means over several evaluations of the same passages by one judge, with 95 % intervals from how far these "
        "evaluations differ. The paper prints means over four.",
    ),
    "name_swap": (
        "One parse alone",
        "Each passage is parsed twice, as written and with its two names exchanged, and the value is the mean of both. "
        "These are the values of one parse alone. A perfect parser would give the same ones; half of their difference "
        "is what the parser gives to male names. Results of earlier versions are the parse as written.",
    ),
    "reading_errors": (
        "Errors of reading",
        "Raw answers are read by rules, which err now and then. Here some answers were misread on purpose, as often as "
        "the rules err on answers that people labelled, and as often as the upper end of what was measured. A value "
        "that moves little does not depend on such errors.",
    ),
    "authors_reading": (
        "As the authors read answers",
        "The paper, or its authors' code, reads or counts some answers otherwise than a careful person would. These "
        "are the values with their reading.",
    ),
    "labels_corrected": (
        "Labels corrected for their errors",
        "The shares are corrected with the confusion matrix of the labeller. The interval covers sampling error and "
        "labelling error. Corrected values have no small-sample bias; compare them with the lower estimates. The "
        "scores are the measured scores plus the change that the correction makes.",
    ),
    "labels_transported": (
        "Labels corrected for a worse labeller",
        "The same correction, if the labeller recognised each group 5 or 10 points less often here than where it was "
        "tested. A value that moves little does not rest on the test being like these images.",
    ),
    "human_labels": (
        "Labels corrected by people",
        "People labelled a part of the images; the errors of the labeller on that part correct the rest. Corrected "
        "values have no small-sample bias; compare them with the lower estimates. The scores are the measured scores "
        "plus the change that the correction makes.",
    ),
}
"""Kind of variant -> heading, and what it is."""
_LABELS = ("labels_corrected", "labels_transported", "human_labels")
DIGITS = 4


@dataclass(frozen=True)
class Scored:
    """A score and its range over the variants of a kind."""

    name: str
    measured: str
    low: str
    high: str


@dataclass(frozen=True)
class Line:
    """A measured value with its interval, and the value under each variant with its interval or ''.

    `debiased` is the lower estimate without the bias of few samples, '' where there is none: corrected labels, whose
    values have none of that bias, compare with it.
    """

    name: str
    measured: tuple[str, str]
    debiased: str
    cells: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Part:
    """One kind of variant.

    Args:
        title: of the section.
        about: what was changed.
        names: of the variants.
        notes: how they were made.
        lines: the values that they change.
        scores: that move with them.
        same: how many scores do not move.
        plain: whether the values are without their bias at this number of samples.
    """

    title: str
    about: str
    names: Sequence[str]
    notes: Sequence[str]
    lines: Sequence[Line]
    scores: Sequence[Scored]
    same: int
    plain: bool


def instrument(result: Result, ranges: Mapping[Kind, Mapping[str, Ends]]) -> list[Part]:
    """The measurement error of a result by kind of variant; empty without variants.

    Args:
        result: with its variants.
        ranges: of its scores, as `variant_scores` gives them.
    """
    parts = []
    for kind in KINDS:
        variants = [variant for variant in result.variants if variant.kind == kind]
        if variants:
            parts.append(_part(kind, variants, result.values, result.scored.scores, ranges.get(kind, {})))
    return parts


def _part(
    kind: Kind,
    variants: Sequence[Variant],
    values: Mapping[str, Value],
    scores: Mapping[str, Value],
    ranges: Mapping[str, tuple[float, float]],
) -> Part:
    names = dict.fromkeys(name for variant in variants for name in variant.values if name in values)
    cells = {name: [_cell(variant, name) for variant in variants] for name in names}
    lines = [Line(name, _own(values[name]), _debiased(values[name]), by_variant) for name, by_variant in cells.items()]
    moved = {name: ends for name, ends in ranges.items() if ends[0] < ends[1]}
    moved_scores = [Scored(name, _text(scores[name].value), *map(_text, ends)) for name, ends in moved.items()]
    title, about = TITLES[kind]
    notes = dict.fromkeys(plain(f"{variant.name}: {variant.note}") for variant in variants if variant.note)
    same = len(ranges) - len(moved)
    return Part(title, about, [plain(v.name) for v in variants], [*notes], lines, moved_scores, same, kind in _LABELS)


def _own(value: Value) -> tuple[str, str]:
    about = value.uncertainty
    return _text(value.value), "" if about is None else f"{_text(about.low)} to {_text(about.high)}"


def _debiased(value: Value) -> str:
    about = value.uncertainty
    return "" if about is None or about.debiased is None else _text(about.debiased)


def _cell(variant: Variant, name: str) -> tuple[str, str]:
    ends = variant.intervals.get(name)
    return _text(variant.values.get(name)), "" if ends is None else f"{_text(ends[0])} to {_text(ends[1])}"


def _text(value: float | None) -> str:
    return number(value, 1 if value is not None and abs(value) >= 1000 else DIGITS)
