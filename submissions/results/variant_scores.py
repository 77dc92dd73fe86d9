"""The scores that a result would have under a standard if another instrument had measured it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.uncertainty.variant import Kind, Variant
from fairspace.submissions.values import Value

Ends = tuple[float, float]
_LABELS = ("labels_corrected", "labels_transported", "human_labels")


def variant_scores(result: Result, standard: str) -> dict[Kind, dict[str, Ends]]:
    """Kind of variant -> score -> its smallest and largest `value` over the variants of that kind.

    The score by the standard's own instrument is one of them. A variant's values take the place of the measured ones,
    all others stay. A score that is undefined by its own instrument is left out, and so is a variant that leaves it so.

    - Another judge is scored as that judge: GENRES' total is the distance from the cohort of its own family.
    - Corrected labels give values less their bias at this number of samples, which the measured ones hold. So a
      measured value is moved by what correcting it changes, the corrected less the measured one without its bias; where
      the measured one has no such estimate (it was not resampled, or the uncertainty was not given), the corrected one
      is taken as it is.

    Args:
        result: with the evidence and the uncertainty of its values.
        standard: the name of the standard.

    Errors: UsageError if the benchmark has no such standard.
    """
    bench = benchmark(result.benchmark)
    chosen = find_standard(bench, standard)
    measured = bench.score(result.values, chosen).scores
    plain = {name: (score.value, score.value) for name, score in measured.items() if score.value is not None}
    by_kind: dict[Kind, dict[str, Ends]] = {}
    for variant in result.variants:
        ranges = by_kind.setdefault(variant.kind, dict(plain))
        for name, score in bench.score(_measured_so(variant, result.values, bench), chosen).scores.items():
            if name in ranges and score.value is not None:
                low, high = ranges[name]
                ranges[name] = min(low, score.value), max(high, score.value)
    return by_kind


def instrument_ranges(result: Result, scores: Mapping[Kind, Mapping[str, Ends]]) -> dict[str, Ends]:
    """Raw value or score -> its smallest and largest number by any other instrument; without those that none gives.

    Args:
        result: with its variants.
        scores: their ranges, as `variant_scores` gives them.
    """
    by_name: dict[str, Ends] = {}
    ranges: list[Mapping[str, Ends]] = [*scores.values()] if result.variants else []
    ranges += [{name: (number, number) for name, number in variant.values.items()} for variant in result.variants]
    for part in ranges:
        for name, (low, high) in part.items():
            least, most = by_name.get(name, (low, high))
            by_name[name] = min(least, low), max(most, high)
    return by_name


def _measured_so(variant: Variant, values: Mapping[str, Value], bench: Benchmark) -> dict[str, Value]:
    """The raw values as a variant's instrument gives them."""
    changed = dict(values)
    for name, number in variant.values.items():
        value = values.get(name)
        if value is None or value.value is None:
            continue
        if variant.kind in _LABELS:
            number = _moved(value, number, bench.scoring.label_limits.get(name, (-np.inf, np.inf)))
        changed[name] = replace(value, value=number)
    if variant.kind in ("judge", "repeated_evaluations"):
        for name, value in values.items():
            measured, at, _ = name.partition("@")
            if at and measured in changed and value.evidence.get("judge") == variant.name:
                changed[measured] = replace(changed[measured], evidence=value.evidence)
    return changed


def _moved(raw: Value, corrected: float, limits: Ends) -> float:
    """The raw value and what correcting changes of it."""
    plain = None if raw.uncertainty is None else raw.uncertainty.debiased
    if raw.value is None or plain is None:
        return corrected
    return float(np.clip(raw.value + (corrected - plain), *limits))
