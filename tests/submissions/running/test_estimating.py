from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from fairspace.submissions.running import estimating
from fairspace.submissions.running.estimating import CORES, GPU, Size, estimate, hosted, local, size_of
from fairspace.submissions.running.planning import PlanLine

SEVEN = Size(7e9, 7e9, 14e9)
ANSWERS = PlanLine("t", "m", False, 1_000, 1_000, 1_000, 1_000, input=100_000.0, output=8_000.0)
IMAGES = PlanLine("t", "m", True, 100, 100, 100, 100)


def weights(folder: Path, config: str, sizes: dict[str, int], name: str = "config.json") -> str:
    folder.mkdir()
    (folder / name).write_text(config)
    for file, floats in sizes.items():
        (folder / file).parent.mkdir(exist_ok=True)
        save_file({"w": np.zeros(floats, np.float16)}, folder / file)
    return str(folder)


def test_a_model_in_a_folder_is_sized_without_loading(tmp_path: Path) -> None:
    half = weights(tmp_path / "half", '{"model_type": "janus", "dtype": "bfloat16"}', {"model.safetensors": 50_000})
    found = size_of(f"local/{half}")
    assert found is not None
    assert found.kind == "janus"
    assert found.parameters == found.used == pytest.approx(50_000, rel=0.01)
    single = weights(tmp_path / "single", '{"torch_dtype": "float32"}', {"model.safetensors": 50_000})
    assert size_of(f"local/{single}").parameters == pytest.approx(25_000, rel=0.01)  # type: ignore[union-attr]
    parts = {f"{part}/model{kind}.safetensors": 40_000 for part in ("unet", "vae") for kind in ("", ".fp16")}
    piped = size_of("diffusers:" + weights(tmp_path / "piped", "{}", parts, "model_index.json") + "?steps=20")
    assert piped is not None
    assert piped.used == pytest.approx(piped.parameters / 2) == pytest.approx(40_000, rel=0.01)
    assert size_of(f"local/{tmp_path}") is None


def test_times_by_hand() -> None:
    assert hosted(ANSWERS) == pytest.approx((1_000 + 8_000 / 50) / 16)
    assert hosted(ANSWERS, 1) == pytest.approx(1_160)
    assert hosted(IMAGES) == pytest.approx(100 * 15 / 8)
    steps = 8_000 / 8 * max(0.03, 14e9 / 1.4e12)
    assert local(ANSWERS, SEVEN, GPU) == pytest.approx(2 * 7e9 * 108_000 / 124.8e12 + steps)
    three = Size(3e9, 3e9, 1.9e9, "gguf")
    assert local(ANSWERS, three, CORES) == pytest.approx(2 * 3e9 * 108_000 / 0.4e12 + 8_000 * 1.9e9 / 40e9)
    drawn = local(IMAGES, Size(7e9, 7e9, 14e9, "janus"), GPU)
    assert drawn == pytest.approx(2 * 7e9 * 57_600 / 124.8e12 + 57_600 / 8 * 0.03)
    denoised = local(IMAGES, SEVEN, GPU, "diffusers:x?steps=28&size=512")
    assert denoised == pytest.approx(2 * 7e9 * 32**2 * 2 * 28 * 100 / 124.8e12)


@pytest.mark.parametrize(
    ("named", "size", "line", "said"),
    [
        ("openai/x", None, ANSWERS, "openai/x: about a minute, by requests at the same time; no memory here."),
        ("python/x:f", None, ANSWERS, "time and memory are your own code's"),
        ("local/x/y", None, ANSWERS, "not known before its files are here"),
        ("local/x/y", SEVEN, ANSWERS, "17 GB of memory; about a minute on an 80 GB GPU or 75 minutes on 8 cores"),
        ("local/x.gguf", Size(3e9, 3e9, 1.9e9, "gguf"), ANSWERS, "24 GB of memory; about 33 minutes on 8 cores."),
    ],
)  # fmt: skip
def test_an_estimate_in_words(
    named: str, size: Size | None, line: PlanLine, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimating, "size_of", lambda name: size)
    assert said in estimate(named, [line])


@pytest.mark.parametrize(("file", "measured"), [(0.093, 1.69), (0.25, 1.97), (0.49, 3.3), (1.08, 4.44)])
def test_memory_counts_the_copy_of_each_thread(file: float, measured: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """GB on two threads on 28 November 2026: SmolLM2, Gemma 3 270M, Qwen2.5-Coder 0.5B and 1.5B."""
    monkeypatch.setattr(estimating, "size_of", lambda name: Size(1e9, 1e9, file * 1e9, "gguf", 2))
    said = estimate("local//home/me/x.gguf", [ANSWERS], cores=2)
    assert said.startswith("local/x.gguf: ")
    assert said.endswith(" on 2 threads.")
    assert float(said.split(" GB of memory")[0].rpartition(" ")[2]) == pytest.approx(measured, rel=0.2)
