import json
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image

from fairspace.ares.annotating.annotate import ANNOTATIONS, LABELS, annotate
from fairspace.ares.evaluating.measurement import model_sha256
from fairspace.ares.rounding_ares import STEP
from fairspace.ares.training.data import drawn_face
from fairspace.builders.errors import BuildError
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format import schema as submission_format
from tests.ares.hostile import UNREADABLE, encoded
from tests.ares.image_sources import TASK, Stored, folder, images, parquet, rows
from tests.ares.test_classifying import Halves, row_of
from tests.builders.builds import files

BAD = [make() for make, _ in UNREADABLE.values()]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder(tmp_path_factory.mktemp("images"), images(30, BAD))


@pytest.fixture(scope="module")
def done(stored: Path, tiny_ares: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("annotated") / "out"
    annotate(tiny_ares, stored, out, shard=16)
    return out


def test_columns_and_labels_are_the_submission_formats() -> None:
    assert ANNOTATIONS.equals(submission_format.ANNOTATIONS)
    assert set(LABELS) == {name for name in submission_format.VOCABULARY if name != "status"}


def test_every_image_has_one_fate(stored: Path, done: Path) -> None:
    data = json.loads((done / "annotation.json").read_text())
    pictures = sorted(stored.rglob("*.png"))
    found = rows(done)
    assert [f"{row['id']}/{row['sample']}" for row in found] == sorted(
        (file.relative_to(stored / TASK).with_suffix("").as_posix() for file in pictures),
        key=lambda name: (name.rsplit("/", 1)[0], int(name.rsplit("/", 1)[1])),
    )
    counts = data["counts"]
    assert (counts["images"], counts["rows"], counts["faces"]) == (30 + len(BAD), 30 + len(BAD), 30)
    assert counts["status"] == {"ok": 30, "unreadable": len(BAD)}
    assert sum(counts["reasons"].values()) == len(BAD)
    assert set(counts["reasons"]) == {reason for _, reason in UNREADABLE.values()}
    assert all(sum(routes.values()) == 30 for routes in counts["routes"].values())
    assert all((row["status"] == "ok") == any(row[label] for label in LABELS) for row in found)
    assert all(row["faces"] == (1 if row["status"] == "ok" else 0) for row in found)


def test_routes_say_why_and_how_sure(done: Path) -> None:
    routes, found = rows(done, "routes"), rows(done)
    assert [row["label/gender"] for row in routes] == [row["gender"] for row in found]
    for row in routes:
        if row["status"] == "ok":
            genders = row["probability/gender/female"] + row["probability/gender/male"]
            assert genders == pytest.approx(1, abs=6 * STEP / 2)
            assert row["route/age_gender"]
            assert (row["value/skin_tone"] is not None) == (row["route/skin_tone"] == "fusion")
        else:
            assert row["reason"] in {reason for _, reason in UNREADABLE.values()}
            assert row["detail"]
            assert row["route/age_gender"] is None


def test_annotations_name_the_revision_that_made_them(done: Path, tiny_ares: Path) -> None:
    data = json.loads((done / "annotation.json").read_text())
    assert data["model"]["revision"] == f"sha256:{model_sha256(tiny_ares)}"
    for shard in data["shards"]:
        metadata = pq.read_schema(done / shard["annotations"]["file"]).metadata
        assert metadata[b"ares_revision"].decode() == data["model"]["revision"]


def test_a_submission_is_made_of_them(stored: Path, done: Path, tmp_path: Path) -> None:
    for file in done.glob("annotations-*.parquet"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    meta = {"format": 1, "benchmark": "iris", "dataset_revision": "v1", "model": "drawn", "revision": "1"}
    meta |= {"organisation": "tests", "licence": "Apache-2.0", "contact": "nobody", "generation": {}}
    version = json.loads((done / "annotation.json").read_text())["model"]["revision"]
    meta["labels"] = {"name": "fairspace/ares", "version": version}
    (tmp_path / "submission.json").write_text(json.dumps(meta))
    report = check_submission(tmp_path)
    assert report.ok, report.faults
    assert report.submission is not None
    assert report.submission.tables["annotations"].num_rows == 30 + len(BAD)


def test_every_face_is_a_row_and_images_without_one_say_so(tiny_ares: Path, tmp_path: Path) -> None:
    faces = [drawn_face("test", number, size=64).image for number in range(3)]
    plain = Image.new("RGB", (64, 64), "white")
    many = [encoded(image, "PNG") for image in (row_of(*faces), plain, faces[0])] + [b""]
    source = folder(tmp_path / "images", images(0, many))
    report = annotate(tiny_ares, source, tmp_path / "out", detector=Halves())
    counts = report.data["counts"]
    assert (counts["images"], counts["rows"], counts["faces"]) == (4, 6, 4)
    assert counts["status"] == {"no_face": 1, "ok": 4, "unreadable": 1}
    assert counts["reasons"] == {"no_face": 1, "zero_bytes": 1}
    assert report.data["settings"]["detector"] == "halves"
    found = [(row["id"], row["sample"], row["face"], row["faces"], row["status"]) for row in rows(tmp_path / "out")]
    assert found == [
        ("neutral/nurse", 0, 0, 3, "ok"),
        ("neutral/nurse", 0, 1, 3, "ok"),
        ("neutral/nurse", 0, 2, 3, "ok"),
        ("neutral/nurse", 1, 0, 1, "ok"),
        ("neutral/painter", 0, 0, 0, "no_face"),
        ("neutral/painter", 1, 0, 0, "unreadable"),
    ]


def test_images_that_a_model_did_not_make_are_refused_ones(tiny_ares: Path, tmp_path: Path) -> None:
    source = parquet(tmp_path / "images", [*images(2), Stored("neutral/cook", 0, None, "")])
    report = annotate(tiny_ares, source, tmp_path / "out")
    assert report.data["counts"]["status"] == {"ok": 2, "refused": 1}
    assert report.data["counts"]["reasons"] == {"no_image": 1}


KILLER = """
import os, signal, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
import pyarrow.parquet as pq
from fairspace.ares import classifying_ares
from fairspace.ares.annotating import annotate as whole, files
from fairspace.ares.evaluating import evaluate
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
def at(number, function):
    calls = []
    def counted(*args, **kwargs):
        calls.append(1)
        if len(calls) == number: die()
        return function(*args, **kwargs)
    return counted
class Half:
    def __call__(self, rows, part, **options):
        part.write_bytes(b"PAR1 half a file"); die()
def attempt(model, images, out, point):
    child = os.fork()
    if not child:
        kind, _, number = point.partition(":")
        number = int(number or 0)
        options = {}
        if kind == "images": options["progress"] = at(number, lambda *_: None)
        if kind == "half": pq.write_table = Half()
        if kind == "entry": files.write_atomically = at(number, files.write_atomically)
        whole.annotate(Path(model), Path(images), Path(out), shard=16, batch=8, workers=number % 3, **options)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print([attempt(*sys.argv[1:4], point) for point in sys.argv[4:]])
"""


@pytest.mark.process
def test_work_that_was_killed_anywhere_ends_with_the_same_bytes(
    stored: Path, done: Path, tiny_ares: Path, tmp_path: Path
) -> None:
    """At another batch size, and with none to two threads."""
    points = ["images:2", "half", "entry:2", "none"]
    command = [sys.executable, "-c", KILLER, str(tiny_ares), str(stored), str(tmp_path / "out"), *points]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[3])
    assert ran.returncode == 0, ran.stderr
    exits = json.loads(ran.stdout)
    assert exits == [-signal.SIGKILL] * (len(points) - 1) + [0], ran.stderr
    assert files(tmp_path / "out") == files(done)


def test_unfinished_work_goes_on_only_with_the_same_images(tiny_ares: Path, tmp_path: Path) -> None:
    source = folder(tmp_path / "images", images(20))

    def stop(what: str, done: int, total: int) -> None:
        if done == 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        annotate(tiny_ares, source, tmp_path / "out", shard=8, progress=stop)
    folder(source, images(22))
    with pytest.raises(BuildError, match=r"OUT_IN_USE.*unfinished work with another source, images"):
        annotate(tiny_ares, source, tmp_path / "out", shard=8)


def test_what_cannot_be_used_is_said(stored: Path, tiny_ares: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"TOOL_MISSING at nobody/nothing@v1"):
        annotate("nobody/nothing@v1", stored, tmp_path / "out")
    with pytest.raises(BuildError, match="BUILD_INCOMPLETE"):
        annotate(stored, stored, tmp_path / "out")
    assert not (tmp_path / "out").exists()
