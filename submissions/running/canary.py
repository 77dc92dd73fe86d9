"""Whether a model has seen a release: it continues the lines of the canary, beside lines that no file holds."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import fisher_exact

from fairspace.builders.publishing.canary import CanaryRow, canary_rows
from fairspace.submissions.running.asking.models import ModelSettings, open_model

CERTAIN = 0.001
"""The claim is made if lines that no file holds were continued as well with at most this probability."""
PROMPT = """\
Continue this line of a text file. Answer with the rest of the line and nothing else.

{begin} =>"""
MAX_TOKENS = 64
Ask = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True)
class Exposure:
    """What a probe found.

    Args:
        rows: lines of the canary, and as many of the control.
        continued: lines of the canary whose first missing word was said.
        control: lines of the control of which the same is true.
        p: probability of as many or more of the canary if both were alike (Fisher's exact test, one-sided).
    """

    rows: int
    continued: int
    control: int
    p: float

    @property
    def is_exposed(self) -> bool:
        """Whether the model was exposed to the file; if not, nothing is said."""
        return self.p <= CERTAIN

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return {**vars(self), "exposed": self.is_exposed}


def probe_canary(rows: Sequence[CanaryRow], ask: Ask) -> Exposure:
    """Let a model continue the lines of a canary and as many lines by a key that is drawn now.

    Args:
        rows: of the release.
        ask: prompts -> answers, in their order.
    """
    control = canary_rows(secrets.token_bytes(32), "control", "control", len(rows))
    both = [*rows, *control]
    answers = ask([PROMPT.format(begin=row.begin) for row in both])
    said = [row.end.split()[0] in re.findall("[a-z]+", text.lower()) for row, text in zip(both, answers, strict=True)]
    hits, others = sum(said[: len(rows)]), sum(said[len(rows) :])
    table = [[hits, len(rows) - hits], [others, len(rows) - others]]
    return Exposure(len(rows), hits, others, float(fisher_exact(table, alternative="greater").pvalue))


def asker(settings: ModelSettings) -> Ask:
    """Asks a model by Inspect, each prompt by itself and without chance. RunError as `open_model`."""

    def ask(prompts: Sequence[str]) -> list[str]:
        import anyio
        from inspect_ai.model import GenerateConfig

        model = open_model(settings, greedy=True)
        config = GenerateConfig(temperature=0, max_tokens=MAX_TOKENS)
        answers = [""] * len(prompts)

        async def one(place: int, prompt: str) -> None:
            answers[place] = (await model.generate(prompt, config=config)).completion

        async def every() -> None:
            async with anyio.create_task_group() as group:
                for place, prompt in enumerate(prompts):
                    group.start_soon(one, place, prompt)

        anyio.run(every)
        return answers

    return ask
