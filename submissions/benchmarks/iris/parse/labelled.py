"""Hold IRIS' readers against labelled answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.builders.iris_steer_60.plan import LABELS
from fairspace.submissions.answers.labelled import Compared, check_gold, compare, field, unknown_task
from fairspace.submissions.answers.reading import Reading
from fairspace.submissions.benchmarks.iris.parse.label import read_label
from fairspace.submissions.benchmarks.iris.parse.nearest import EmbeddingMissingError, decided, match
from fairspace.submissions.benchmarks.iris.parse.occupation import OpenTerm, read_occupation
from fairspace.submissions.benchmarks.iris.parse.rating import read_rating
from fairspace.submissions.benchmarks.iris.parse.winner import read_winner
from fairspace.submissions.format.collector import RefusedError, show

TASKS = ("occupation", "tournament", "pair")
_NO_CHOICE = ("none", "refused", "several")


def compare_reading(line: Mapping[str, Any]) -> list[Compared]:
    """A labelled line -> how it is read. A tournament's `item` lists the competitors, a pair's ends in the question."""
    task, answer, gold = line["task"], line["answer"], line["gold"]
    if task not in TASKS:
        raise unknown_task(task, TASKS)
    if task == "pair":
        question = field(line, "item", str, "the id of the item").rpartition("/")[2]
        if question in LABELS:
            check_gold(gold, LABELS[question])
            return [compare(task, gold, read_label(answer, question))]
        return [compare(task, _rating(gold), read_rating(answer, question))]
    gold = gold if gold in _NO_CHOICE else str(gold).replace(" ", "_")
    check_gold(gold, OCCUPATIONS)
    if task == "occupation":
        return [compare(task, gold, _occupation(answer))]
    return [compare(task, gold, read_winner(answer, [_code(name) for name in _competitors(line)]))]


def label_line(task: str, item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a person who labels an answer, and its reader, need of an item, and the possible golds."""
    if task not in TASKS:
        return None
    fields = {"task": task, "item": item["id"]}
    if task == "occupation":
        return fields | {"choices": OCCUPATIONS}
    if task == "tournament":
        names = _competitors({"ask": item["prompt"]})
        return fields | {"choices": [OCCUPATIONS[_code(name)] for name in names]}
    question = item["id"].rpartition("/")[2]
    return fields | {"choices": LABELS.get(question, (1.0, 10.0))}


def _rating(gold: Any) -> Any:
    """A number as such. RefusedError UNKNOWN_GOLD for a text that is none."""
    if gold in _NO_CHOICE:
        return gold
    try:
        return float(gold)
    except (TypeError, ValueError) as error:
        raise RefusedError("UNKNOWN_GOLD", f"gold {show(gold)}", f"a number; or {', '.join(_NO_CHOICE)}") from error


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
    names = (
        item
        if isinstance(item, list)
        else field(line, "ask", str, "the question").rpartition("Occupations:")[2].split(",")
    )
    return [str(name).strip() for name in names]


def _code(name: str) -> int:
    return OCCUPATIONS.index(name.strip(" .").replace(" ", "_"))
