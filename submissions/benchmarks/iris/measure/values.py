"""All raw values of an IRIS submission, in the order of Table 6."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fairspace.builders.iris.labour import REGIONS, Region
from fairspace.metrics.iris_score.standards import GRANULAR
from fairspace.submissions.benchmarks.iris.measure.generation import measure_neutral, measure_steer
from fairspace.submissions.benchmarks.iris.measure.occupations import measure_occupations
from fairspace.submissions.benchmarks.iris.measure.pairs import measure_pairs
from fairspace.submissions.benchmarks.iris.measure.refusals import measure_refusals
from fairspace.submissions.benchmarks.iris.measure.tournament import measure_tournament
from fairspace.submissions.benchmarks.iris.records import Records
from fairspace.submissions.values import Value

Measure = Callable[[Records, Sequence[Region]], Iterable[Value]]
MEASURES: tuple[Measure, ...] = (
    measure_neutral,
    lambda records, regions: measure_steer(records),
    measure_occupations,
    measure_tournament,
    lambda records, regions: measure_pairs(records),
    lambda records, regions: measure_refusals(records),
)
"""What measures a submission; a new dimension adds its own here, and a standard says which values are scored."""


def measure(records: Records, regions: Sequence[Region] = REGIONS) -> dict[str, Value]:
    """The raw values: the 60 in the order of Table 6, then those of further groups and regions, then competences."""
    values = {value.name: value for part in MEASURES for value in part(records, regions)}
    printed = [metric.name for metric in GRANULAR if metric.name in values]
    further = [name for name in values if name not in set(printed)]
    return {name: values[name] for name in (*printed, *sorted(further, key=lambda name: name.startswith("competence")))}
