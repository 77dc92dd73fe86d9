import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from fairspace.builders.publishing import join_images
from tests.ares.hostile import encoded


def photo(width: int, height: int, seed: int = 0) -> Image.Image:
    pixels = np.random.RandomState(seed).randint(0, 255, (height // 8 + 1, width // 8 + 1, 3), np.uint8)
    return Image.fromarray(pixels).resize((width, height), Image.Resampling.BICUBIC)


def jpeg(image: Image.Image, **settings: Any) -> bytes:
    return encoded(image, "JPEG", quality=95, **settings)


def rows(folder: Path) -> list[dict[str, Any]]:
    data = jpeg(photo(600, 400))
    (folder / "facet/images").mkdir(parents=True)
    (folder / "facet/images/a.jpg").write_bytes(data)
    window = {"crop_x": 100, "crop_y": 8, "crop_width": 390, "crop_height": 390}
    none = dict.fromkeys(("source_file", "source_sha256", *window))
    own = {"bytes": jpeg(photo(384, 384, 3)), "path": "own.jpg"}
    file = {"source_file": "images/a.jpg", "source_sha256": hashlib.sha256(data).hexdigest()}
    return [
        {"id": "x/0", "image": None, **file, **window},
        {"id": "x/1", "image": own, **none},
        {"id": "x/2", "image": None, **none},
    ]


def features() -> Any:
    from datasets import Features, Image, Value

    numbers = {name: Value("int32") for name in ("crop_x", "crop_y", "crop_width", "crop_height")}
    texts = {name: Value("string") for name in ("source_file", "source_sha256")}
    return Features({"id": Value("string"), "image": Image(), **texts, **numbers})


def test_a_window_is_cut_and_scaled() -> None:
    image = photo(600, 400)
    assert join_images.crop(image, (10, 5, 384, 384), 384).tobytes() == image.crop((10, 5, 394, 389)).tobytes()
    assert join_images.crop(image, (10, 0, 400, 400), 384).size == (384, 384)
    with pytest.raises(ValueError, match="does not lie in"):
        join_images.crop(image, (300, 0, 384, 384), 384)


def test_a_photo_is_turned_upright() -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    assert join_images.upright(jpeg(photo(120, 80), exif=turned)).size == (80, 120)
    with pytest.raises(OSError, match="cannot identify"):
        join_images.upright(b"text")


def test_rows_get_their_images_and_keep_those_they_have(tmp_path: Path) -> None:
    without = rows(tmp_path)
    joined = list(join_images.join(without, tmp_path))
    data = (tmp_path / "facet/images/a.jpg").read_bytes()
    assert joined[0]["image"] == {"bytes": join_images.cropped_jpeg(data, (100, 8, 390, 390)), "path": "x-0.jpg"}
    assert joined[1]["image"] == without[1]["image"]
    assert joined[2]["image"] is None
    assert next(join_images.join(without, tmp_path / "facet")) == joined[0]


def test_rows_of_two_files_are_spliced(tmp_path: Path) -> None:
    halves = {"left": jpeg(photo(200, 200)), "right": jpeg(photo(300, 200, 1))}
    row = {"id": "pair/0"}
    for side, data in halves.items():
        (tmp_path / f"{side}.jpg").write_bytes(data)
        row |= {f"{side}_file": f"{side}.jpg", f"{side}_sha256": hashlib.sha256(data).hexdigest()}
    (joined,) = join_images.join([row], tmp_path)
    assert joined["image"]["bytes"] == join_images.spliced_jpeg(halves["left"], halves["right"])
    both = join_images.upright(joined["image"]["bytes"])
    assert both.size == (400, 200)
    sides = {
        (0, 0, 200, 200): join_images.upright(halves["left"]),
        (200, 0, 400, 200): photo(300, 200, 1).crop((50, 0, 250, 200)),
    }
    for box, shown in sides.items():
        assert np.abs(np.asarray(both.crop(box), int) - np.asarray(shown, int)).mean() < 8, "but for JPEG"


@pytest.mark.parametrize("streaming", [False, True])
def test_a_dataset_stays_a_dataset(tmp_path: Path, streaming: bool) -> None:
    from datasets import Dataset

    dataset = Dataset.from_list(rows(tmp_path), features=features())
    joined = list(join_images.join(dataset.to_iterable_dataset() if streaming else dataset, tmp_path))
    assert [row["image"] and row["image"].size for row in joined] == [(384, 384), (384, 384), None]
    assert joined[0]["crop_width"] == 390


def test_a_missing_or_other_file_is_refused(tmp_path: Path) -> None:
    without = rows(tmp_path)
    with pytest.raises(join_images.JoinError, match=r"x/0: images/up\.jpg|x/0: '\.\./up\.jpg' leads out"):
        list(join_images.join([{**without[0], "source_file": "../up.jpg"}], tmp_path))
    with pytest.raises(join_images.JoinError, match="is no folder"):
        join_images.join(without, tmp_path / "nowhere")
    file = tmp_path / "facet/images/a.jpg"
    file.write_bytes(jpeg(photo(600, 400, 9)))
    with pytest.raises(join_images.JoinError, match=r"x/0: .*a\.jpg is not the file that the dataset was made from"):
        list(join_images.join(without, tmp_path))
    file.unlink()
    with pytest.raises(join_images.JoinError, match=r"x/0: no images/a\.jpg in"):
        list(join_images.join(without, tmp_path))


def test_a_file_that_is_no_image_is_refused(tmp_path: Path) -> None:
    row = rows(tmp_path)[0]
    (tmp_path / "facet/images/a.jpg").write_bytes(b"text")
    row["source_sha256"] = hashlib.sha256(b"text").hexdigest()
    with pytest.raises(join_images.JoinError, match="x/0: its image cannot be made"):
        list(join_images.join([row], tmp_path))


@pytest.mark.slow
def test_the_command_runs_alone_in_another_folder(tmp_path: Path) -> None:
    from datasets import Dataset

    source, published = tmp_path / "source", tmp_path / "published"
    source.mkdir()
    Dataset.from_list(rows(source), features=features()).to_parquet(
        published / "occupation/test-00000-of-00001.parquet"
    )
    script = shutil.copy(join_images.__file__, published / "join_images.py")
    arguments = ["--dataset", str(published / "occupation"), "--source", str(source), "--out", str(tmp_path / "joined")]
    command = [sys.executable, "-I", script, *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = pq.read_table(tmp_path / "joined/test-00000.parquet")
    data = (source / "facet/images/a.jpg").read_bytes()
    assert table["image"][0].as_py()["bytes"] == join_images.cropped_jpeg(data, (100, 8, 390, 390))
    assert table["image"][2].as_py() is None
    with pytest.raises(SystemExit):
        join_images.main(arguments)
