"""Columns in, outcome out: the shared parts of all metrics around their formulas.

A metric on the Hub can import flat siblings only, so each metric folder links to this one file. A label of '' or None
is a missing sample: list it, rather than leave the row out, so that the bounds can count it.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bounds = tuple[Any, Any, Any]
"""Value, low and high: numbers of one table, or arrays of tables along leading axes."""

CITATION = """\
@inproceedings{zhao2026iris,
  title = {Fair in Mind, Fair in Action? A Synchronous Benchmark for Understanding and Generation in UMLLMs},
  author = {Zhao, Yiran and Zhou, Lu and Xu, Xiaogang and Liu, Zhe and Wu, Jiafei and Fang, Liming},
  booktitle = {International Conference on Learning Representations (ICLR)},
  year = {2026},
  eprint = {2603.00590},
  archivePrefix = {arXiv}
}"""
GENRES_CITATION = """\
@misc{xu2025genres,
  title = {From Individuals to Interactions: Benchmarking Gender Bias in Multimodal Large Language Models from the Lens
           of Social Relationship},
  author = {Xu, Yue and Wang, Wenjie},
  year = {2025},
  eprint = {2506.23101},
  archivePrefix = {arXiv}
}"""
FACT_OR_FAIR_CITATION = """\
@inproceedings{factorfair,
  title = {Where Fact Ends and Fairness Begins: Redefining AI Bias Evaluation through Cognitive Biases},
  author = {Huang, Jen-tse and Yan, Yuhang and Liu, Linqi and Wan, Yixin and Wang, Wenxuan and Chang, Kai-Wei and
            Lyu, Michael R.},
  booktitle = {Findings of the Association for Computational Linguistics: EMNLP 2025},
  pages = {10974--10993},
  year = {2025},
  eprint = {2502.05849},
  archivePrefix = {arXiv},
  note = {ACL Anthology 2025.findings-emnlp.583}
}"""
MODSCAN_CITATION = """\
@inproceedings{stereotypicalbias,
  title = {ModSCAN: Measuring Stereotypical Bias in Large Vision-Language Models from Vision and Language Modalities},
  author = {Jiang, Yukun and Li, Zheng and Shen, Xinyue and Liu, Yugeng and Backes, Michael and Zhang, Yang},
  booktitle = {Proceedings of the 2024 Conference on Empirical Methods in Natural Language Processing},
  year = {2024},
  eprint = {2410.06967},
  archivePrefix = {arXiv},
  note = {ACL Anthology 2024.emnlp-main.713}
}"""
PROMPTS = ("stereotypical", "counter_stereotypical")
"""The two kinds of prompts that a penalty compares."""
NO_CLASS = ("unmappable", "refused")
"""Predictions of IRIS' understanding metrics that name no class: the answer fits none, or declines."""
PAPER = "https://arxiv.org/abs/2603.00590"


class MetricInputError(ValueError):
    """Input that a metric cannot use. `code` is stable; the message has place, finding and expectation."""

    def __init__(self, code: str, message: str):
        super().__init__(f"{code}: {message}")
        self.code = code


def check_lengths(**columns: Sequence[Any]) -> int:
    """The common length of the columns. METRIC_LENGTH if one is absent or they differ."""
    for name, column in columns.items():
        if column is None or isinstance(column, str) or not hasattr(column, "__len__"):
            raise MetricInputError(
                "METRIC_LENGTH", f"{name} must be a column with one entry per sample, not {column!r}"
            )
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise MetricInputError("METRIC_LENGTH", f"the columns have different lengths: {lengths}")
    return min(lengths.values())


def check_names(names: Iterable[str] | None, what: str, least: int = 2) -> tuple[str, ...]:
    """A closed list of names, in its order. METRIC_NAMES unless they are `least` or more different words."""
    listed = () if names is None or isinstance(names, str) else tuple(names)
    if len(set(listed)) != len(listed) or len(listed) < least or not all(isinstance(n, str) and n for n in listed):
        raise MetricInputError("METRIC_NAMES", f"{what} must list at least {least} different names, not {names!r}")
    return listed


def distinct(column: Iterable[Any], what: str) -> tuple[str, ...]:
    """The labels of a column, sorted, without missing ones. METRIC_LABEL_TYPE if one is no word."""
    labels: list[str] = []
    for label in dict.fromkeys(column):
        if isinstance(label, str):
            labels.append(label)
        elif label is not None:
            raise MetricInputError("METRIC_LABEL_TYPE", f"{what} holds {label!r}; a label is a word ('' if missing)")
    return tuple(sorted(label for label in labels if label))


def encode(column: Sequence[Any], what: str, names: Sequence[str], *, missing: bool = True) -> Integers:
    """The place of every label in `names`, -1 if missing, shape (n,). METRIC_UNKNOWN_LABEL for an unknown one."""
    places: dict[Any, int] = {name: i for i, name in enumerate(names)} | ({"": -1, None: -1} if missing else {})
    try:
        return np.fromiter(map(places.__getitem__, column), np.int64, len(column))
    except (KeyError, TypeError):
        row = next(i for i, x in enumerate(column) if not isinstance(x, Hashable) or x not in places)
    close = get_close_matches(str(column[row]), names, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    words = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "") or "a word"
    raise MetricInputError("METRIC_UNKNOWN_LABEL", f"{what}[{row}] is {column[row]!r}{hint}; expected one of: {words}")


def numbers(column: Sequence[Any], what: str, minimum: float, maximum: float) -> Floats:
    """A column of numbers, nan for missing ones (None, nan). METRIC_RANGE for one outside [minimum, maximum]."""
    try:
        array = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MetricInputError("METRIC_NUMBER", f"{what} must hold numbers (None if missing): {error}") from error
    outside = np.flatnonzero((array < minimum) | (array > maximum))
    if len(outside):
        row = int(outside[0])
        raise MetricInputError("METRIC_RANGE", f"{what}[{row}] is {array[row]:g}, outside [{minimum:g}, {maximum:g}]")
    return array


def check_count(number: Any, what: str) -> int:
    """A whole number of at least 0. METRIC_COUNT otherwise."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
        raise MetricInputError("METRIC_COUNT", f"{what} must be a whole number of at least 0, not {number!r}")
    return int(number)


def missing_by_name(missing: Any) -> Mapping[str, Any]:
    """Missing samples of each occupation; 0 stands for none. METRIC_COUNT for any other number."""
    if isinstance(missing, Mapping):
        return missing
    if missing != 0:
        raise MetricInputError("METRIC_COUNT", "with occupations, missing must be a dict from occupation to count")
    return {}


def cross_count(rows: Integers, height: int, places: Integers, width: int) -> tuple[Integers, Integers]:
    """Counts of each label in each row, shape (height, width), and of missing labels, (height,)."""
    table = np.bincount(rows * (width + 1) + places + 1, minlength=height * (width + 1)).reshape(height, width + 1)
    return table[:, 1:], table[:, 0]


def mean_of(value: Floats, low: Floats, high: Floats) -> Bounds:
    """Plain mean over rows: of the value where it is defined (nan if nowhere), of the bounds everywhere."""
    defined = value[~np.isnan(value)]
    return float(defined.mean()) if defined.size else math.nan, float(low.mean()), float(high.mean())


def divide(part: ArrayLike, whole: ArrayLike) -> Floats:
    """Elementwise division; nan where the divisor is 0."""
    a, b = np.broadcast_arrays(np.asarray(part, float), np.asarray(whole, float))
    return np.asarray(np.divide(a, b, out=np.full_like(a, np.nan), where=b > 0))


def bounded_share(part: float, whole: float, missing: float) -> tuple[float, float, float]:
    """A share and its bounds, where none or all of what is missing counts; nan for what has no divisor."""
    value, low, high = divide([part, part, part + missing], [whole, whole + missing, whole + missing]).tolist()
    return value, low, high


def bounded_mean(
    total: ArrayLike, count: ArrayLike, missing: ArrayLike, least: ArrayLike = 0.0, most: ArrayLike = 1.0
) -> Bounds:
    """The mean of sums over counts, (...), and its bounds over missing samples that are each from `least` to `most`.

    The mean is nan without a count; the bounds are then the range where nothing is missing either.
    """
    t, n, m = (np.asarray(column, float) for column in (total, count, missing))
    mean, (low, high) = divide(t, n), (divide(t + m * end, n + m) for end in (np.asarray(least), np.asarray(most)))
    nothing = n + m == 0
    # equal up to rounding when none is missing
    low, high = np.where(nothing, least, np.fmin(low, mean)), np.where(nothing, most, np.fmax(high, mean))
    return mean[()], low[()], high[()]


def mean_of_defined(values: Floats) -> Floats:
    """(..., n) -> (...) mean of the numbers, nan where there is none."""
    return divide(np.nansum(values, axis=-1), (~np.isnan(values)).sum(axis=-1))


def number(x: float) -> float | None:
    """A Python float, None for nan: undefined is never 0."""
    return None if math.isnan(x) else float(x)


def evidence_of(
    names: Sequence[str], counts: Integers, bounds: tuple[Floats, Floats, Floats], jobs: Sequence[str] | None
) -> dict[str, Any]:
    """Evidence of a measure of group shares: count and share of each group, and each occupation's own bounds.

    `counts` are samples by job and name; without `jobs`, occupations, the samples are of one kind.
    """
    valid = int(counts.sum())
    shares = {
        name: {"share": int(n) / valid if valid else None, "count": int(n)}
        for name, n in zip(names, counts.sum(0), strict=True)
    }
    if jobs is None:
        return {"by_group": shares}
    keys = ("value", "if_missing_low", "if_missing_high")
    by_job = {
        job: {key: number(column[i]) for key, column in zip(keys, bounds, strict=True)}
        | {"valid": int(counts[i].sum())}
        for i, job in enumerate(jobs)
    }
    return {"by_group": shares, "by_occupation": by_job}


def outcome(
    name: str, bounds: Bounds, *, valid: int, expected: int, reason: str, evidence: Mapping[str, Any]
) -> dict[str, Any]:
    """The result of a metric as JSON data: number, bounds, state, coverage, counts and evidence."""
    value, low, high = (number(x) for x in bounds)
    return {
        name: value,
        "if_missing_low": low,
        "if_missing_high": high,
        "state": "undefined" if value is None else "value",
        "reason": reason if value is None else "",
        "coverage": valid / expected if expected else None,
        "counts": {"expected": int(expected), "valid": int(valid), "missing": int(expected - valid)},
        **evidence,
    }
