from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from fairspace.builders.fact_or_fair.plan import ids
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.schema import ANNOTATIONS
from fairspace.submissions.format.writing import write_submission
from tests.submissions import sample

META = sample.meta(benchmark="fact_or_fair", judge=None)
ITEM = ids("t2i_objective")[0].as_py()


def face(number: int, faces: int | None, status: str = "ok", **labels: Any) -> dict[str, Any]:
    row = {"task": "t2i_objective", "id": ITEM, "sample": 0, "face": number, "status": status, "faces": faces}
    return row | labels


TWO = [face(0, 2, gender="female", race="Asian"), face(1, 2, gender="male", race="Black")]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    ("rows", "codes"),
    [
        (TWO, set()),
        ([face(0, 0, "no_face")], set()),
        ([face(0, None, "refused")], set()),
        (TWO[:1], {"FACE_COUNT"}),
        ([face(0, 1, "no_face")], {"FACE_COUNT"}),
        ([face(0, None, gender="female")], {"FACES_MISSING"}),
        ([TWO[0], TWO[1] | {"faces": None}], {"FACES_MISSING"}),
    ],
)
def test_every_face_that_was_found_is_handed_in(
    tmp_path: Path, kind: Any, rows: list[dict[str, Any]], codes: set[str]
) -> None:
    table = pa.Table.from_pylist(rows, schema=ANNOTATIONS)
    write_submission(tmp_path / "s", META, {"annotations": table}, table_format=kind)
    assert {fault.code for fault in check_submission(tmp_path / "s").faults} == codes
