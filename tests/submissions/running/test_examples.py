"""The worked examples, command by command, with tiny random weights of the same architectures in the models' places."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.submissions.running.planning import CORES, GPU, PlanLine, Size, local
from tests.served import Served
from tests.submissions.probing.tiny_models import janus
from tests.submissions.running.data.factory import picture, write
from tests.submissions.running.images.test_pipelines import build
from tests.submissions.running.local.tiny_models import seeing
from tests.submissions.running.test_running_page import ROOT, commands

Run = Callable[..., tuple[int, str, str]]
TEXT = (ROOT / "submissions/EXAMPLES.md").read_text(encoding="utf-8")
PAGES = {page.partition("\n")[0]: page for page in re.split(r"^## ", TEXT, flags=re.M)[1:]}


def models(title: str, folder: Path, features: Path, served: Served) -> Mapping[str, str]:
    """Names on the page -> those of tiny models."""
    found = {"clip": f"clip:{features}/clip?margin=0"}
    if "Janus" in title:
        found["deepseek-community/Janus-Pro-7B"] = str(janus(folder / "janus"))
    elif "Qwen" in title:
        build("QwenImagePipeline", folder / "image")
        found |= {"Qwen/Qwen-Image": str(folder / "image"), "size=1024&steps=50": "size=32&steps=2"}
        found["Qwen/Qwen2.5-VL-7B-Instruct"] = str(seeing(folder / "vl", "qwen2_5_vl"))
    elif "API" in title:
        found |= {"https://api.openai.com/v1": served.url}
    return found


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of IRIS that has the core's images."""
    root = tmp_path_factory.mktemp("built")
    asked = {item.rpartition("/")[0] for item in iris_steer_60.pair_ids("v2-core").to_pylist()}
    asked |= set(iris_ideal_52.image_ids("v2-core").to_pylist())

    def places(ids: Sequence[str]) -> list[int]:
        return [place for place, item in enumerate(ids) if {item, item.rpartition("/")[0]} & asked]

    return write(root, "iris", sample=True, places=places, draw=picture)


@pytest.mark.slow
@pytest.mark.parametrize("title", PAGES)
def test_every_command_of_a_page_works(
    title: str,
    run: Run,
    tmp_path: Path,
    core: Path,
    features: Path,
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    prices: Any = {"openai/gpt-4o": {"input": 2.5, "output": 10}, f"endpoint:{served.url}#gpt-image-1": {"image": 0.04}}
    Path("prices.json").write_text(json.dumps(prices))
    page, replaced = PAGES[title], models(title, tmp_path / "models", features, served)
    planned = "Not run here" in page  # no other model is put in the place of one that cannot be had
    (block,) = re.findall(r"```bash\n(.*?)```", page, re.S)
    assert len(block.replace("\\\n", "").strip().splitlines()) <= 6
    for words in commands(page):
        if words[0] == "submit":
            continue  # tests/submissions/commands has it
        for real, small in {**replaced, "fairspace": str(core)}.items():
            words = [
                small if word == real else word if word == "fairspace" else word.replace(real, small) for word in words
            ]
        if words[0] == "run":
            words += ["--dry-run"] if planned else ["--limit", "1"]
        elif planned:
            continue
        code, out, err = run(*words)
        assert code == 0, (words, err)
        if "--dry-run" in words:
            assert re.search(r"about [\d.]+ (seconds|minutes|hours)|your own code", out), out


def test_the_times_of_the_pages_are_those_of_the_plan() -> None:
    asked = PlanLine("t", "m", False, 0, 0, 6596, 0, input=5.27e6, output=70_820.0)
    made = PlanLine("t", "g", True, 0, 0, 716, 0)
    small, large = Size(7.4e9, 7.4e9, 14.8e9, "janus"), Size(28.9e9, 20.4e9, 57.7e9)
    minutes = [local(asked, small, GPU) / 60, local(made, small, GPU) / 60]
    assert minutes == pytest.approx([15, 27], abs=0.6)
    assert local(made, large, GPU, "x?size=1024&steps=50") / 3600 == pytest.approx(27, abs=0.6)
    for said in ("15 minutes of answers and 27 minutes of images", "27 hours with its guidance"):
        assert said in TEXT
    assert local(asked, small, CORES) > 24 * 3600
