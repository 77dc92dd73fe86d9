"""Vectors in, directions out: the shared parts of the probes of a model's representations.

A metric on the Hub can import flat siblings only, so each probe's folder links to this one file. A vector that is None
or empty is missing: list it, so that values that need it are undefined rather than measured without it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.metrics.columns import Integers, MetricInputError

Floats = NDArray[np.float64]
Interval = tuple[float, float]

RESAMPLES = 1000
LEVEL = 0.95
SAME = 1e-12
"""Cosine distances up to this are 0: two equal vectors of single precision differ by less."""
NAMED = 5
"""Occupations without a value that a reason names at most."""
MISSING = "a vector is missing"
ZERO = "a vector is zero and has no direction"


def read_vectors(rows: Sequence[Any], what: str) -> Floats:
    """The vectors of a column, shape (n, dimensions); a missing one is a row of nan.

    Errors:
        MetricInputError METRIC_VECTOR for a row that holds no finite numbers, or has another length than the first.
    """
    width, read = 0, []
    for i, row in enumerate(rows):
        try:
            vector = np.asarray([] if row is None else row, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise MetricInputError("METRIC_VECTOR", f"{what}[{i}] must be a list of numbers: {error}") from error
        width = width or vector.size
        if vector.ndim != 1 or vector.size not in (0, width) or not np.isfinite(vector).all():
            vectors = (
                f"shape {vector.shape}" if vector.ndim != 1 or vector.size != width else "a number that is not finite"
            )
            raise MetricInputError("METRIC_VECTOR", f"{what}[{i}] has {vectors}; expected {width} finite numbers")
        read.append(vector)
    return np.array([v if v.size else np.full(width, np.nan) for v in read]).reshape(len(read), width)


def check_occupations(occupations: Sequence[Any], place: Integers, apart: NDArray[np.bool_], what: str) -> None:
    """METRIC_ROLE unless every row names an occupation, except those `apart`, which name none and are called `what`.

    `place` has the number of each row's occupation, -1 without one.
    """
    wrong = np.flatnonzero(apart != (place < 0))
    if len(wrong):
        expected = f"'' for {what}, and the name of an occupation otherwise"
        raise MetricInputError(
            "METRIC_ROLE", f"occupations[{wrong[0]}] is {occupations[wrong[0]]!r}; expected {expected}"
        )


def in_order(vectors: Floats) -> Floats:
    """The same rows, sorted, so that no result depends on the order in which they came."""
    return vectors[np.lexsort(vectors.T[::-1])] if vectors.size else vectors


def why_undefined(*vectors: Floats) -> str:
    """The reason why cosines of these rows are undefined; '' if they exist."""
    if any(np.isnan(rows).any() or not rows.shape[1] for rows in vectors):
        return MISSING
    return "" if all(rows.any(axis=1).all() for rows in vectors) else ZERO


def unit(vectors: Floats) -> Floats:
    """The rows at length 1, nan for a zero or missing one. Scaled first, so that no square overflows."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True, initial=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = vectors / largest
        return np.asarray(scaled / np.linalg.norm(scaled, axis=-1, keepdims=True))


def cosines(a: Floats, b: Floats) -> Floats:
    """Cosine similarity of each row of `a` (n, d) and of `b` (m, d): (n, m) in [-1, 1], nan without a direction."""
    return np.clip(unit(a) @ unit(b).T, -1, 1)


def distances(a: Floats, b: Floats) -> Floats:
    """1 - cosine of each row of `a` and of `b`, (n, m) in [0, 2], made of differences: exact where they are small."""
    apart = unit(a)[:, None, :] - unit(b)[None, :, :]
    variances: Floats = (apart**2).sum(axis=-1) / 2
    return np.where(variances <= SAME, 0.0, variances)


def drawn(size: int, seed: int, resamples: int) -> NDArray[np.int64]:
    """Places of `size` stimuli drawn with replacement, shape (resamples, size)."""
    return np.random.default_rng([seed, size]).integers(0, size, (resamples, size))


def percentiles(draws: Floats) -> Interval | None:
    """The 95 % percentile interval of resampled values; None if fewer than half of them are defined."""
    defined = draws[~np.isnan(draws)]
    if not len(defined) or 2 * len(defined) < len(draws):
        return None
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def folded(ends: Interval | None, value: float) -> Interval | None:
    """The interval of an absolute `value` from that of the signed one; from 0 where the signed ends straddle 0.

    Percentiles of absolute draws would not do: noise has a size, so they exclude 0 where 0 is the truth.
    """
    if ends is None:
        return None
    low, high = sorted(map(abs, ends))
    return min(0.0 if ends[0] <= 0 <= ends[1] else low, value), max(high, value)


def summary(
    name: str,
    by_occupation: Mapping[str, Mapping[str, Any]],
    reason: str,
    seed: int,
    resamples: int,
    geometric: bool = False,
    **more: Any,
) -> dict[str, Any]:
    """The result of a probe as JSON data: the mean over its occupations, geometric if asked for, and its parts.

    The mean is undefined if one occupation has no value: without it a model could look better.
    `partial_mean` is that of the occupations that have one, None without any. The interval resamples the occupations;
    it is None with fewer than two of them, or where the mean is undefined.

    `name` is the key of the value; `by_occupation` has `value` (None if undefined), `reason` and evidence of each, and
    `reason` is that of no value at all. `more` are further keys of the result.
    """
    absent = {key: row["reason"] for key, row in by_occupation.items() if row["value"] is None}
    values = np.array([row["value"] for row in by_occupation.values() if row["value"] is not None])
    expected, valid = len(by_occupation), len(values)
    values = np.log(values) if geometric else values
    partial = _back(values.mean(), geometric) if valid else None
    whole = bool(valid) and not absent
    interval = None
    if whole and valid > 1 and resamples:
        interval = percentiles(_back(values[drawn(valid, seed, resamples)].mean(axis=1), geometric))
    if valid and absent:
        reasons = [f"{key} ({why})" for key, why in absent.items()]
        others = [f"{len(reasons) - NAMED} others"] if len(reasons) > NAMED else []
        reason = f"{len(reasons)} of {expected} have no value: {', '.join(reasons[:NAMED] + others)}"
    return {
        name: float(partial) if whole and partial is not None else None,
        "partial_mean": None if partial is None else float(partial),
        "interval": None if interval is None else list(interval),
        "state": "value" if whole else "undefined",
        "reason": "" if whole else reason,
        "coverage": valid / expected if expected else None,
        "counts": {"expected": expected, "valid": valid, "missing": expected - valid},
        "by_occupation": {key: dict(row) for key, row in by_occupation.items()},
        "seed": seed,
        "resamples": resamples,
        **more,
    }


def _back(logarithms: Any, geometric: bool) -> Any:
    return np.exp(logarithms) if geometric else logarithms
