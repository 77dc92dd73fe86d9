"""Parts of `fairspace ares annotate`: joined, they are to the byte what one process writes; wrong parts are refused."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.ares.annotating.annotate import AnnotationWork, annotated, open_work
from fairspace.ares.annotating.files import ASKED, WORK, join
from fairspace.builders.engine.output import claim
from fairspace.builders.errors import BuildError
from tests.ares.hostile import UNREADABLE
from tests.ares.image_sources import folder, images
from tests.builders.builds import files

IMAGES, SHARD = 23, 5


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder(tmp_path_factory.mktemp("images"), images(IMAGES - 1, [next(iter(UNREADABLE.values()))[0]()]))


@pytest.fixture(scope="module")
def work(source: Path, tiny_ares: Path, tmp_path_factory: pytest.TempPathFactory) -> AnnotationWork:
    return open_work(tiny_ares, source, tmp_path_factory.mktemp("whole") / "out", shard=SHARD)


@pytest.fixture(scope="module")
def whole(work: AnnotationWork) -> Path:
    return annotated(work).out


@pytest.fixture(scope="module")
def parts(whole: Path, work: AnnotationWork, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [part(work, tmp_path_factory.mktemp("part") / "out", f"{number}/2") for number in range(2)]


def part(work: AnnotationWork, out: Path, mark: str) -> Path:
    claim(out, out / WORK / ASKED, work.request)
    report = annotated(replace(work, out=out), mark)
    assert report.data == {}
    return out


def copied(parts: list[Path], root: Path) -> list[Path]:
    return [Path(shutil.copytree(each, root / str(number))) for number, each in enumerate(parts)]


def test_parts_with_a_folder_each_are_joined_to_the_bytes_of_one_process(
    parts: list[Path], whole: Path, tmp_path: Path
) -> None:
    assert join(parts[::-1], tmp_path / "out")[0]["counts"]["images"] == IMAGES
    assert files(tmp_path / "out") == files(whole)
    assert join(parts, tmp_path / "out")[0] == json.loads((whole / "annotation.json").read_text())


@pytest.mark.parametrize("of", [2, 3, 7])
def test_parts_in_one_folder_are_joined_to_the_same_bytes(
    of: int, work: AnnotationWork, whole: Path, tmp_path: Path
) -> None:
    """Seven parts of five files: two have none, and are no error."""
    for number in reversed(range(of)):
        part(work, tmp_path / "out", f"{number}/{of}")
    join([tmp_path / "out"], tmp_path / "out")
    assert files(tmp_path / "out") == files(whole)
    assert join([tmp_path / "out"], tmp_path / "out")[0]["images"] == IMAGES


def test_a_call_without_a_part_ends_the_work_of_parts(
    parts: list[Path], whole: Path, source: Path, tiny_ares: Path, tmp_path: Path
) -> None:
    (out,) = copied(parts[1:], tmp_path)
    report = annotated(open_work(tiny_ares, source, out, shard=SHARD))
    assert report.images == IMAGES - 2 * SHARD
    assert files(out) == files(whole)


def other(key: str, value: object) -> Callable[[list[Path]], list[Path]]:
    def change(parts: list[Path]) -> list[Path]:
        asked = parts[1] / WORK / ASKED
        asked.write_text(json.dumps(json.loads(asked.read_text()) | {key: value}))
        return parts

    return change


def damaged(parts: list[Path]) -> list[Path]:
    next(parts[1].glob("annotations-00003*")).unlink()
    return parts


def doubled(parts: list[Path]) -> list[Path]:
    return [*parts, Path(shutil.copytree(parts[1], parts[1].with_name("again")))]


def ended(parts: list[Path]) -> list[Path]:
    join(parts, parts[0].with_name("whole"))
    return [parts[0], parts[0].with_name("whole")]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda parts: parts[:1], r"files 1, 3 of 5 lack, of part 1/2.*run them \(again\)"),
        (damaged, r"files 3 of 5 lack, of part 1/2"),
        (doubled, r"again: files 1, 3 of 5 are in .*1 too"),
        (other("model", {"name": "another"}), r"1: another model than in .*0"),
        (other("source", {"sha256": "another"}), r"another source than"),
        (other("settings", {}), r"another settings than"),
        (other("versions", {"torch": "1.0"}), r"another versions than"),
        (other("shard", 7), r"another shard than.*one work.*all with the same options, --shard"),
        (other("label_error", {"source": "measured"}), r"another label_error than"),
        (ended, r"whole: finished work"),
        (lambda parts: [*parts, parts[0].parent / "nothing"], r"nothing: no .annotate/asked.json"),
    ],
)
def test_wrong_parts_are_refused_by_name(
    wrong: Callable[[list[Path]], list[Path]], said: str, parts: list[Path], tmp_path: Path
) -> None:
    chosen = wrong(copied(parts, tmp_path))
    with pytest.raises(BuildError, match=f"PARTS_UNJOINABLE.*{said}"):
        join(chosen, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_join_writes_into_nothing_else(parts: list[Path], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BuildError, match="OUT_IN_USE"):
        join(parts, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_that_another_part_just_began_is_shared(work: AnnotationWork, tmp_path: Path) -> None:
    (tmp_path / WORK).mkdir()
    claim(tmp_path, tmp_path / WORK / ASKED, work.request)
    claim(tmp_path, tmp_path / WORK / ASKED, work.request)
    with pytest.raises(BuildError, match="unfinished work with another shard, label_error"):
        claim(tmp_path, tmp_path / WORK / ASKED, {**work.request, "shard": 7, "label_error": {}})
    assert [file.name for file in (tmp_path / WORK).iterdir()] == [ASKED]
