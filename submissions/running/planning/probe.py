"""A few requests of each task, asked before a run: how long they take, how long the answers are, how many can be read.

The requests are a simple random sample of those of the run; `tried` says what follows from their answers.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairspace.submissions.benchmarks.asks import Ask, Part, choose
from fairspace.submissions.running.planning.tokens import CHARACTERS, FRAME
from fairspace.submissions.running.planning.tried import LEAST, Readable, Tried, tried

if TYPE_CHECKING:
    from inspect_ai.model import Model

    from fairspace.submissions.running.asking.inspect_task import Opened
    from fairspace.submissions.running.asking.journal import Answer
    from fairspace.submissions.running.asking.models import ModelSettings

MOST = 200
"""Requests of a task at most, however fast they are answered."""


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

    async def ask_all() -> dict[str, list[Answer]]:
        try:
            return {task: await _ask_for(opened, task, who, share, at_once, once) for task in opened.parts}
        finally:
            await who.api.aclose()

    answered = anyio.run(ask_all)
    readable = _readable(opened, model.name, answered)
    return {
        task: tried(answers, _population(opened, task, once), at_once, readable.get(task))
        for task, answers in answered.items()
    }


async def _ask_for(opened: Opened, task: str, who: Model, seconds: float, at_once: int, once: bool) -> list[Answer]:
    """The answers to requests of a task in random order, until its time is over; at least `LEAST` requests."""
    import anyio

    from fairspace.submissions.running.asking.asking import Asking

    part = opened.parts[task]
    waiting = _sample(part, opened.positions[task], once)
    asking = Asking(opened.parts, None, opened.chosen.seed)
    answers: list[Answer] = []
    began, begun = time.monotonic(), 0

    async def work() -> None:
        nonlocal begun
        while begun < len(waiting) and (begun < LEAST or time.monotonic() < began + seconds):
            ask, images = waiting[begun]
            begun += 1
            answer = await asking.ask(who, ask, images, part)
            answers.append(
                replace(
                    answer,
                    input_tokens=answer.input_tokens or math.ceil(len(ask.prompt) / CHARACTERS + FRAME),
                    output_tokens=answer.output_tokens or math.ceil(len(answer.response or "") / CHARACTERS),
                )
            )

    async with anyio.create_task_group() as group:
        for _ in range(at_once):
            group.start_soon(work)
    return answers


def _sample(part: Part, positions: Sequence[int], once: bool) -> list[tuple[Ask, Sequence[bytes]]]:
    """At most `MOST` requests of as many stimuli in random order, with their images; of equal texts one if `once`."""
    chosen = [part.stimuli[place] for place in positions]
    asks: list[tuple[Ask, Sequence[bytes]]] = []
    for place in choose(chosen, MOST):
        shown = part.read(positions[place])
        asks += [(ask, shown.images) for ask in shown.asks]
    asks.sort(key=lambda each: hashlib.sha256(repr(each[0].key).encode()).digest())
    if once:
        asks = list({ask.prompt: (ask, images) for ask, images in reversed(asks)}.values())[::-1]
    return asks[:MOST]


def _population(opened: Opened, task: str, once: bool) -> int:
    """Requests of a task that the run computes."""
    from fairspace.submissions.running.planning.repeats import computed

    part, positions = opened.parts[task], opened.positions[task]
    texts = computed(part, positions) if once else None
    return texts.requests if texts is not None else sum(part.stimuli[place].asks for place in positions)


def _at_once(who: Model, model: ModelSettings) -> int:
    """Requests that a model works at side by side."""
    chat = getattr(who.api, "chat", None)
    if chat is not None:
        return int(chat.batch * chat.turns)
    return 1 if model.name.startswith("python/") else model.connections


def _readable(opened: Opened, model: str, answered: Mapping[str, Sequence[Answer]]) -> dict[str, Readable]:
    """Task -> how many of its answers are readable; without the tasks that no reader reads."""
    from fairspace.submissions.running.asking.inspect_task import unstated_meta
    from fairspace.submissions.running.asking.keeping import table_of
    from fairspace.submissions.running.run import readable_shares
    from fairspace.submissions.uncertainty.proportions import clopper_pearson

    answers = [answer for some in answered.values() for answer in some]
    shares = readable_shares(unstated_meta(opened, model), table_of(answers, "responses"))
    found = {}
    for task, some in answered.items():
        of = sum(answer.fate != "failed" for answer in some)
        if of and (share := shares.get(f"readable_{task}")) is not None:
            found[task] = Readable(round(share * of), of, *clopper_pearson(round(share * of), of))
    return found
