import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image as Images

from fairspace.builders.engine.tools import Tools
from fairspace.builders.errors import BuildError
from fairspace.builders.models.clip import ClipMatcher
from fairspace.builders.models.describing import EndpointDescriber, FileDescriber
from fairspace.builders.models.detection import SCHEMA, StoredBoxes, YolosDetector
from fairspace.builders.models.diffusion import DiffusersGenerator, InstructPix2PixEditor
from fairspace.builders.models.labelling import ClipLabeller
from fairspace.builders.models.opening import SCHEMES, open_tools
from fairspace.builders.models.weights import find
from tests.builders.models import tiny

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for make in (tiny.clip, tiny.yolos, tiny.sdxl, tiny.sdxl_refiner, tiny.instruct_pix2pix):
        make(folder / make.__name__)
    pq.write_table(SCHEMA.empty_table(), folder / "boxes.parquet")
    (folder / "texts.jsonl").write_text("")
    return folder


def test_nothing_named_opens_nothing() -> None:
    assert open_tools() == Tools()


def test_each_scheme_opens_its_tool(models: Path) -> None:
    tools = open_tools(
        detector=f"yolos:{models}/yolos?threshold=0.5",
        generator=f"diffusers:{models}/sdxl?steps=3&guidance=5.5&size=32&compile=false",
        refiner=f"diffusers:{models}/sdxl_refiner",
        editor=f"diffusers:{models}/instruct_pix2pix?image_guidance=2",
        labeller=f"clip:{models}/clip?margin=0.4",
        matcher=f"clip:{models}/clip",
        describer="endpoint:http://127.0.0.1:9/v1?version=2#org/writer:latest?temperature=0.2",
        device="cpu",
    )
    assert isinstance(tools.detector, YolosDetector)
    assert tools.detector.threshold == 0.5
    assert isinstance(tools.generator, DiffusersGenerator)
    assert "3 steps guidance 5.5 32x32" in tools.generator.name
    assert "+ refiner sdxl_refiner" in tools.generator.name
    assert isinstance(tools.editor, InstructPix2PixEditor)
    assert "image guidance 2 " in tools.editor.name
    assert isinstance(tools.labeller, ClipLabeller)
    assert isinstance(tools.matcher, ClipMatcher)
    assert tools.labeller.clip is tools.matcher.clip
    assert tools.labeller.detector is tools.detector
    assert tools.labeller.margin == 0.4
    assert isinstance(tools.describer, EndpointDescriber)
    assert (tools.describer.url, tools.describer.model) == ("http://127.0.0.1:9/v1?version=2", "org/writer:latest")
    assert tools.describer.temperature == 0.2
    assert len(tools.names()) == 6


def test_files_of_stored_results(models: Path) -> None:
    tools = open_tools(
        detector=f"boxes:{models}/boxes.parquet",
        labeller=f"clip:{models}/clip",
        describer=f"file:{models}/texts.jsonl",
    )
    assert isinstance(tools.detector, StoredBoxes)
    assert isinstance(tools.describer, FileDescriber)
    assert isinstance(tools.labeller, ClipLabeller)
    assert tools.labeller.detector is None


def test_a_model_loads_at_its_first_use(models: Path) -> None:
    matcher = open_tools(matcher=f"clip:{models}/clip", device="cpu").matcher
    assert isinstance(matcher, ClipMatcher)
    assert "_model" not in matcher.clip.__dict__
    assert len(matcher.text_similarity([Images.new("RGB", (32, 32))], ["a photo"])) == 1
    assert "_model" in matcher.clip.__dict__


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"detector": "yolo:x"}, r"no scheme 'yolo' \(did you mean 'yolos'\?\)"),
        ({"detector": "diffusers:x"}, "no scheme 'diffusers'"),
        ({"detector": "boxes:"}, "nothing behind the scheme"),
        ({"detector": "boxes:none.parquet"}, "no such file"),
        ({"detector": "yolos?treshold=1"}, "no setting 'treshold'.*settings of yolos: threshold, batch"),
        ({"detector": "yolos?threshold=high"}, "threshold=high.*threshold as float"),
        ({"generator": "diffusers?compile=yes"}, "compile=yes"),
        ({"generator": "diffusers:./none"}, "no such folder"),
        ({"refiner": "diffusers:x"}, "no generator"),
        ({"describer": "endpoint:http://127.0.0.1/v1"}, "no address or no model"),
        ({"describer": "endpoint:ftp://127.0.0.1/v1#m"}, "no address or no model"),
        ({"describer": "file:none.jsonl"}, "no such file"),
    ],
)
def test_what_cannot_be_opened_is_said(named: dict[str, str], said: str) -> None:
    with pytest.raises(BuildError, match=f"TOOL_MISSING.*{said}"):
        open_tools(**named)


@pytest.mark.parametrize("role", ["detector", "generator", "editor", "labeller", "matcher"])
def test_absent_weights_say_how_to_get_them(role: str) -> None:
    scheme = next(iter(SCHEMES[role]))
    with pytest.raises(BuildError, match=r"TOOL_MISSING at org/absent.*`hf download org/absent` with HF_HUB_OFFLINE=0"):
        open_tools(**{role: f"{scheme}:org/absent"})
    with pytest.raises(BuildError, match=r"hf download org/absent --revision v2`"):
        open_tools(**{role: f"{scheme}:org/absent@v2"})


def test_an_absent_package_says_what_installs_it(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairspace.builders.models.weights.find_spec", lambda name: None)
    for named in ({"matcher": f"clip:{models}/clip"}, {"describer": "endpoint:http://127.0.0.1/v1#m"}):
        with pytest.raises(BuildError, match=r"TOOL_MISSING.*is not installed.*pip install .*\[build\]'"):
            open_tools(**named)


@pytest.fixture
def cached(models: Path) -> Iterator[None]:
    from huggingface_hub.constants import HF_HUB_CACHE

    repositories = [(name, Path(HF_HUB_CACHE) / f"models--org--tiny-{name}") for name in ("clip", "sdxl")]
    for name, repository in repositories:
        shutil.copytree(models / name, repository / "snapshots" / COMMIT)
        (repository / "refs").mkdir()
        (repository / "refs" / "main").write_text(COMMIT)
    yield
    for _, repository in repositories:
        shutil.rmtree(repository)


@pytest.mark.usefixtures("cached")
def test_a_repository_is_named_with_its_commit() -> None:
    found = find("org/tiny-clip", "config.json")
    assert (found.where, found.revision, found.name) == ("org/tiny-clip", COMMIT, f"org/tiny-clip@{COMMIT}")
    assert find(f"org/tiny-clip@{COMMIT}", "config.json") == found
    with pytest.raises(BuildError, match=r"TOOL_MISSING at org/tiny-clip@v9"):
        find("org/tiny-clip@v9", "config.json")


def test_a_folder_is_named_by_its_content(models: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "clip", tmp_path / "clip")
    first = find(str(models / "clip"), "config.json").name
    assert find(str(tmp_path / "clip"), "config.json").name == first
    shutil.copytree(models / "clip", tmp_path / "other/clip")
    (tmp_path / "other/clip/tokenizer.json").write_text("{}")
    assert find(str(tmp_path / "other/clip"), "config.json").name != first


def test_incomplete_weights_say_what_is_missing(models: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "clip", tmp_path / "clip")
    (tmp_path / "clip/model.safetensors").unlink()
    matcher = open_tools(matcher=f"clip:{tmp_path}/clip", device="cpu").matcher
    assert matcher is not None
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*model\.safetensors.*all files of the model"):
        matcher.text_similarity([Images.new("RGB", (32, 32))], ["a photo"])
