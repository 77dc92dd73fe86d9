"""The question to a vision-language model about an escalated image, and the rules for its answer (IRIS, B.1).

The model is asked for perceived presentation: one value per attribute of the task, as one JSON object. Only exactly
that is usable, with a Markdown fence around it at most: no prose, several objects, double, unknown or missing keys, or
values that are no string or not in the list, letter for letter. After an unusable answer the image is asked about once
more, in other words. No answer is guessed from words in a text.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LONGEST = 1000
"""Most characters of a usable answer."""
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


class ArbiterError(RuntimeError):
    """A vision-language model cannot be opened, or does not work; the message has place, problem and remedy."""


@dataclass
class ArbiterCounts:
    """Images since the arbiter was opened: `asked` about, `asked_again` after an unusable answer, usably `answered`.

    `unusable` ones lack a usable second answer. The endpoint's content filter `refused` some, which are not asked about
    again, and it `failed` on others, where that is allowed.
    """

    asked: int = 0
    answered: int = 0
    asked_again: int = 0
    unusable: int = 0
    refused: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Reply:
    """A model's text, or the reason for none (`refused` or `failed`)."""

    text: str = ""
    missing: str = ""


class ArbiterAsking(ABC):
    """An arbiter without the access to its model. `counts`: outcomes of the images."""

    def __init__(self) -> None:
        self.counts = ArbiterCounts()

    @property
    @abstractmethod
    def name(self) -> str:
        """Model and revision, or model and endpoint."""

    @abstractmethod
    def _replies(self, images: Sequence[Any], question: str) -> list[Reply]:
        """The model's reply about each PIL image."""

    def answer(self, images: Sequence[Any], task: Mapping[str, Any]) -> list[str | None]:
        """For each PIL image one of the task's `labels`, or None without a usable answer.

        Errors: ArbiterError if the model or endpoint does not work, or cannot be asked about this task.
        """
        answers: list[str | None] = [None] * len(images)
        missing = [""] * len(images)
        left = list(range(len(images)))
        for again in (False, True):
            if not left:
                break
            replies = self._replies([images[place] for place in left], question(task, again=again))
            for place, reply in zip(left, replies, strict=True):
                missing[place] = reply.missing
                answers[place] = None if reply.missing else read_answer(reply.text, task)
            left = [place for place in left if answers[place] is None and not missing[place]]
            self.counts.asked_again += 0 if again else len(left)
        self.counts.asked += len(images)
        self.counts.answered += sum(label is not None for label in answers)
        self.counts.unusable += len(left)
        self.counts.refused += missing.count("refused")
        self.counts.failed += missing.count("failed")
        return answers


def question(task: Mapping[str, Any], *, again: bool = False) -> str:
    """The question about an image; `again`: after an unusable first answer.

    A task with the entry `open`, a sentence, says by it what to answer where the image leaves it open.

    Errors: ArbiterError if two labels of the task have the same attributes.
    """
    values = {attribute: list(dict.fromkeys(labels)) for attribute, labels in task["attributes"].items()}
    if len(_labels(task)) != len(task["labels"]):
        raise ArbiterError(
            f"{task['name']}: two labels have the same attributes, so an answer would not tell them apart. "
            "Give each label attributes of its own, or name another arbiter than `vlm`"
        )
    keys = ", ".join(f'"{attribute}": "..."' for attribute in values)
    lines = [
        "Look at the person who is most prominent in this image. Say how this person is presented: perceived "
        "presentation only, as the image shows it. It need not be who anybody is.",
        "Choose one value for each key, written exactly as it is here:",
        *(f"{attribute}: {', '.join(allowed)}" for attribute, allowed in values.items()),
        *([task["open"]] if "open" in task else []),
        f"Answer with one JSON object of the form {{{keys}}} and with nothing else.",
    ]
    if again:
        lines.append(
            "No explanation, no sentence, no further key: the first character of the answer is { and the last is }."
            + ("" if "open" in task else " If the image leaves it open, choose the value that comes closest.")
        )
    return "\n".join(lines)


def read_answer(text: str, task: Mapping[str, Any]) -> str | None:
    """The label in an answer, or None if it is not usable; the module's docstring has the rules."""
    if len(text) > LONGEST:
        return None
    text = text.strip()
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    try:
        parsed = json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict) or set(parsed) != set(task["attributes"]):
        return None
    values = tuple(parsed[attribute] for attribute in task["attributes"])
    return _labels(task).get(values) if all(isinstance(value, str) for value in values) else None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key twice")
    return fields


def _labels(task: Mapping[str, Any]) -> dict[tuple[str, ...], str]:
    return dict(zip(zip(*task["attributes"].values(), strict=True), task["labels"], strict=True))
