import json
import lzma
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest
from matplotlib import cbook
from PIL import Image

from fairspace.builders.drawn.swatches import draw_face
from fairspace.builders.models.opening import open_face_parts
from tests.builders.models import tiny
from tests.builders.models.make_yolo import PLACE
from tests.submissions.conftest import Run
from tests.submissions.running.quality import factory as quality_factory
from tests.tiny_ares import random_ares


class Steered(NamedTuple):
    images: Path
    annotations: Path
    clip: str
    dino: str


@pytest.fixture(scope="module")
def model() -> Path:
    return random_ares()


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    place = folder / "generation_neutral" / "neutral" / "nurse"
    place.mkdir(parents=True)
    for sample in range(4):
        draw_face(("female", "male")[sample % 2], "young", "dark", sample).save(place / f"{sample}.png")
    (place / "4.png").write_bytes(b"no image")
    return folder


def test_annotate_gives_every_image_one_row_and_says_how(run: Run, model: Path, images: Path, tmp_path: Path) -> None:
    printed = run.fine("ares", "annotate", images, "--model", model, "--out", tmp_path / "out")
    assert "5 images, 5 rows" in printed
    assert "perceived presentation" in printed
    rows = pq.read_table(next((tmp_path / "out").glob("annotations-*.parquet"))).to_pylist()
    assert [row["sample"] for row in rows] == list(range(5))
    assert [row["status"] for row in rows] == ["ok"] * 4 + ["unreadable"]
    assert {row["id"] for row in rows} == {"neutral/nurse"}


@pytest.mark.slow
def test_parts_are_said_on_the_first_line_and_joined(
    run: Run, model: Path, images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    words = ("ares", "annotate", images, "--model", model, "--out", out, "--shard", 3)
    names = ("--names", "iris@v1")
    printed = run.fine(*words, *names, "--part", "0/2")
    assert printed.splitlines()[0] == "Part 0/2"
    assert f"{out}: part 0/2, 3 images" in printed
    error = run.refused(1, "join", out, "--out", out)
    assert "PARTS_UNJOINABLE" in error
    assert "files 1 of 2 lack, of part 1/2" in error
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert run.fine(*words, *names).startswith("Part 1/2, as the launcher's rank says")
    assert "5 images, 5 rows" in run.fine("join", out, "--out", out)
    meta = json.loads((out / "submission.json").read_text())
    assert (meta["benchmark"], meta["dataset_revision"]) == ("iris", "v1")
    assert meta["labels"]["name"] == json.loads((out / "annotation.json").read_text())["model"]["name"]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--on", "ray", "--part", "0/2"), 2, "start it once, without --part"),
        (("--on", "spark"), 2, "--on is ray or ray://HOST:PORT"),
        (("--on", "ray://host"), 2, "--on is ray or ray://HOST:PORT"),
        (("--on", "ray"), 1, "TOOL_MISSING at --on ray: ray is not installed"),
        (("--part", "2/2"), 1, "PART_INVALID"),
        (("--model", "nowhere/at/all"), 1, "TOOL_MISSING"),
    ],
)
def test_labelling_is_refused_where_it_cannot_be_meant(
    run: Run,
    images: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    monkeypatch.setattr("fairspace.builders.models.weights.find_spec", lambda name: None if name == "ray" else name)
    words = ("ares", "annotate", images, "--model", "nowhere", "--out", tmp_path / "out", *options)
    assert said in run.refused(code, *words)
    assert not (tmp_path / "out").exists()


def test_annotate_takes_the_detectors_of_builds(run: Run, model: Path, images: Path, tmp_path: Path) -> None:
    file, out = tmp_path / "yolo.onnx", tmp_path / "out"
    file.write_bytes(lzma.decompress((PLACE / "yolov8n.onnx.xz").read_bytes()))
    named = f"onnx:{file}?threshold=0.7"
    run.fine("ares", "annotate", images, "--model", model, "--out", out, "--detector", named)
    rows = pq.read_table(next(out.glob("annotations-*.parquet"))).to_pylist()
    drawn = [Image.open(file).convert("RGB") for file in sorted(images.rglob("*.png"))[:4]]
    faces = [len(boxes) for boxes in open_face_parts(named).detect(drawn)]
    assert [row["faces"] for row in rows if row["face"] == 0 and row["sample"] < 4] == faces
    assert max(faces) > 1
    assert open_face_parts(named).name in (out / "annotation.json").read_text()


def test_evaluate_prints_the_configurations_and_writes_its_report(run: Run, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "evaluation"
    printed = run.fine("ares", "evaluate", model, "--data", "drawn:60", "--out", out)
    for row in ("E1", "E4", "ARES"):
        assert f"\n{row}" in printed
    assert "no vision-language model was named" in printed
    assert (out / "report.md").is_file()
    assert (out / "evaluation.json").is_file()


@pytest.fixture(scope="module")
def steered(tmp_path_factory: pytest.TempPathFactory) -> Steered:
    root = tmp_path_factory.mktemp("steered")
    tiny.clip(root / "clip")
    quality_factory.dinov2(root / "dinov2")
    rows = quality_factory.stored(4)
    quality_factory.images(root / "images", rows)
    (root / "annotations").mkdir()
    pq.write_table(quality_factory.annotated(rows), root / "annotations" / "annotations.parquet")
    return Steered(root / "images", root / "annotations", f"clip:{root / 'clip'}", f"dinov2:{root / 'dinov2'}")


def test_quality_fills_the_four_columns_and_says_what_measured_them(run: Run, steered: Steered, tmp_path: Path) -> None:
    out = tmp_path / "out"
    clips = [part for role in ("iqa", "face-iqa", "similarity") for part in ("--quality", f"{role}={steered.clip}")]
    printed = run.fine(
        *("ares", "quality", steered.images, "--annotations", steered.annotations, "--out", out),
        *(*clips, "--quality", f"reference={steered.dino}"),
    )
    assert "4 images, 4 measured" in printed
    rows = pq.read_table(out / "annotations.parquet").to_pylist()
    for column in ("image_quality", "face_quality", "prompt_similarity", "reference_similarity"):
        assert f"  {column}: " in printed
        assert all(row[column] is not None for row in rows)
    assert json.loads((out / "quality.json").read_text())["counts"]["measured"] == 4
    assert (tmp_path / "out.run" / "quality.sqlite").is_file()
    assert str(steered.images.parent) not in printed.replace(str(out), "")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--quality", "iqa=clp"), 1, "did you mean 'clip'"),
        (("--quality", "reference=dinov2:nowhere/at/all"), 1, "TOOL_MISSING"),
        (("--quality", "icq=clip"), 2, "did you mean 'iqa'"),
        (("--annotations", "nowhere"), 1, "DATA_MISSING"),
    ],
)
def test_wrong_options_of_quality_are_told_before_anything_is_written(
    run: Run, steered: Steered, tmp_path: Path, options: tuple[str, ...], code: int, said: str
) -> None:
    defaults = {"--annotations": str(steered.annotations), "--out": str(tmp_path / "out")}
    defaults |= {"--quality": f"iqa={steered.clip}"}
    named = defaults | dict(zip(options[::2], options[1::2], strict=True))
    words = (part for pair in named.items() for part in pair)
    assert said in run.refused(code, "ares", "quality", steered.images, *words)
    assert not (tmp_path / "out").exists()


def test_quality_is_not_written_into_a_submission(run: Run, steered: Steered, tmp_path: Path) -> None:
    (tmp_path / "submission.json").write_text("{}")
    error = run.refused(2, "ares", "quality", steered.images, "--annotations", tmp_path, "--out", tmp_path)
    assert "is a submission; name another --out" in error


@pytest.mark.slow
def test_a_package_is_measured(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairspace.submissions.commands.ares.NONFACES", 1)
    (tmp_path / "faces").mkdir()
    with Image.open(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)) as photo:
        for number in range(3):
            photo.resize((photo.width - number, photo.height)).save(tmp_path / "faces" / f"{number}.png")
    lines = ["file,gender", *(f"{number}.png,female" for number in range(3))]
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    places = ("--data", tmp_path / "faces", "--labels", tmp_path / "labels.csv", "--out", tmp_path / "m")
    measured = run.fine("ares", "evaluate", "age-and-gender", *places)
    assert "gender: " in measured
    assert "of 3 images" in measured
