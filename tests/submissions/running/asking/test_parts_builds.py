from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from PIL import Image

from fairspace.builders.engine.build import build
from fairspace.builders.iris_steer_60.understanding import sample_pairs
from fairspace.builders.registry import dataset
from fairspace.submissions.benchmarks.pictures import open_data
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.parts import parts
from tests.sample_builds import sample_builds

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built() -> Path:
    return sample_builds()


ITEMS: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "narrative": ("genres/pairs", "test", lambda item: item),
    "vision_gender": ("stereotypical_bias/vision", "gender", lambda item: item.rsplit("/", 1)[0]),
    "vision_race": ("stereotypical_bias/vision", "race", lambda item: item.rsplit("/", 1)[0]),
    "language_gender": ("stereotypical_bias/persona", "test", lambda item: f"persona/{item.split('/', 1)[1]}"),
    "language_race": ("stereotypical_bias/persona", "test", lambda item: f"persona/{item.split('/', 1)[1]}"),
    "occupation": ("iris_ideal_52/occupation", "test", lambda item: item),
}
"""Task -> config and split of its images, and function from item id to image id."""


def stored(built: Path, config: str, split: str) -> dict[str, bytes]:
    found = {}
    for file in sorted((built / config).glob(f"{split}-*.parquet")):
        table = pq.read_table(file, columns=["id", "image"])
        for row in table.filter(pc.is_valid(table["image"])).to_pylist():
            found[row["id"]] = row["image"]["bytes"]
    return found


@pytest.mark.parametrize("task", ITEMS)
def test_every_image_of_a_build_is_shown_with_its_items(built: Path, task: str) -> None:
    config, split, of_image = ITEMS[task]
    name = {"genres/": "genres", "stereot": "stereotypical_bias"}.get(config[:7], "iris")
    data = open_data(str(built))
    (part,) = parts(name, data, tasks=[task])
    images, seen = stored(built, config, split), set()
    for place in range(len(part.stimuli)):
        shown = part.read(place)
        for ask in shown.asks:
            assert ask.image is not None
            assert shown.images[ask.image] == images[of_image(ask.id)]
            seen.add(of_image(ask.id))
    assert seen == set(images)
    assert data.sample
    with Image.open(BytesIO(part.read(0).images[0])) as opened:
        assert min(opened.size) >= 200
    assert part.expected > sum(stimulus.asks for stimulus in part.stimuli)


def test_a_build_of_planned_pairs_has_their_ids_and_no_images(tmp_path: Path) -> None:
    build(dataset("iris_steer_60"), tmp_path / "iris_steer_60", sample=True)
    data = open_data(str(tmp_path))
    table = data.table("iris_steer_60", "understanding", "test", ["id", "image"])
    assert table["id"].to_pylist() == [f"pair/{number:04d}/{side}" for number in sample_pairs() for side in "ab"]
    with pytest.raises(RunError, match=r"84 rows without images.*fairspace build iris_steer_60") as error:
        parts("iris", data, tasks=["pair"])
    assert error.value.code == "DATA_MISSING"
