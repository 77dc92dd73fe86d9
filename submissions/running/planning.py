"""Before a run: requests, tokens, cost, time, memory and the smallest difference (`fairspace run --dry-run`).

Tokens of text follow OpenAI's rule of thumb for English, one for four characters, on a sample of the prompts. A GGUF
file is tried: it answers a few of the questions, so that seconds, lengths and memory are this machine's. Else a token
takes two operations per parameter, and each step that draws tokens reads all weights once for a batch. A denoiser sees
an image as one token per 16 x 16 pixels in each step. Rates are what models reach in use: 40 % of an A100's operations
and 70 % of its memory's rate (NVIDIA's data sheet: 312e12 and 2.0e12 a second); of 8 cores, four times what SmolLM2
reached on two. Repetitions, repairs, cached prompts and hidden thinking are not foreseen; nor is the time of labels and
quality.
"""

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from fairspace.builders.errors import BuildError
from fairspace.builders.iris.items import unnamed_steer_items
from fairspace.builders.models import weights
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.task import Stimulus, TaskStimuli, choose
from fairspace.submissions.errors import RunError
from fairspace.submissions.running import judging
from fairspace.submissions.running.asking.inspect_task import ChosenPart, OpenedBenchmark
from fairspace.submissions.running.asking.prices import Prices
from fairspace.submissions.running.folders import public_name
from fairspace.submissions.running.local.found import GGUF, find

CHARACTERS, FRAME = 4, 7
"""Characters of a token; tokens around a message and before its answer (OpenAI's cookbook: 3, 1 for the role, 3)."""
IMAGE_TOKENS = 765
"""Tokens of a square image in high detail, by the rule of GPT-4o: 85, and 170 for each of four squares."""
ASKED, LABELS = 150, 25
"""Tokens of the question after an image's labels, and of the answer."""
SAMPLE = 200
"""Stimuli of a task whose prompts are measured."""
TRIED = 6
"""Prompts of a task that a plan may try."""
JUDGED = {"narrative": (len(judging.TASKS), 3420), "narrative_single": (len(judging.TASKS_SINGLE), 1500)}
"""Task of GENRES -> a judge's requests for one answer, and the characters of their prompts."""


@dataclass(frozen=True)
class MadePart:
    """The images of one task: a stimulus for each, whose stratum is the item, and the positions of the chosen ones."""

    task: str
    stimuli: Sequence[Stimulus]
    positions: Sequence[int]


@dataclass(frozen=True)
class PlanLine:
    """A task for one model.

    Args:
        task: task of the submission; `judgements` for a judge, `labels` for a model that labels made images.
        made: whether images are made; each is a stimulus and a request.
        requests: number chosen; `of_requests` of the full benchmark.
        input: tokens of prompts and shown images.
        cost: cost of these, `cost_most` of the longest; None without a price.
        questions: a few of the prompts; `different`: the share of requests whose prompt is no earlier one's.
    """

    task: str
    model: str
    made: bool
    stimuli: int
    of_stimuli: int
    requests: int
    of_requests: int
    input: float = 0.0
    output: float = 0.0
    output_most: float = 0.0
    cost: float | None = None
    cost_most: float | None = None
    currency: str = ""
    questions: tuple[str, ...] = ()
    different: float = 1.0


def smallest_difference(items: int) -> float:
    """Difference of two models' shares of `items` that a test at 5 % finds with 80 % probability; above 1: none.

    (z(0.975) + z(0.8)) sqrt(2 p (1 - p) / n): independent shares in the normal approximation (Fleiss, Levin and
    Paik 2003, chapter 4) at p = 1/2, where they vary most.
    """
    return (1.959964 + 0.841621) * math.sqrt(0.5 / items) if items else math.inf


def image_tasks(part: ChosenPart) -> list[str]:
    """The requested image tasks in the benchmark's order: neutral images come before steered ones."""
    tasks = [task for task in benchmark(part.benchmark).tasks if task.table == "annotations"]
    asked = [task.name for task in tasks if len(task.ids(part.revision))]  # a revision may lack one
    return [task for task in asked if task in part.tasks or not part.tasks]


def made_parts(part: ChosenPart) -> list[MadePart]:
    """The requested image tasks; IRIS' steer prompts, which follow from images, have placeholder names."""
    parts = []
    for task in map(benchmark(part.benchmark).task, image_tasks(part)):
        items = unnamed_steer_items() if task.items is None else task.items(part.revision)["id"].to_pylist()
        stimuli = task.images(items, part.revision)
        parts.append(MadePart(task.name, stimuli, part.choose(task.name, stimuli)))
    return parts


def plan(
    opened: OpenedBenchmark,
    model: str,
    *,
    image_model: str = "",
    image_parts: Sequence[MadePart] = (),
    prices: Prices | None = None,
    max_tokens: int | None = None,
    labeller: str = "",
) -> list[PlanLine]:
    """A line for each task and model; nothing is asked. RunError PRICES_INVALID if a named model has no price."""
    lines = []
    for task, part in opened.parts.items():
        stimuli = [part.stimuli[place] for place in opened.positions[task]]
        counts = len(stimuli), len(part.stimuli), sum(stimulus.asks for stimulus in stimuli), part.expected
        most = part.max_tokens if max_tokens is None else max_tokens
        usual = min(part.typical_tokens, most)
        read, prompts = _prompt_tokens(part, opened.positions[task])
        line = PlanLine(task, model, False, *counts, read, counts[2] * usual, counts[2] * most)
        same = task not in JUDGED and prompts  # stories are drawn, each anew
        different = len({*prompts}) / len(prompts) if same else 1.0
        few = tuple(prompts[:: max(1, len(prompts) // TRIED)][:TRIED])
        lines.append(_priced(replace(line, questions=few, different=different), prices))
        if task in JUDGED:
            times, characters = JUDGED[task]
            asked = times * counts[2]
            tokens_in = FRAME * asked + counts[2] * (characters / CHARACTERS + usual)
            tokens = tokens_in, asked * judging.TYPICAL_TOKENS, asked * judging.MAX_TOKENS
            lines.append(PlanLine("judgements", "", False, *counts[:2], asked, times * counts[3], *tokens))
    for made in image_parts:
        positions, whole = len(made.positions), len(made.stimuli)
        lines.append(_priced(PlanLine(made.task, image_model, True, positions, whole, positions, whole), prices))
        if labeller.startswith("vlm:"):
            tokens = positions * (IMAGE_TOKENS + ASKED), positions * LABELS, positions * 256
            asking = labeller.removeprefix("vlm:").partition("?")[0]
            lines.append(_priced(PlanLine("labels", asking, False, *((positions, whole) * 2), *tokens), prices))
    return lines


def _priced(line: PlanLine, prices: Prices | None) -> PlanLine:
    if prices is None or not line.model:
        return line
    price = prices.of(line.model, "image" if line.made else "input")
    images = (price.image or 0.0) * line.requests if line.made else 0.0
    read, drawn = price.input or 0.0, price.output or 0.0
    usual, most = (images + (line.input * read + out * drawn) / 1e6 for out in (line.output, line.output_most))
    return replace(line, cost=usual, cost_most=most, currency=price.currency)


def _prompt_tokens(part: TaskStimuli, positions: Sequence[int]) -> tuple[float, list[str]]:
    """Tokens of all prompts and shown images, by the mean of a sample; the sample's prompts."""
    places = choose([part.stimuli[place] for place in positions], SAMPLE) if positions else []
    asks = [ask for place in places for ask in part.read(positions[place]).asks]
    total = sum(len(ask.prompt) / CHARACTERS + FRAME + (0 if ask.image is None else IMAGE_TOKENS) for ask in asks)
    return total * len(positions) / max(1, len(places)), [ask.prompt for ask in asks]


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
DRAWN_TOKENS = {"janus": 576, "emu3": 8_190}
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
        elif (source := find(what)).marker.suffix.lower() == GGUF:
            from fairspace.submissions.running.local.llama_cpp import about_file

            about = about_file(source.marker)
            return Size(about.parameters, about.parameters, about.size, "gguf", about.threads())
        else:
            config = json.loads(source.marker.read_text(encoding="utf-8"))
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
    total, seen, guessed = START, "tokens of an answer by a few tried here", "not known, and taken as"
    ways: dict[str, list[str]] = {seen: [], f"{seen} and the usual length": [], guessed: []}
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
            way, length = f"{seen} and the usual length", (STORIES * usual + sum(written)) / (STORIES + len(written))
        else:
            way, length = seen, sum(written) / len(written)
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
    if line.made and size.kind not in DRAWN_TOKENS:
        tokens = (float(settings.get("size") or 1024) / 16) ** 2
        return 2 * size.used * tokens * 2 * float(settings.get("steps") or 40) * line.requests / machine.operations
    drawn = DRAWN_TOKENS[size.kind] * line.requests if line.made else line.output
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
