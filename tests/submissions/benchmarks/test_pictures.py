import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.builders.engine.build import file_hash
from fairspace.submissions.benchmarks import pictures as data_images
from fairspace.submissions.benchmarks.pictures import FolderOfBuilds, OnHub, SplitImages, open_data
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark
from tests.hub.running import OWNER, Hub
from tests.submissions.running.data.factory import IMAGE, image, splits, write, write_manifest, write_split

PAIRS = ("genres", "pairs", "test")
FACES = ("stereotypical_bias", "vision", "gender")
IDS = [f"image-{number:03d}" for number in range(230)]


@pytest.fixture
def genres(tmp_path: Path) -> Path:
    return write(tmp_path, "genres", per=600)


def refused(where: Path | str, place: tuple[str, str, str] = PAIRS) -> RunError:
    with pytest.raises(RunError) as error:
        open_data(str(where)).images(*place)
    return error.value


def test_images_come_by_id_in_any_order(tmp_path: Path) -> None:
    files = write_split(tmp_path, "test", {"id": IDS}, per=90, group=40)
    images = SplitImages(files)
    assert list(images) == IDS
    shuffled = IDS[::-1] + Random(5).sample(IDS, len(IDS)) + IDS
    assert [images.get(item) for item in shuffled] == [image(item) for item in shuffled]


def test_in_order_a_row_group_is_read_once_and_two_are_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write_split(tmp_path, "test", {"id": IDS}, per=100, group=50)
    opened: list[object] = []
    real = data_images._read

    def counted(file: Path, number: int) -> pa.Array:
        opened.append((file, number))
        return real(file, number)

    monkeypatch.setattr(data_images, "_read", counted)
    images = SplitImages(files)
    assert not opened
    for item in IDS:
        images.get(item)
    assert len(opened) == 5
    assert len(images._held) == 2


def test_a_row_group_that_is_too_large_for_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_images, "GROUP", 1000)
    files = write_split(tmp_path, "test", {"id": IDS})
    with pytest.raises(RunError, match="about 100 rows in a row group"):
        SplitImages(files)


def test_rows_without_an_image_are_known_and_a_joined_row_counts(tmp_path: Path) -> None:
    first = write_split(tmp_path / "published", "test", {"id": IDS[:6]}, without=IDS[:3])
    joined = write_split(tmp_path / "joined", "test", {"id": IDS[:2]})
    images = SplitImages([*first, *joined])
    assert (len(images), images.rows, images.without) == (5, 8, {IDS[2]})
    assert IDS[2] not in images
    assert [images.get(item) for item in IDS[:2]] == [image(item) for item in IDS[:2]]
    with pytest.raises(KeyError):
        images.get(IDS[2])


def split_of(folder: Path, images: list[bytes | None]) -> SplitImages:
    """A split whose rows have one id."""
    file = folder / "test-0.parquet"
    cells = pa.array([{"bytes": data, "path": "one.jpg"} for data in images], IMAGE)
    pq.write_table(pa.table({"id": ["one"] * len(images), "image": cells}), file)
    return SplitImages([file])


def test_of_several_images_of_an_id_the_first_counts_and_one_without_bytes_is_damage(tmp_path: Path) -> None:
    assert split_of(tmp_path, [b"first", b"second"]).get("one") == b"first"
    with pytest.raises(RunError, match="an image without bytes"):
        split_of(tmp_path, [None]).get("one")


def test_files_with_other_columns_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "test-0.parquet"
    pq.write_table(pa.table({"id": ["one"], "picture": ["two"]}), file)
    with pytest.raises(RunError, match="the columns id, picture") as error:
        SplitImages([file])
    assert error.value.code == "DATA_INVALID"


def test_what_was_used_is_told(genres: Path) -> None:
    data = open_data(str(genres))
    assert (data.used, data.sample) == ({}, False)
    assert data.table(*PAIRS, ["id"])["id"].to_pylist() == list(data.images(*PAIRS))
    manifest = file_hash(genres / "genres" / "manifest.json")
    assert (data.used, data.sample) == ({"genres": f"v1, sha256:{manifest}"}, False)


def test_a_sample_is_told(tmp_path: Path) -> None:
    data = open_data(str(write(tmp_path, "genres", sample=True)))
    data.images(*PAIRS)
    assert data.sample
    assert data.used["genres"].startswith("v1, sample, sha256:")


def test_joined_images_may_stand_beside_the_published_files_or_alone(tmp_path: Path) -> None:
    lacking = {f"vision_gender/{number:05d}" for number in range(3840)}
    published = write(tmp_path / "published", "stereotypical_bias", without=lacking)
    assert "3840 rows without images" in refused(published, FACES).what
    columns = next(columns for *place, columns in splits("stereotypical_bias") if tuple(place) == FACES)
    (joined,) = write_split(published / "stereotypical_bias" / "vision" / "more", "gender", columns)
    for folder in (published, tmp_path / "alone"):
        target = folder / "stereotypical_bias" / "vision"
        target.mkdir(parents=True, exist_ok=True)
        (target / "gender-00000.parquet").write_bytes(joined.read_bytes())
        data = open_data(str(folder))
        assert len(data.images(*FACES)) == 3840
        *known, last = data.used["stereotypical_bias"].split(", ")
        assert last.startswith("vision/gender:")
        assert known[:1] == ([] if folder.name == "alone" else ["v2"])


def test_a_namespace_or_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="fairspace build all --out built") as error:
        open_data(str(tmp_path / "none"))
    assert error.value.code == "DATA_MISSING"


def test_a_dataset_or_split_that_is_not_in_the_folder_says_how_to_get_it(genres: Path) -> None:
    error = refused(genres, FACES)
    assert (error.code, error.what) == ("DATA_MISSING", "no folder stereotypical_bias beside genres")
    assert f"fairspace build stereotypical_bias --out {genres / 'stereotypical_bias'}" in error.mend
    assert "--source with utkface" in error.mend
    assert refused(genres / "genres").mend == f"name the folder above it: --data {genres}"
    unbuilt = refused(genres, ("genres", "portraits", "test"))
    assert unbuilt.code == "DATA_MISSING"
    assert "the build says: This is a dataset for tests." in unbuilt.what


def test_damaged_files_are_found(genres: Path) -> None:
    files = sorted((genres / "genres" / "pairs").iterdir())
    whole = files[1].read_bytes()
    files[1].write_bytes(whole[:-1])
    error = refused(genres)
    expected = ("DATA_INVALID", f"{len(whole) - 1:,} bytes", f"{len(whole):,} bytes")
    assert (error.code, error.what, error.expected) == expected
    files[1].unlink()
    assert (refused(genres).code, refused(genres).what) == ("DATA_INVALID", "no such file")
    files[1].write_bytes(b"?" * len(whole))
    assert (refused(genres).code, refused(genres).where) == ("DATA_INVALID", str(files[1]))
    for file in files:
        file.unlink()
    assert refused(genres).code == "DATA_MISSING"
    assert "copy the whole dataset" in refused(genres).mend


def test_other_revisions_broken_manifests_and_unfinished_builds_are_refused(genres: Path) -> None:
    manifest = genres / "genres" / "manifest.json"
    write_manifest(genres / "genres", "genres", [], revision="upstream")
    assert refused(genres).what == "revision upstream of genres"
    manifest.write_text("{}", encoding="utf-8")
    assert refused(genres).what == "KeyError: 'dataset'"
    manifest.write_text("{", encoding="utf-8")
    assert refused(genres).code == "DATA_INVALID"
    manifest.unlink()
    (genres / "genres" / ".build").mkdir()
    assert refused(genres).code == "DATA_INVALID"
    assert "goes on where it stopped" in refused(genres).mend


def test_a_build_of_an_older_revision_is_read_where_its_items_are_asked(tmp_path: Path) -> None:
    columns = {"id": ["vision_gender/0000", "vision_gender/0001"]}
    folder = tmp_path / "stereotypical_bias"
    files = write_split(folder / "vision", "gender", columns)
    write_manifest(folder, folder.name, [("vision", "gender", files)], revision="v1")
    assert open_data(str(tmp_path), "v1").images(*FACES).get("vision_gender/0001") == image("vision_gender/0001")
    error = refused(tmp_path, FACES)
    assert (error.code, error.expected) == ("DATA_INVALID", "revision v2 of stereotypical_bias")
    assert "fairspace build stereotypical_bias" in error.mend
    assert error.mend.endswith("or ask what this build has, with --dataset-revision v1")
    chosen = ChosenPart("stereotypical_bias", str(tmp_path), ("vision_gender",), dataset_revision="v1")
    opened = open_benchmark(chosen)
    assert [stimulus.id for stimulus in opened.parts["vision_gender"].stimuli] == columns["id"]
    assert opened.datasets["stereotypical_bias"].startswith("v1, sha256:")


def test_a_newer_build_is_not_asked_as_an_older_one(tmp_path: Path) -> None:
    columns = {"id": ["vision_gender/00000"]}
    folder = tmp_path / "stereotypical_bias"
    write_manifest(folder, folder.name, [("vision", "gender", write_split(folder / "vision", "gender", columns))])
    with pytest.raises(RunError, match="revision v2 of stereotypical_bias") as error:
        open_data(str(tmp_path), "v1").images(*FACES)
    assert "from the tag v1; or ask what this build has, with --dataset-revision v2" in error.value.mend


PUBLISH = """
from pathlib import Path
from fairspace.builders.publishing.repository import Repo, publish_repo
for folder, tag, gated in {wanted!r}:
    files = {{f.relative_to(folder).as_posix(): f for f in Path(folder).rglob("*") if f.is_file()}}
    repo = Repo("fairspace/" + Path(folder).name, "dataset", gated=gated)
    publish_repo(repo, files, message="Test", tag=tag)
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """A Hub with a sample of one dataset, tagged, and then all of it; another dataset is gated."""
    root = tmp_path_factory.mktemp("hub")
    wanted = [
        (str(write(root / f"{name}-{sample}", name, sample=sample, per=600) / name), tag, name != "genres")
        for name, sample, tag in (
            ("genres", True, "trial"),
            ("genres", False, None),
            ("stereotypical_bias", True, None),
        )
    ]
    with Hub.start(root / "hub") as hub:
        hub.run(PUBLISH.format(wanted=wanted), root / "owner", OWNER)
        yield hub


OPEN = """
import json
from fairspace.submissions.benchmarks.pictures import open_data
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.inspect_task import parts
data = open_data({where!r})
try:
    made = parts({benchmark!r}, data)
    shown = made[0].read(7)
    print(json.dumps([data.used, data.sample, len(made[0].stimuli), shown.images[0].decode()]))
except RunError as error:
    print(json.dumps([error.code, error.mend]))
"""


def on_hub(hub: Hub, home: Path, where: str, benchmark: str = "genres", **more: str) -> list[object]:
    found: list[object] = json.loads(hub.run(OPEN.format(where=where, benchmark=benchmark), home, **more))
    return found


@pytest.mark.process
def test_data_on_the_hub_is_fetched_at_a_tag_and_then_offline(hub: Hub, tmp_path: Path) -> None:
    used, sample, stimuli, first = on_hub(hub, tmp_path, "fairspace@trial")
    assert isinstance(used, dict)
    said = used["genres"].rsplit(", commit:", 1)[0]
    assert (said[: said.index(":")], sample, stimuli) == ("v1, sample, sha256", True, 1440)
    assert first == image("cs/young/00/1/2").decode()
    fetched = {entry["path"].rsplit("/", 1)[-1] for entry in hub.log() if "/resolve/" in entry["path"]}
    assert fetched == {"manifest.json", *(f"test-{number:05}-of-00003.parquet" for number in range(3))}
    offline = {"HF_HUB_OFFLINE": "1"}
    assert on_hub(hub, tmp_path, "fairspace@trial", **offline) == [used, sample, stimuli, first]
    code, mend = on_hub(hub, tmp_path, "fairspace", **offline)
    assert code == "DATA_MISSING"
    assert "go online" in str(mend)


@pytest.mark.process
def test_what_the_hub_refuses_says_what_to_do(hub: Hub, tmp_path: Path) -> None:
    for where, benchmark, said in (
        ("fairspace@none", "genres", "leave out the tag"),
        ("fairspace", "stereotypical_bias", "accept its terms"),
    ):
        code, mend = on_hub(hub, tmp_path, where, benchmark)
        assert code == "DATA_MISSING"
        assert said in str(mend)


def test_a_folder_without_datasets_does_not_hide_a_namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fairspace" / "submissions").mkdir(parents=True)  # as in a clone of this software
    monkeypatch.chdir(tmp_path)
    assert isinstance(open_data("fairspace")._place, OnHub)
    assert isinstance(open_data("./fairspace")._place, FolderOfBuilds)
    (tmp_path / "fairspace" / "genres").mkdir()
    assert isinstance(open_data("fairspace")._place, FolderOfBuilds)
