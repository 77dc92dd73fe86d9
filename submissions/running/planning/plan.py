"""`fairspace run --dry-run`: what a run will take, and what it can show, before anything is asked.

Requests are counted, tokens estimated (`plan_tokens`), money and hours follow from them (`plan_lines`); what the sample
can show is in `plan_values`. Not foreseen: repeated requests, cached prompts, thinking that is no part of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from fairspace.submissions.benchmarks.detectable import Detectable, detectable
from fairspace.submissions.benchmarks.registry import benchmark as registered
from fairspace.submissions.running.asking.inspect_task import Opened
from fairspace.submissions.running.planning.images import MadePart
from fairspace.submissions.running.planning.limit import LimitNote, limited
from fairspace.submissions.running.planning.lines import (
    HERE_A_SECOND,
    READ_HERE_A_SECOND,
    SECONDS_AN_IMAGE,
    SECONDS_HERE,
    Cost,
    Line,
    PlanSettings,
    answers_line,
    images_line,
    judge_line,
    runs_here,
)
from fairspace.submissions.running.planning.tokens import NOTHING, Span
from fairspace.submissions.running.planning.tried import Readable
from fairspace.submissions.validity.measured_error import MeasuredError

__all__ = ["Cost", "Line", "Plan", "PlanSettings", "plan"]


@dataclass(frozen=True)
class Plan:
    """All that is known before a run.

    Args:
        benchmark: its name.
        lines: per task and model.
        limit: what the run leaves out.
        values: what it can show.
        assumptions: in sentences.
        readable: task -> the share of its answers to a probe that were readable; {} without a probe.
    """

    benchmark: str
    lines: tuple[Line, ...]
    limit: LimitNote
    values: tuple[Detectable, ...]
    assumptions: tuple[str, ...]
    readable: Mapping[str, Readable] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        """To models that answer and to judges."""
        return sum(line.requests for line in self.lines if line.kind != "images")

    @property
    def images(self) -> int:
        """That are made."""
        return sum(line.requests for line in self.lines if line.kind == "images")

    @property
    def input(self) -> Span:
        """Tokens in all."""
        return sum((line.input for line in self.lines), NOTHING)

    @property
    def output(self) -> Span:
        """Tokens in all."""
        return sum((line.output for line in self.lines), NOTHING)

    @property
    def hours(self) -> Span:
        """In all, one task after the other."""
        return sum((line.hours for line in self.lines), NOTHING)

    @property
    def costs(self) -> tuple[Cost, ...]:
        """In all, one for each currency; what has no price is not in it."""
        by_currency: dict[str, Cost] = {}
        for line in self.lines:
            if line.cost is not None:
                before = by_currency.get(line.cost.currency, Cost(0.0, 0.0, line.cost.currency))
                total = Cost(before.usual + line.cost.usual, before.most + line.cost.most, before.currency)
                by_currency[line.cost.currency] = total
        return tuple(by_currency.values())

    @property
    def unpriced(self) -> tuple[str, ...]:
        """What the cost leaves out: models, or kinds of models without a name."""
        return tuple(dict.fromkeys(line.model or line.kind for line in self.lines if line.cost is None))

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "benchmark": self.benchmark,
            "requests": self.requests,
            "images": self.images,
            "input": self.input.to_json(),
            "output": self.output.to_json(),
            "hours": self.hours.to_json(),
            "costs": [asdict(cost) for cost in self.costs],
            "unpriced": list(self.unpriced),
            "lines": [asdict(line) for line in self.lines],
            "limit": self.limit.to_json(),
            "values": [value.to_json() for value in self.values],
            "assumptions": list(self.assumptions),
            "readable": {task: asdict(share) for task, share in self.readable.items()},
        }


def plan(
    opened: Opened,
    settings: PlanSettings | None = None,
    image_parts: Sequence[MadePart] = (),
    measured: Sequence[MeasuredError] = (),
) -> Plan:
    """What a run will take, and what it can show; nothing is asked, and nothing fetched.

    Args:
        opened: what is asked; without parts for a model that only makes images.
        settings: how.
        image_parts: the images that are made (`plan_images.made_parts`).
        measured: errors of another run, from which follows what this one can show.

    Errors: RunError PRICES_INVALID if a named model has no price; DATA_INVALID if an image cannot be read.
    """
    settings = settings or PlanSettings()
    lines = [answers_line(part, opened.positions[task], settings) for task, part in opened.parts.items()]
    judged = {task.judges for task in registered(opened.chosen.benchmark).tasks}
    lines += [
        judge_line(part, opened.positions[task], judge, settings)
        for task, part in opened.parts.items()
        if task in judged
        for judge in settings.judges or ("",)
    ]
    lines += [images_line(image_part, settings) for image_part in image_parts]
    chosen = {task: [opened.parts[task].stimuli[p] for p in places] for task, places in opened.positions.items()}
    whole = {task: part.stimuli for task, part in opened.parts.items()}
    chosen |= {image_part.task: image_part.chosen for image_part in image_parts}
    whole |= {image_part.task: image_part.stimuli for image_part in image_parts}
    values = detectable(opened.chosen.benchmark, chosen, whole, measured)
    note = limited(opened, image_parts, values)
    readable = {task: tried.readable for task, tried in settings.tried.items() if tried.readable is not None}
    return Plan(opened.chosen.benchmark, tuple(lines), note, values, _assumptions(lines, settings), readable)


def _times(lines: Sequence[Line], settings: PlanSettings) -> list[str]:
    """How long requests take, of models elsewhere and of those on this machine."""
    text = [line for line in lines if line.kind != "images"]
    if settings.seconds_per_request is not None:
        return [f"Time of a request: as given; {settings.concurrency} at once. Waiting for rate limits comes on top."]
    notes = []
    if any(not runs_here(line.model) for line in text):
        how = "1 s and 1 s for every 50 tokens of the answer"
        notes.append(f"Time of a request: {how}; {settings.concurrency} at once. Waiting for rate limits comes on top.")
    if any(runs_here(line.model) for line in text):
        notes.append(
            f"Time on this machine: {HERE_A_SECOND:g} tokens of answers and {READ_HERE_A_SECOND:g} of prompts in a "
            f"second, and {SECONDS_HERE:g} s for every request, as two cores do with 0.1 billion parameters; a short "
            "limited run shows what yours does."
        )
    return notes


def _repeats(lines: Sequence[Line]) -> list[str]:
    """Which tasks ask texts again that are answered once."""
    fewer = [f"{line.task} {line.computed:,}" for line in lines if line.computed < line.requests]
    if not fewer:
        return []
    return [f"Without chance a text that several requests share is answered once; different texts: {', '.join(fewer)}."]


def _tried(lines: Sequence[Line], settings: PlanSettings) -> list[str]:
    """What was asked before the run, and what its answers say of all."""
    if not settings.tried:
        return []
    counts = ", ".join(f"{task} {tried.answers}" for task, tried in settings.tried.items())
    notes = [
        f"Measured by a probe of this model; answers: {counts}. Time and tokens: the 95 % intervals of their means, "
        "with what else goes on here now. A kind of answer that is rare may not be among so few."
    ]
    if any(runs_here(line.model) for line in lines):
        notes.append(f"Added to the time of a request: {SECONDS_HERE:g} s for engine, journal and log.")
    shares = [
        f"{task} {share.share:.0%} of {share.of} ({share.low:.0%} to {share.high:.0%})"
        for task, tried in settings.tried.items()
        if (share := tried.readable) is not None
    ]
    return [*notes, f"Readable, with the 95 % interval of all: {', '.join(shares)}."] if shares else notes


def _assumptions(lines: Sequence[Line], settings: PlanSettings) -> tuple[str, ...]:
    notes = _tried(lines, settings)
    if assumed := [line for line in lines if line.kind != "images" and line.task not in settings.tried]:
        notes.append(
            f"Tokens of text: {settings.characters:g} characters each (OpenAI's rule of thumb for English), measured "
            f"on at most {settings.sample} stimuli of a task. From answers of the usual length to the longest allowed, "
            "which hardly all of them have."
        )
        notes += _times(assumed, settings)
        notes.append("How many answers can be read is not known before; --probe SECONDS asks a few for all of this.")
    notes += _repeats(lines)
    if any(line.images_sent for line in lines):
        rule = "85 and 170 for each 512-pixel square (OpenAI, high detail); most: enlarged to a short side of 768"
        notes.append(f"Tokens of an image: {rule if settings.image_tokens is None else settings.image_tokens}.")
    if any(line.kind == "images" for line in lines):
        seconds = SECONDS_AN_IMAGE if settings.seconds_per_image is None else settings.seconds_per_image
        notes.append(
            f"Time of a made image: {seconds:g} s, {settings.image_concurrency} at once; labelling not counted."
        )
    return (*notes, "Repeated and repaired requests, cached prompts and hidden thinking are not foreseen.")
