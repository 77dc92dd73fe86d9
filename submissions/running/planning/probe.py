"""A few requests of each task, asked before a run: how long they take, how long the answers are, how many can be read.

The requests are a simple random sample of those of the run; `tried` says what follows from their answers.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairspace.submissions.benchmarks.asks import Ask, Part, choose
from fairspace.submissions.running.planning.repeats import computed
from fairspace.submissions.running.planning.tokens import CHARACTERS, FRAME
from fairspace.submissions.running.planning.tried import LEAST, Readable, Reply, Tried, tried

if TYPE_CHECKING:
    from inspect_ai.model import Model

    from fairspace.submissions.running.asking.inspect_task import Opened
    from fairspace.submissions.running.asking.models import ModelSettings

MOST = 200
"""Texts of a task at most, however fast they are answered."""


def probe(opened: Opened, model: ModelSettings, seconds: float, *, once: bool = False) -> dict[str, Tried]:
    """Ask the model for about so many seconds, shared by all tasks; task -> what its requests took.

    No request begins after the time of its task; what has begun is waited for, as long answers would lack otherwise.

    Args:
        opened: what the run would ask.
        model: who.
        seconds: in all, the opening of the model not counted.
        once: whether a text that several requests share is answered once.

    Errors: RunError MODEL_UNKNOWN; MODEL_SILENT if fewer than two requests of a task are answered.
    """
    import anyio
    from inspect_ai.model import GenerateConfig

    from fairspace.submissions.running.asking.models import LOCAL, open_model

    generation: dict[str, Any] = dict(model.effective(opened.settings))
    greedy = generation.get("temperature") == 0
    who = open_model(model, greedy=greedy, seeded=opened.chosen.seed is not None)
    if greedy and model.name.startswith(LOCAL):
        del generation["temperature"]
    longest = max(part.max_tokens for part in opened.parts.values())
    who.config = who.config.merge(GenerateConfig(**{"max_tokens": longest, **generation}))
    at_once = _at_once(who, model)
    share = seconds / len(opened.parts)

    texts = {task: _texts(part, opened.positions[task], once) for task, part in opened.parts.items()}

    async def ask_all() -> dict[str, tuple[list[Reply], float]]:
        try:
            return {task: await _ask_for(opened, task, who, share, at_once, texts[task].asked) for task in texts}
        finally:
            await who.api.aclose()

    answered = anyio.run(ask_all)
    readable = _readable(opened, model.name, {task: replies for task, (replies, _) in answered.items()}, texts)
    return {
        task: tried(replies, texts[task].of, took, readable.get(task)) for task, (replies, took) in answered.items()
    }


@dataclass(frozen=True)
class _Text:
    """A text, the requests that share it, and the images that go with it."""

    asks: list[Ask]
    images: Sequence[bytes]


@dataclass(frozen=True)
class _Texts:
    """Texts in random order, and of how many they are a sample."""

    asked: Sequence[_Text]
    of: int


def _texts(part: Part, positions: Sequence[int], once: bool) -> _Texts:
    """At most `MOST` texts of a task; of equal ones a single one if `once`, where no images are shown."""
    shared = computed(part, positions) if once else None
    chosen = [part.stimuli[place] for place in positions]
    places = positions if shared is not None else [positions[place] for place in choose(chosen, MOST)]
    texts: dict[Hashable, _Text] = {}
    for place in places:
        shown = part.read(place)
        for ask in shown.asks:
            key = ask.key if shared is None else ask.prompt
            texts.setdefault(key, _Text([], shown.images)).asks.append(ask)
    mixed = sorted(texts.values(), key=lambda text: hashlib.sha256(repr(text.asks[0].key).encode()).digest())
    return _Texts(mixed[:MOST], sum(each.asks for each in chosen) if shared is None else shared.requests)


async def _ask_for(
    opened: Opened, task: str, who: Model, seconds: float, at_once: int, texts: Sequence[_Text]
) -> tuple[list[Reply], float]:
    """The replies to texts of a task, until its time is over, and the seconds from the first to the last.

    To `LEAST` texts at least.
    """
    import anyio

    from fairspace.submissions.running.asking.asking import Asking

    part = opened.parts[task]
    asking = Asking(opened.parts, None, opened.chosen.seed)
    replies: list[Reply] = []
    began, begun = time.monotonic(), 0

    async def work() -> None:
        nonlocal begun
        while begun < len(texts) and (begun < LEAST or time.monotonic() < began + seconds):
            text = texts[begun]
            begun += 1
            ask = text.asks[0]
            answer = await asking.ask(who, ask, text.images, part)
            counted = replace(
                answer,
                input_tokens=answer.input_tokens or math.ceil(len(ask.prompt) / CHARACTERS + FRAME),
                output_tokens=answer.output_tokens or math.ceil(len(answer.response or "") / CHARACTERS),
            )
            replies.append(Reply(counted, text.asks))

    async with anyio.create_task_group() as group:
        for _ in range(at_once):
            group.start_soon(work)
    return replies, time.monotonic() - began


def _at_once(who: Model, model: ModelSettings) -> int:
    """Requests on their way at a time; of a model on this machine twice those that are computed, so that none waits."""
    chat = getattr(who.api, "chat", None)
    if chat is not None:
        return int(2 * chat.batch * chat.turns)
    return 1 if model.name.startswith("python/") else model.connections


def _readable(
    opened: Opened, model: str, answered: Mapping[str, Sequence[Reply]], texts: Mapping[str, _Texts]
) -> dict[str, Readable]:
    """Task -> the share of its requests whose answers are readable; without the tasks that no reader reads."""
    from fairspace.submissions.running.asking.inspect_task import unstated_meta
    from fairspace.submissions.running.asking.keeping import table_of
    from fairspace.submissions.running.run import readable_shares
    from fairspace.submissions.uncertainty.proportions import clopper_pearson

    answers = [
        replace(reply.answer, task=ask.task, id=ask.id, sample=ask.sample)
        for replies in answered.values()
        for reply in replies
        for ask in reply.asks
    ]
    shares = readable_shares(unstated_meta(opened, model), table_of(answers, "responses"))
    found = {}
    for task, replies in answered.items():
        requests = [len(reply.asks) for reply in replies if reply.answer.fate != "failed"]
        share = shares.get(f"readable_{task}")
        if not requests or share is None:
            continue
        effective = sum(requests) ** 2 / sum(number**2 for number in requests)
        everything = len(requests) >= texts[task].of
        ends = (share, share) if everything else clopper_pearson(share * effective, effective)
        found[task] = Readable(share, len(requests), *ends)
    return found
