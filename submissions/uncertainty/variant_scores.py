"""The scores that a result would have under a standard if another instrument had measured it."""

from __future__ import annotations

from dataclasses import replace

from submissions.registry import benchmark
from submissions.result import Result, find_standard
from submissions.sensitivity import AS_RELEASED, Adjustment
from submissions.uncertainty.variant import Kind

Ends = tuple[float, float]


def variant_scores(result: Result, standard: str, adjustment: Adjustment = AS_RELEASED) -> dict[Kind, dict[str, Ends]]:
    """Kind of variant -> score -> its smallest and largest `value` over the variants of that kind.

    The score by the standard's own instrument is one of them. A variant's values take the place of the measured ones,
    all others stay. A score that is undefined by its own instrument is left out, and so is a variant that leaves it so.

    Errors: UsageError if the benchmark has no such standard.
    """
    bench = benchmark(result.benchmark)
    chosen = find_standard(bench, standard)
    own = bench.score(result.values, chosen, adjustment).scores
    found: dict[Kind, dict[str, Ends]] = {}
    for variant in result.variants:
        ranges = found.setdefault(
            variant.kind, {name: (score.value, score.value) for name, score in own.items() if score.value is not None}
        )
        known = {name: result.values[name] for name in variant.values if name in result.values}
        swapped = {
            name: replace(value, value=variant.values[name]) for name, value in known.items() if value.state == "value"
        }
        for name, score in bench.score({**result.values, **swapped}, chosen, adjustment).scores.items():
            if name in ranges and score.value is not None:
                low, high = ranges[name]
                ranges[name] = min(low, score.value), max(high, score.value)
    return found
