"""Ranges that other judges, thresholds, readers and corrected labels give, as texts of pages and terminals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import interval_text, number
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import Ends
from fairspace.submissions.uncertainty.uncertainty import KINDS, Kind, Variant
from fairspace.submissions.values import Value

_LABELS = ("labels_corrected", "labels_transported", "human_labels")


@dataclass(frozen=True)
class InstrumentScores:
    """A score and its range over the variants of a kind."""

    name: str
    measured: str
    low: str
    high: str


@dataclass(frozen=True)
class Line:
    """A measured value and its variants, each with its interval or ''.

    `debiased` is the lower estimate without the bias of few samples ('' without one), the reference for corrected
    labels, whose values have no such bias.
    """

    name: str
    measured: tuple[str, str]
    debiased: str
    cells: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class InstrumentPart:
    """One kind of variant, with the scores that it changes and the number of those that it does not (`same`).

    `plain`: whether the values are without their bias at this number of samples.
    """

    kind: Kind
    names: Sequence[str]
    notes: Sequence[str]
    lines: Sequence[Line]
    scores: Sequence[InstrumentScores]
    same: int
    plain: bool


def instrument(result: Result, ranges: Mapping[Kind, Mapping[str, Ends]]) -> list[InstrumentPart]:
    """The measurement error of a result by kind of variant; empty without variants. `ranges`: from `variant_scores`."""
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
) -> InstrumentPart:
    names = dict.fromkeys(name for variant in variants for name in variant.values if name in values)
    cells = {name: [_cell(variant, name) for variant in variants] for name in names}
    lines = [Line(name, _own(values[name]), _debiased(values[name]), by_variant) for name, by_variant in cells.items()]
    moved = {name: ends for name, ends in ranges.items() if ends[0] < ends[1]}
    moved_scores = [
        InstrumentScores(name, four_digits(scores[name].value), *map(four_digits, ends)) for name, ends in moved.items()
    ]
    notes = dict.fromkeys(plain(f"{variant.name}: {variant.note}") for variant in variants if variant.note)
    same = len(ranges) - len(moved)
    return InstrumentPart(kind, [plain(v.name) for v in variants], [*notes], lines, moved_scores, same, kind in _LABELS)


def _own(value: Value) -> tuple[str, str]:
    about = value.uncertainty
    return four_digits(value.value), "" if about is None else interval_text((about.low, about.high), four_digits)


def _debiased(value: Value) -> str:
    about = value.uncertainty
    return "" if about is None or about.debiased is None else four_digits(about.debiased)


def _cell(variant: Variant, name: str) -> tuple[str, str]:
    ends = variant.intervals.get(name)
    return four_digits(variant.values.get(name)), "" if ends is None else interval_text(ends, four_digits)


def four_digits(value: float | None, of: float | None = None) -> str:
    """A number with four decimals, and one from 1,000 on; `of`: the number whose size decides."""
    size = value if of is None else of
    return number(value, 1 if size is not None and abs(size) >= 1000 else 4)
