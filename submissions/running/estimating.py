"""Time and memory of a planned run, roughly (`fairspace run --dry-run`).

On one's own machine a token takes two operations per parameter, and each step that draws tokens reads all weights once:
a batch's rows share a step, llama.cpp's threads, each with a copy of the weights, do not. A denoiser sees an image as
one token per 16 x 16 pixels in each step. Labels, quality, repetitions and hidden reasoning are not foreseen. Rates are
what models reach in use: 40 % of an A100's operations and 70 % of its memory's rate (NVIDIA's data sheet: 312e12 and
2.0e12 a second); of 8 cores, four times what SmolLM2 reached on two.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.folders import public_name
from fairspace.submissions.running.local.found import find
from fairspace.submissions.running.planning import PlanLine


class Machine(NamedTuple):
    """Operations and bytes read per second; seconds of a step at least; answers at a time; bytes of a parameter."""

    name: str
    operations: float
    read: float
    step: float
    rows: int
    width: int


GPU = Machine("an 80 GB GPU", 0.4 * 312e12, 0.7 * 2.0e12, 0.03, 8, 2)
CORES = Machine("8 cores", 0.4e12, 40e9, 0.0, 8, 4)
FIRST, RATE, IMAGE_SECONDS = 1.0, 50.0, 15.0
"""A hosted model's seconds before the first token, tokens per second of one answer, seconds of an image."""
CONNECTIONS = {"answers": 16, "images": 8}
"""Requests to a hosted model at a time, without a setting."""
IMAGE_TOKENS = {"janus": 576, "emu3": 8_190}
"""Tokens of an image that a unified model draws one after another: 24 x 24, and 90 x 91."""
PYTHON, COPY = 1.2e9, 1.5
"""Bytes of Python with llama.cpp, and of a thread in sizes of the GGUF file, fitted to four models on two threads (28
November 2026): files of 0.1, 0.25, 0.5 and 1.1 GB took 1.7, 2.0, 3.3 and 4.4 GB."""
DENOISERS = ("transformer", "unet", "prior", "decoder")
_HERE = ("local/", "vllm/", "sglang/", "hf/", "diffusers:", "transformers:")
_OWN = ("python/", "python:", "torchumm/", "torchumm:")


class Size(NamedTuple):
    """Parameters of a model, those that each step uses, bytes of its files; llama.cpp's default threads here."""

    parameters: float
    used: float
    bytes: float
    kind: str = ""
    threads: int = 0


def size_of(named: str) -> Size | None:
    """Size of a model on this machine or the Hub, by its files and without loading; None if they cannot be seen."""
    what, config = named.removeprefix(_scheme(named)).partition("?")[0], {}
    try:
        if named.startswith("diffusers:"):
            pipeline = weights.find(what, "model_index.json")
            files = _files(pipeline.where, pipeline.revision)
        elif (source := find(what)).file:
            from fairspace.submissions.running.local.llama_cpp import about_file

            about = about_file(Path(source.where) / source.file)
            return Size(about.parameters, about.parameters, about.size, "gguf", about.threads())
        else:
            config = json.loads(weights.find(what, "config.json").marker.read_text(encoding="utf-8"))
            files = _files(source.where, source.revision)
    except (BuildError, RunError, ValueError, KeyError):
        return None
    width = 4 if "32" in str(config.get("dtype", config.get("torch_dtype", ""))) else 2
    plain = {name: count for name, count in files.items() if name.endswith(".safetensors") and name.count(".") == 1}
    total = float(sum(plain.values()))
    used = sum(count for name, count in plain.items() if name.partition("/")[0] in DENOISERS) or total
    return Size(total / width, used / width, total, str(config.get("model_type", ""))) if total else None


def _files(where: str, revision: str | None) -> dict[str, int]:
    if revision is None:
        return {path.relative_to(where).as_posix(): path.stat().st_size for path in Path(where).rglob("*.*")}
    from huggingface_hub import HfApi

    try:
        siblings = HfApi().model_info(where, revision=revision, files_metadata=True).siblings or []
    except Exception as error:  # httpx or httpx2 by the version of huggingface_hub, OSError
        raise weights.absent(where, "its list of files") from error
    return {file.rfilename: file.size or 0 for file in siblings}


def _scheme(named: str) -> str:
    return next((scheme for scheme in _HERE if named.startswith(scheme)), "")


def estimate(
    named: str, lines: Sequence[PlanLine], connections: int | None = None, cores: int = 0, threads: int = 0
) -> str:
    """A sentence on time and memory of all `lines` by the model that a user calls `named`.

    `cores`: those of this machine, if that is meant; 0 compares a GPU and 8 cores. `threads`: those asked of llama.cpp.
    """
    name = public_name(named)
    if named.startswith(_OWN):
        return f"{name}: time and memory are your own code's."
    if not _scheme(named):
        seconds = sum(hosted(line, connections) for line in lines)
        return f"{name}: about {_time(seconds)}, by requests at the same time; no memory here."
    size = size_of(named)
    if size is None:
        return f"{name}: time and memory are not known before its files are here (`hf download`)."
    of_file = size.kind == "gguf"
    machines = [CORES] if of_file else [GPU] if lines[0].made else [GPU, CORES]
    if cores and named.startswith("local/"):
        running = threads or size.threads if of_file else cores
        share, what = min(running, cores) / 8, f"{running} {'thread' if of_file else 'core'}{'s' * (running > 1)}"
        here = Machine(what, CORES.operations * share, CORES.read * share, 0.0, running if of_file else 8, 4)
        machines = [GPU if not of_file and weights.best_device("").startswith("cuda") else here]
    took = [(sum(local(line, size, machine, named) for line in lines), machine.name) for machine in machines]
    times = " or ".join(f"{_time(each)} on {machine}" for each, machine in took)
    use = PYTHON + COPY * machines[0].rows * size.bytes if of_file else 1.2 * size.parameters * machines[0].width
    what = f"{size.parameters / 1e9:.2g} billion parameters, {use / 1e9:.2g} GB of memory"
    return f"{name}: {what}; about {times}."


def hosted(line: PlanLine, connections: int | None = None) -> float:
    """Seconds of a task by a hosted model."""
    at_once = connections or CONNECTIONS["images" if line.made else "answers"]
    each = IMAGE_SECONDS * line.requests if line.made else FIRST * line.requests + line.output / RATE
    return each / at_once


def local(line: PlanLine, size: Size, machine: Machine, named: str = "") -> float:
    """Seconds of a task by a model on a machine; a diffusion model takes its steps twice each, for guidance."""
    chosen = dict(part.partition("=")[::2] for part in named.partition("?")[2].split("&"))
    if line.made and size.kind not in IMAGE_TOKENS:
        tokens = (float(chosen.get("size") or 1024) / 16) ** 2
        return 2 * size.used * tokens * 2 * float(chosen.get("steps") or 40) * line.requests / machine.operations
    drawn = IMAGE_TOKENS[size.kind] * line.requests if line.made else line.output
    weights_read = size.bytes if size.kind == "gguf" else size.parameters * machine.width
    steps = drawn if size.kind == "gguf" else drawn / machine.rows
    return 2 * size.used * (line.input + drawn) / machine.operations + steps * max(
        machine.step, weights_read / machine.read
    )


def _time(seconds: float) -> str:
    if seconds < 90:
        return "a minute"
    if seconds < 5400:
        return f"{round(seconds / 60)} minutes"
    return f"{seconds / 3600:.2g} hours" if seconds < 360_000 else f"{seconds / 86_400:.2g} days"
