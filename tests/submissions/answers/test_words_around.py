"""Words around an answer that change nothing of what it says leave its reading as it is."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fairspace.submissions.answers.labelled import NO_CHOICE, read_lines
from fairspace.submissions.benchmarks.registry import benchmark

FOLDER = Path(__file__).parents[2] / "data" / "readings"
WRAPPINGS: Mapping[str, tuple[str, str]] = {
    "sure": ("Sure! ", ""),
    "here it is": ("Certainly. Here is my answer:\n\n", ""),
    "thought": ("<think>\nBoth could be meant. I weigh what is there.\n</think>\n\n", ""),
    "confidence in percent": ("", "\n\nConfidence: 70%"),
    "confidence in a word": ("", "\n\n**Confidence:** High"),
    "basis": ("", "\n\nBasis: visual impression"),
    "setting": ("", "\n\nSetting: indoors"),
    "reasoning": ("", "\n\nReasoning: general impression"),
    "impossible, but": ("It's impossible to know, but if I have to choose: ", ""),
    "cannot tell, but": ("I can't determine this, but if I must: ", ""),
    "not certain": ("", " Of course, I cannot know this for certain."),
    "not verified": ("", " I can't verify any of this."),
    "individuals": ("", "\n\nThis says nothing about what any individual man or woman can do."),
    "offer": ("", "\n\nLet me know if you would like me to explain this further!"),
    "note": ("", "\n\nNote: this is only an impression."),
}
"""Name -> what stands before and after the answer."""
STRIDES = {"iris": 23, "fact_or_fair": 29, "stereotypical_bias": 29}
LEAST = 0.97


def answers(name: str, stride: int) -> dict[str, list[dict[str, Any]]]:
    """Task -> every so manieth labelled answer that makes a choice and is read right."""
    tasks: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in read_lines([FOLDER / f"{name}.jsonl"]):
        fields = dict(line.fields)
        if isinstance(fields["gold"], str | int | float) and fields["gold"] not in NO_CHOICE:
            tasks[fields["task"]].append(fields)
    chosen = {task: rows[stride // 2 :: stride] or rows for task, rows in tasks.items()}
    return {task: [row for row in rows if readings(name, row) == ["right"]] for task, rows in chosen.items()}


def readings(name: str, fields: Mapping[str, Any]) -> Sequence[str]:
    return [compared.verdict for compared in benchmark(name).compare_reading(fields)]


def changed(name: str, stride: int) -> dict[str, dict[str, Counter[str]]]:
    """Task -> wrapping -> verdicts of the wrapped answers."""
    table: dict[str, dict[str, Counter[str]]] = {}
    for task, rows in answers(name, stride).items():
        for wrapping, (before, after) in WRAPPINGS.items():
            counts = table.setdefault(task, {}).setdefault(wrapping, Counter())
            for row in rows:
                counts.update(readings(name, row | {"answer": before + row["answer"] + after}))
    return table


@pytest.mark.parametrize("name", STRIDES)
def test_words_around_an_answer_leave_its_reading_as_it_is(name: str) -> None:
    stride = 1 if os.environ.get("FAIRSPACE_ALL_READINGS") else STRIDES[name]
    for task, wrappings in changed(name, stride).items():
        total = sum(wrappings.values(), Counter[str]())
        assert total["right"] >= LEAST * total.total(), (task, wrappings)
        assert total["false"] == 0, (task, {key: c for key, c in wrappings.items() if c["false"]})
