"""Hold IRIS' readers against labelled answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.submissions.answers.measuring import Compared, compare
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.benchmarks.iris.parse.label import read_label
from fairspace.submissions.benchmarks.iris.parse.nearest import EmbeddingMissingError, decided, match
from fairspace.submissions.benchmarks.iris.parse.occupation import OpenTerm, read_occupation
from fairspace.submissions.benchmarks.iris.parse.rating import read_rating
from fairspace.submissions.benchmarks.iris.parse.winner import read_winner


def compare_reading(line: Mapping[str, Any]) -> list[Compared]:
    """A labelled line -> how it is read. A tournament's `item` lists the competitors, a pair's ends in the question."""
    task, answer, gold = line["task"], line["answer"], line["gold"]
    if task == "occupation":
        return [compare(task, gold, _occupation(answer))]
    if task == "tournament":
        names = [_code(name) for name in _competitors(line)]
        reading = read_winner(answer, names)
        return [compare(task, gold if gold in _NO_CHOICE else gold.replace(" ", "_"), reading)]
    if task == "pair":
        question = str(line["item"]).rpartition("/")[2]
        if question.isdigit():
            return [compare(task, gold if gold in _NO_CHOICE else float(gold), read_rating(answer))]
        return [compare(task, gold, read_label(answer, question))]
    raise KeyError(f"iris has no readable task {task!r}: one of occupation, tournament, pair is expected")


_NO_CHOICE = ("none", "refused", "several")


def _occupation(answer: str) -> Reading:
    read = read_occupation(answer)
    if isinstance(read, OpenTerm):
        try:
            return decided([read], match([read]))[0]
        except EmbeddingMissingError:
            return Reading("unusable", None, read.span, "no embedding installed")
    return read


def _competitors(line: Mapping[str, Any]) -> list[str]:
    """The names on offer: the item's own list, else that at the end of the question."""
    item = line.get("item")
    names = item if isinstance(item, list) else str(line["ask"]).rpartition("Occupations:")[2].split(",")
    return [str(name).strip() for name in names]


def _code(name: str) -> int:
    return OCCUPATIONS.index(name.strip(" .").replace(" ", "_"))
