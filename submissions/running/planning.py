"""Before a run: requests, tokens, cost and the smallest difference that can be shown (`fairspace run --dry-run`).

Tokens of text follow OpenAI's rule of thumb for English, one for four characters, on a sample of the prompts.
Repetitions, repairs, cached prompts and hidden thinking are not foreseen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fairspace.builders.iris.items import unnamed_steer_items
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.task import Stimulus, TaskStimuli, choose
from fairspace.submissions.running.asking.inspect_task import ChosenPart, OpenedBenchmark
from fairspace.submissions.running.asking.prices import Prices
from fairspace.submissions.running.judging import asks as judging

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
        line = PlanLine(made.task, image_model, True, positions, whole, positions, whole)
        if prices is not None and image_model:
            price = prices.of_images(image_model)
            cost = positions * (price.image or 0.0)
            line = replace(line, cost=cost, cost_most=cost, currency=price.currency)
        lines.append(line)
        if labeller.startswith("vlm:"):
            tokens = positions * (IMAGE_TOKENS + ASKED), positions * LABELS, positions * 256
            asking = labeller.removeprefix("vlm:").partition("?")[0]
            lines.append(_priced(PlanLine("labels", asking, False, *((positions, whole) * 2), *tokens), prices))
    return lines


def _priced(line: PlanLine, prices: Prices | None) -> PlanLine:
    if prices is None or not line.model:
        return line
    price = prices.of_tokens(line.model)
    usual, most = (
        (line.input * (price.input or 0.0) + output * (price.output or 0.0)) / 1e6
        for output in (line.output, line.output_most)
    )
    return replace(line, cost=usual, cost_most=most, currency=price.currency)


def _prompt_tokens(part: TaskStimuli, positions: Sequence[int]) -> tuple[float, list[str]]:
    """Tokens of all prompts and shown images, by the mean of a sample; the sample's prompts."""
    places = choose([part.stimuli[place] for place in positions], SAMPLE) if positions else []
    asks = [ask for place in places for ask in part.read(positions[place]).asks]
    total = sum(len(ask.prompt) / CHARACTERS + FRAME + (0 if ask.image is None else IMAGE_TOKENS) for ask in asks)
    return total * len(positions) / max(1, len(places)), [ask.prompt for ask in asks]
