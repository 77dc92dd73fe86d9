"""Submissions that tests write by hand: their `submission.json`, rows of answers, and tables with another column."""

from collections.abc import Sequence
from typing import Any, TypeVar

import pyarrow as pa

from fairspace.submissions.format.schema import RESPONSES, SubmissionMeta
from tests.submissions import sample

T = TypeVar("T")


def there(value: T | None) -> T:
    """The value, which a test relies on."""
    assert value is not None
    return value


def meta(benchmark: str, revision: str = "v1", **changes: Any) -> SubmissionMeta:
    """`submission.json` of a model that names no labeller and no judge."""
    return sample.meta(
        **{"benchmark": benchmark, "dataset_revision": revision, "labels": None, "judge": None} | changes
    )


def responses(task: str, ids: Any, texts: Any, samples: Sequence[int] = ()) -> pa.Table:
    """Answers to items in their order; each the first one to its item where no samples are named."""
    rows = len(ids)
    columns = [[task] * rows, ids, samples or [0] * rows, texts, [None] * rows]
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, RESPONSES, strict=True)], schema=RESPONSES)


def with_column(rows: pa.Table, name: str, values: Any) -> pa.Table:
    place = rows.schema.get_field_index(name)
    field = rows.schema.field(place)
    return rows.set_column(
        place, field, values if isinstance(values, pa.ChunkedArray) else pa.array(values, field.type)
    )
