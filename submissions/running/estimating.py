"""Time and memory of a planned run, roughly (`fairspace run --dry-run`).

A GGUF file is tried: it answers a few of the questions, so that seconds, lengths and memory are this machine's. Else a
token takes two operations per parameter, and each step that draws tokens reads all weights once for a batch. A denoiser
sees an image as one token per 16 x 16 pixels in each step. Labels, quality, repetitions and hidden reasoning are not
foreseen. Rates are what models reach in use: 40 % of an A100's operations and 70 % of its memory's rate (NVIDIA's data
sheet: 312e12 and 2.0e12 a second); of 8 cores, four times what SmolLM2 reached on two.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.folders import public_name
from fairspace.submissions.running.local.found import find
from fairspace.submissions.running.planning import JUDGED, PlanLine


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
TRIAL = 10.0
"""Processor seconds in which a GGUF file is tried, beside three prompts and sixteen tokens."""
START, EACH, LOG = 8.0, 0.04, 0.08e9
"""Processor seconds of a run's start, and of a request around the model; bytes that a log takes beside the model."""
STORIES, STORY = 3, 600
"""Stories of so many tokens that count beside those tried: a file's lie far apart, and average 480 to 590 here."""
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


def size_of(spec: str) -> Size | None:
    """Size of a model on this machine or the Hub, by its files and without loading; None if they cannot be seen."""
    what, config = spec.removeprefix(_scheme(spec)).partition("?")[0], {}
    try:
        if spec.startswith("diffusers:"):
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


def _scheme(name: str) -> str:
    return next((scheme for scheme in _HERE if name.startswith(scheme)), "")


def estimate(
    model: str, lines: Sequence[PlanLine], connections: int | None = None, cores: int = 0, threads: int = 0
) -> str:
    """A sentence on time and memory of all `lines` by the model that a user calls `model`.

    `cores`: those of this machine, if that is meant; 0 compares a GPU and 8 cores. `threads`: those asked of llama.cpp.
    """
    name = public_name(model)
    if model.startswith(_OWN):
        return f"{name}: time and memory are your own code's."
    if not _scheme(model):
        seconds = sum(hosted(line, connections) for line in lines)
        return f"{name}: about {_time(seconds)}, by requests at the same time; no memory here."
    size = size_of(model)
    if size is None:
        return f"{name}: time and memory are not known before its files are here (`hf download`)."
    if size.kind == "gguf":
        return f"{name}: {tried(model.removeprefix('local/'), lines, threads or size.threads, size)}"
    machines = [GPU] if lines[0].made else [GPU, CORES]
    if cores and model.startswith("local/"):
        here = Machine(f"{cores} cores", CORES.operations * cores / 8, CORES.read * cores / 8, 0.0, 8, 4)
        machines = [GPU if weights.best_device("").startswith("cuda") else here]
    took = [(sum(local(line, size, machine, model) for line in lines), machine.name) for machine in machines]
    times = " or ".join(f"{_time(each)} on {machine}" for each, machine in took)
    use = 1.2 * size.parameters * machines[0].width
    what = f"{size.parameters / 1e9:.2g} billion parameters, {use / 1e9:.2g} GB of memory"
    return f"{name}: {what}; about {times}."


def tried(name: str, lines: Sequence[PlanLine], threads: int, size: Size) -> str:
    """A sentence on a GGUF file that answers some of the lines' questions; RunError MODEL_UNKNOWN as of `LlamaCpp`."""
    from fairspace.submissions.running.local.ending import STOPS, Choice
    from fairspace.submissions.running.local.llama_cpp import LlamaCpp

    process = psutil.Process()
    before = process.memory_info().rss
    model = LlamaCpp(find(name), name, threads=1)
    prompt, answer = model.rates()
    total, here, guessed = START, "tokens of an answer by a few tried here", "not known, and taken as"
    ways: dict[str, list[str]] = {here: [], f"{here} and the usual length": [], guessed: []}
    stop = () if model.template else STOPS
    for line in lines:
        most, read = round(line.output_most / max(1, line.requests)), line.input / max(1, line.requests)
        drawn: dict[str, Any] = {**model.sampling} if line.task in JUDGED else {"temperature": 0.0}
        written, began = list[int](), time.process_time()
        asked = [
            model.prepare([{"role": "user", "content": [{"type": "text", "text": text}]}]) for text in line.questions
        ]
        if asked:
            read = sum(each.tokens for each in asked) / len(asked)
            model.reserve(max(each.tokens for each in asked), Choice(most, **drawn))
        cut = False
        for seed, each in enumerate(asked):
            left = TRIAL / len(lines) - (time.process_time() - began) - each.tokens * prompt
            room = min(most, int(left / answer))
            if room < 1 and written:
                break
            answered = model.answer([each], [seed], Choice(max(room, 8), **drawn, stop=stop, stop_loops=True))[0]
            cut = cut or (answered.reason == "max_tokens" and room < most)
            written.append(answered.tokens)
        usual = STORY if line.task in JUDGED else line.output / max(1, line.requests)
        if cut or not written:
            way, length = guessed, max([usual, *written])
        elif line.task in JUDGED:
            way, length = (
                f"{here} and the usual length",
                (STORIES * usual + sum(written)) / (STORIES + len(written)),
            )
        else:
            way, length = here, sum(written) / len(written)
        ways[way].append(f"{line.task} {length:.0f}")
        total += line.requests * (EACH + line.different * (read * prompt + length * answer))
    taken = process.memory_info().rss
    private = max(0.0, taken - before - size.bytes)
    use = taken + LOG + (threads - 1) * private
    here = f"about {_time(total / threads)} on {threads} thread{'s' * (threads > 1)}"
    what = f"{size.parameters / 1e9:.2g} billion parameters, {use / 1e9:.2g} GB of memory; {here}"
    return what + "".join(f"; {way}: {', '.join(lengths)}" for way, lengths in ways.items() if lengths) + "."


def hosted(line: PlanLine, connections: int | None = None) -> float:
    """Seconds of a task by a hosted model."""
    at_once = connections or CONNECTIONS["images" if line.made else "answers"]
    each = IMAGE_SECONDS * line.requests if line.made else FIRST * line.requests + line.output / RATE
    return each / at_once


def local(line: PlanLine, size: Size, machine: Machine, name: str = "") -> float:
    """Seconds of a task by a model on a machine; a diffusion model takes its steps twice each, for guidance."""
    settings = dict(part.partition("=")[::2] for part in name.partition("?")[2].split("&"))
    if line.made and size.kind not in IMAGE_TOKENS:
        tokens = (float(settings.get("size") or 1024) / 16) ** 2
        return 2 * size.used * tokens * 2 * float(settings.get("steps") or 40) * line.requests / machine.operations
    drawn = IMAGE_TOKENS[size.kind] * line.requests if line.made else line.output
    step = max(machine.step, size.parameters * machine.width / machine.read)
    return 2 * size.used * (line.input + drawn) / machine.operations + drawn / machine.rows * step


def _time(seconds: float) -> str:
    if seconds < 99.5:
        return f"{max(1, round(seconds))} seconds"
    if seconds < 600:
        return f"{seconds / 60:.1f} minutes"
    if seconds < 5400:
        return f"{round(seconds / 60)} minutes"
    return f"{seconds / 3600:.2g} hours" if seconds < 360_000 else f"{seconds / 86_400:.2g} days"
