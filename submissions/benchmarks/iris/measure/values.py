"""All raw values of an IRIS submission, in the order of Table 6."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fairspace.builders.iris.labour import REGIONS, Region
from fairspace.metrics.iris_score.standards import GRANULAR
from fairspace.submissions.benchmarks.iris.measure.generation import measure_neutral, measure_steer
from fairspace.submissions.benchmarks.iris.measure.pairs import measure_pairs
from fairspace.submissions.benchmarks.iris.measure.understanding import measure_occupations, measure_tournament
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.values import Value

Measure = Callable[[Submission, Sequence[Region]], Iterable[Value]]
MEASURES: tuple[Measure, ...] = (
    measure_neutral,
    lambda submission, regions: measure_steer(submission),
    measure_occupations,
    measure_tournament,
    lambda submission, regions: measure_pairs(submission),
)
"""What measures a submission; a new dimension adds its own here, and a standard says which values are scored."""


def measure(submission: Submission, regions: Sequence[Region] = REGIONS) -> dict[str, Value]:
    """The raw values: the 60 in the order of Table 6, then those of further groups and regions, then competences."""
    found = {value.name: value for one in MEASURES for value in one(submission, regions)}
    first = [metric.name for metric in GRANULAR if metric.name in found]
    rest = sorted(set(found) - set(first), key=lambda name: (name.startswith("competence"), list(found).index(name)))
    return {name: found[name] for name in first + rest}
