"""What one task takes of one model: requests, tokens, hours and money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fairspace.submissions.benchmarks.asks import Part
from fairspace.submissions.running.asking.prices import Prices
from fairspace.submissions.running.planning.images import MadePart
from fairspace.submissions.running.planning.judge import OUTPUT, REQUESTS, judge_input
from fairspace.submissions.running.planning.repeats import computed
from fairspace.submissions.running.planning.tokens import CHARACTERS, NOTHING, SAMPLE, Span, measure
from fairspace.submissions.running.planning.tried import Tried

SECONDS_FIXED, TOKENS_A_SECOND, SECONDS_AN_IMAGE = 1.0, 50.0, 10.0
"""Of a request, where the user names no time: one second and one for every 50 tokens of the answer; of an image, ten.
Assumptions, not measurements: a short limited run shows the real ones."""
HERE_A_SECOND, READ_HERE_A_SECOND = 50.0, 300.0
"""Tokens of answers and of prompts in a second of a model on this machine, for all requests together. Assumptions too:
what two cores do with 0.1 billion parameters in batches of eight."""
SECONDS_HERE = 0.03
"""Of a request to a model on this machine, beside what is computed: its way through engine, journal and log."""
Kind = Literal["answers", "judge", "images"]


@dataclass(frozen=True)
class PlanSettings:
    """How the run will go.

    Args:
        model: who answers, as Inspect names it; '' if nobody is named.
        judges: names of GENRES' judges; one without a name if empty.
        image_model: who makes images, as the file of prices names it.
        prices: what they cost; None for no cost.
        concurrency: requests at once; `image_concurrency` of images.
        seconds_per_request: None for `SECONDS_FIXED` and `TOKENS_A_SECOND`.
        seconds_per_image: None for `SECONDS_AN_IMAGE`.
        image_concurrency: images at once.
        max_tokens: bound of an answer; None for each task's own.
        image_tokens: of an image that is shown, whatever its size; None for the documented rule.
        characters: of text in a token.
        sample: stimuli of a task whose prompts are measured.
        repeats_once: whether the model computes one answer for all requests of the same text.
        tried: task -> what some of its requests took (`probe.probe`); {} for assumptions.
    """

    model: str = ""
    judges: tuple[str, ...] = ()
    image_model: str = ""
    prices: Prices | None = None
    concurrency: int = 16
    image_concurrency: int = 1
    seconds_per_request: float | None = None
    seconds_per_image: float | None = None
    max_tokens: int | None = None
    image_tokens: int | None = None
    characters: float = CHARACTERS
    sample: int = SAMPLE
    repeats_once: bool = False
    tried: Mapping[str, Tried] = field(default_factory=dict)


@dataclass(frozen=True)
class Cost:
    """Money: `usual` with answers of the usual length, `most` with the longest that are allowed."""

    usual: float
    most: float
    currency: str


@dataclass(frozen=True)
class Line:
    """What one task takes of one model.

    Args:
        kind: who it is: a model that answers, a judge, or one that makes images.
        model: its name, '' if none was given.
        task: of the submission; `judgements` for all three of a judge.
        stimuli: chosen; of images, prompts.
        requests: of them; of images, how many are made.
        of_requests: of the full benchmark.
        computed: requests whose answer is computed; the others share a text with one of these.
        images_shown: different images that are shown.
        images_sent: images that go with requests.
        input: tokens.
        output: tokens.
        hours: until all is done, this task alone.
        cost: None without a price.
        sampled: stimuli whose prompts were measured.
    """

    kind: Kind
    model: str
    task: str
    stimuli: int
    requests: int
    of_requests: int
    computed: int
    images_shown: int
    images_sent: int
    input: Span
    output: Span
    hours: Span
    cost: Cost | None
    sampled: int


def answers_line(part: Part, positions: Sequence[int], settings: PlanSettings) -> Line:
    """The chosen stimuli of a task, asked of a model that answers. RunError PRICES_INVALID, DATA_INVALID."""
    tokens = measure(
        part, positions, image=settings.image_tokens, sample=settings.sample, characters=settings.characters
    )
    requests = sum(part.stimuli[place].asks for place in positions)
    answer = _answer(part, settings)
    output = answer * requests
    once = computed(part, positions, settings.characters) if settings.repeats_once else None
    texts, read = (requests, tokens.input) if once is None else (once.requests, Span(once.input, once.input))
    tried = settings.tried.get(part.task)
    given = tokens.input if tried is None else tried.input * requests
    hours = _hours(requests, read, answer * texts, settings)
    if tried is not None:
        hours = (tried.seconds * texts + _passing(requests, settings.model)) * (1 / 3600)
    return Line(
        kind="answers",
        model=settings.model,
        task=part.task,
        stimuli=len(positions),
        requests=requests,
        of_requests=part.expected,
        computed=texts,
        images_shown=tokens.images_shown,
        images_sent=tokens.images_sent,
        input=given,
        output=output,
        hours=hours,
        cost=_cost(settings.model, given, output, settings),
        sampled=tokens.sampled,
    )


def judge_line(part: Part, positions: Sequence[int], judge: str, settings: PlanSettings) -> Line:
    """The narratives of the chosen pairs, read by one judge. RunError PRICES_INVALID."""
    pairs = [part.stimuli[place] for place in positions]
    given = judge_input(pairs, _answer(part, settings), characters=settings.characters)
    requests = REQUESTS[part.task] * sum(pair.asks for pair in pairs)
    output = OUTPUT * requests
    return Line(
        kind="judge",
        model=judge,
        task="judgements",
        stimuli=len(pairs),
        requests=requests,
        of_requests=REQUESTS[part.task] * part.expected,
        computed=requests,
        images_shown=0,
        images_sent=0,
        input=given,
        output=output,
        hours=_hours(requests, given, output, settings, judge),
        cost=_cost(judge, given, output, settings),
        sampled=len(pairs),
    )


def images_line(part: MadePart, settings: PlanSettings) -> Line:
    """The images of a task. RunError PRICES_INVALID."""
    images = len(part.positions)
    seconds = SECONDS_AN_IMAGE if settings.seconds_per_image is None else settings.seconds_per_image
    hours = images * seconds / settings.image_concurrency / 3600
    cost = None
    if settings.prices is not None and settings.image_model:
        price = settings.prices.of_images(settings.image_model)
        cost = Cost(images * (price.image or 0.0), images * (price.image or 0.0), price.currency)
    return Line(
        kind="images",
        model=settings.image_model,
        task=part.task,
        stimuli=part.prompts,
        requests=images,
        of_requests=len(part.stimuli),
        computed=images,
        images_shown=0,
        images_sent=0,
        input=NOTHING,
        output=NOTHING,
        hours=Span(hours, hours),
        cost=cost,
        sampled=0,
    )


def _answer(part: Part, settings: PlanSettings) -> Span:
    """Tokens of one answer: as they were tried, else a bound that the user names may cut the usual ones too."""
    if part.task in settings.tried:
        return settings.tried[part.task].output
    most = part.max_tokens if settings.max_tokens is None else settings.max_tokens
    return Span(min(part.typical_tokens, most), most)


def _hours(requests: int, given: Span, output: Span, settings: PlanSettings, model: str = "") -> Span:
    """Of all requests; of a model on this machine with the tokens that it computes alone."""
    if settings.seconds_per_request is not None:
        seconds = Span(1.0, 1.0) * (requests * settings.seconds_per_request)
    elif runs_here(model or settings.model):
        passing = _passing(requests, model or settings.model)
        return (passing + given * (1 / READ_HERE_A_SECOND) + output * (1 / HERE_A_SECOND)) * (1 / 3600)
    else:
        fixed = requests * SECONDS_FIXED
        seconds = Span(fixed, fixed) + output * (1 / TOKENS_A_SECOND)
    return seconds * (1 / settings.concurrency / 3600)


def _passing(requests: int, model: str) -> Span:
    """Seconds of the way of all requests through engine, journal and log, where they share the model's processor."""
    seconds = requests * SECONDS_HERE if runs_here(model) else 0.0
    return Span(seconds, seconds)


def runs_here(model: str) -> bool:
    """Whether a model runs on this machine: its requests share a processor, and more at once are no faster."""
    return model.startswith(("local/", "hf/"))


def _cost(model: str, given: Span, output: Span, settings: PlanSettings) -> Cost | None:
    if settings.prices is None or not model:
        return None
    price = settings.prices.of_tokens(model)
    total = given * ((price.input or 0.0) / 1e6) + output * ((price.output or 0.0) / 1e6)
    return Cost(total.usual, total.most, price.currency)
