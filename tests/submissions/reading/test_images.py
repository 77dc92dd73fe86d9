import hashlib
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.builders.fact_or_fair.plan import ids
from fairspace.leaderboard_space.jobs import scoring
from fairspace.leaderboard_space.jobs.child import FAULTS
from fairspace.submissions.checking.submission import CheckReport, check_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import RefusedError
from fairspace.submissions.format.schema import ANNOTATIONS, SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.containers import LIMITS, Member
from fairspace.submissions.reading.images import stream_images
from fairspace.submissions.results.scoring import score_submission
from tests.submissions import sample

ITEMS = ids("t2i_objective").to_pylist()
META = sample.META | {"benchmark": "fact_or_fair", "labels": None, "judge": None}
KIND = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def image(number: int, data: bytes | None = b"image %d", **changed: Any) -> dict[str, Any]:
    data = data and data.replace(b"%d", b"%d" % number)
    digest = hashlib.sha256(data or b"").hexdigest()
    cell = {"bytes": data, "path": "/etc/passwd"}
    return {"task": "t2i_objective", "id": ITEMS[0], "sample": number, "sha256": digest, "image": cell} | changed


def table(rows: list[dict[str, Any]], kind: pa.DataType = KIND) -> pa.Table:
    schema = {"task": pa.string(), "id": pa.string(), "sample": pa.int32(), "sha256": pa.string(), "image": kind}
    return pa.Table.from_pylist(rows, schema=pa.schema(schema.items()))


def folder(path: Path, *shards: pa.Table, meta: dict[str, Any] = META, **more: pa.Table) -> Path:
    write_submission(path, SubmissionMeta.model_validate(meta), more)
    for number, shard in enumerate(shards):
        name = f"images-{number:05}-of-{len(shards):05}" if len(shards) > 1 else "images"
        pq.write_table(shard, path / f"{name}.parquet")
    return path


def zipped(path: Path) -> Path:
    return Path(shutil.make_archive(str(path), "zip", path))


def codes(report: CheckReport) -> list[str]:
    return [fault.code for fault in report.faults]


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_images_are_checked_by_what_they_are_called(tmp_path: Path, kind: str) -> None:
    refused = [image(1, None), *(image(n, None, sha256="0" * 64) for n in (3, 4))]
    path = folder(tmp_path / "s", table([image(0), *refused]), table([image(2), image(2, b"image 2", id=ITEMS[1])]))
    path = zipped(path) if kind == "zip" else path
    report = check_submission(path, allow_images=True)
    assert report.faults == ()
    assert report.submission is not None
    assert report.submission.images is not None
    assert report.submission.images["sample"].to_pylist() == [0, 1, 3, 4, 2, 2]
    assert "6 images" in report.notes[-1]
    with pytest.raises(UsageError, match="nothing has labelled"):
        score_submission(report.submission)


def test_the_public_board_takes_no_images(tmp_path: Path) -> None:
    path = folder(tmp_path / "s", table([image(0)]))
    assert codes(check_submission(path)) == ["IMAGES_NOT_ALLOWED"]
    (tmp_path / "out").mkdir()
    scoring.score(zipped(path), tmp_path / "out")
    assert [file.name for file in (tmp_path / "out").iterdir()] == [FAULTS]
    assert "IMAGES_NOT_ALLOWED" in (tmp_path / "out" / FAULTS).read_text()


ANNOTATED = pa.Table.from_pylist(
    [{"task": "t2i_objective", "id": ITEMS[0], "sample": 0, "face": 0, "status": "no_face"}], schema=ANNOTATIONS
)
LABELS = {"name": "x", "version": "1"}


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([image(0), image(0)], "DUPLICATE_ID"),
        ([image(0, b"one"), image(1, b"two"), image(2, b"one")], "DUPLICATE_IMAGE"),
        ([image(20)], "SAMPLE_RANGE"),
        ([image(-1)], "SAMPLE_RANGE"),
        ([image(0, id="nothing")], "UNKNOWN_ID"),
        ([image(0, task="drawing")], "UNKNOWN_TASK"),
        ([image(0, task="llm_objective")], "WRONG_TABLE"),
        ([image(0, sha256="AB" * 32)], "IMAGE_HASH"),
        ([image(0, sha256="")], "IMAGE_HASH"),
        ([image(0, task=None)], "NULL_VALUE"),
        ([], "EMPTY_SUBMISSION"),
    ],
)
def test_images_that_fit_no_item_are_faults(tmp_path: Path, rows: list[dict[str, Any]], code: str) -> None:
    report = check_submission(folder(tmp_path / "s", table(rows)), allow_images=True)
    assert codes(report) == [code]


def test_images_beside_what_contradicts_them(tmp_path: Path) -> None:
    one = table([image(0)])
    both = folder(tmp_path / "both", one, meta=META | {"labels": LABELS}, annotations=ANNOTATED)
    assert codes(check_submission(both, allow_images=True)) == ["IMAGES_AND_ANNOTATIONS"]
    labelled = folder(tmp_path / "labelled", one, meta=META | {"labels": LABELS})
    assert codes(check_submission(labelled, allow_images=True)) == ["LABELS_NOT_ALLOWED"]
    other = folder(tmp_path / "other", one, meta=META | {"benchmark": "genres"})
    assert "UNEXPECTED_TABLE" in codes(check_submission(other, allow_images=True))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda t: t.drop_columns("image"), "MISSING_FIELD"),
        (lambda t: t.drop_columns("sha256"), "MISSING_FIELD"),
        (lambda t: t.append_column("prompt", pa.array(["x"])), "UNKNOWN_FIELD"),
        (lambda t: t.set_column(4, "image", pa.array(["/etc/passwd"])), "WRONG_TYPE"),
        (lambda t: t.set_column(4, "image", pa.array([{"path": "/etc/passwd"}])), "WRONG_TYPE"),
        (lambda t: t.set_column(2, "sample", pa.array(["0"])), "WRONG_TYPE"),
    ],
)
def test_columns_of_another_kind_are_faults(tmp_path: Path, change: Any, code: str) -> None:
    report = check_submission(folder(tmp_path / "s", change(table([image(0)]))), allow_images=True)
    assert codes(report) == [code]


def test_damaged_files_are_faults(tmp_path: Path) -> None:
    path = folder(tmp_path / "s", table([image(0)]))
    data = (path / "images.parquet").read_bytes()
    for cut in (0, 10, len(data) // 2, len(data) - 1):
        (path / "images.parquet").write_bytes(data[:cut])
        assert codes(check_submission(path, allow_images=True)) == ["PARQUET_CORRUPT"]


def test_images_have_limits_of_their_own(tmp_path: Path) -> None:
    path = folder(tmp_path / "s", table([image(0, bytes(100_000), id=ITEMS[n]) for n in range(4)]))
    size = (path / "images.parquet").stat().st_size

    def found(**limits: int) -> list[str]:
        return codes(check_submission(path, allow_images=True, limits=replace(LIMITS, **limits)))

    assert found(member_bytes=1_000) == []
    assert found(image_member_bytes=size - 1) == ["TOO_LARGE"]
    assert found(image_total_bytes=size - 1) == ["TOO_LARGE"]
    assert found(images=3) == ["TOO_MANY_ROWS"]
    # The file is small, because its four images are the same; its pages are not.
    assert found(image_member_bytes=size + 1) == ["TOO_LARGE"]


def test_one_image_repeated_by_its_dictionary_is_stopped_when_it_is_read(tmp_path: Path) -> None:
    path = folder(tmp_path / "s", table([image(n, bytes(100_000)) for n in range(20)]))
    file = path / "images.parquet"
    member = Member("images.parquet", file.stat().st_size, lambda: file.open("rb"))
    assert len(list(stream_images([member], LIMITS))) == 20
    with pytest.raises(RefusedError, match="too many bytes"):
        list(stream_images([member], replace(LIMITS, image_total_bytes=1_000_000)))
