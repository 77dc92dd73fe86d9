"""Files of labelled answers: one JSON object a line, a raw answer beside what a careful person reads in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.errors import did_you_mean, plain
from fairspace.submissions.format.collector import Collector, RefusedError, show
from fairspace.submissions.format.faults import SubmissionError
from fairspace.submissions.reading.limits import LIMITS
from fairspace.submissions.reading.strict_json import check_values, decode, parse

LONGEST = 16 << 20
"""Bytes of a line; a raw answer may be longer than one that a submission may hold."""

NO_CHOICE = ("none", "refused", "several", "missing")
"""Gold readings of an answer that makes no choice; a reader that reads no choice is right for each of them."""
_REQUIRED: Mapping[str, str] = {"benchmark": "a text", "task": "a text", "answer": "a text", "gold": "a reading"}
_TEXTS = ("benchmark", "task", "answer", "id", "ask", "style", "family")


@dataclass(frozen=True)
class Line:
    """One labelled answer.

    Args:
        place: its file and line, safe to print.
        fields: `benchmark`, `task`, `answer` and `gold`; `id`, `ask`, `style` and `family` where they are stated; and
            what the task's reader needs beside the answer, for example `options`.
    """

    place: tuple[str, str]
    fields: Mapping[str, Any]


def read_lines(files: Iterable[Path]) -> list[Line]:
    """All lines of files of labelled answers but empty ones. SubmissionError holds every fault of the files."""
    faults = Collector(LIMITS.faults)
    lines = [line for file in files for line in _of_file(file, faults)]
    if faults.all():
        raise SubmissionError(list(faults.all()))
    return lines


def _of_file(file: Path, faults: Collector) -> Iterator[Line]:
    name = plain(str(file))
    if not file.exists():
        faults.add("MISSING_FILE", name, "no such file", expected="a file of labelled answers")
        return
    count = 0
    try:
        with file.open("rb") as stream:
            for number, raw in _numbered(stream):
                if not raw.strip():
                    continue
                count += 1
                place = f"line {number}"
                try:
                    yield Line((name, place), _fields(raw))
                except RefusedError as refused:
                    faults.add(refused.code, name, refused.what, expected=refused.expected, place=place)
    except RefusedError as refused:
        faults.refuse(refused, name)
        return
    except OSError as error:
        faults.add("UNREADABLE_FILE", name, str(error.strerror), expected="a file that can be read")
        return
    if not count:
        faults.add("NO_ANSWERS", name, "no line", expected="a JSON object on each line")


def _numbered(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers, the first is 1. RefusedError ROW_TOO_LONG: the rest of the file is not read."""
    number = 0
    while raw := stream.readline(LONGEST + 1):
        number += 1
        if len(raw) > LONGEST:
            what = f"line {number} has more than {LONGEST:,} bytes"
            raise RefusedError("ROW_TOO_LONG", what, f"at most {LONGEST:,}")
        yield number, raw


def _fields(raw: bytes) -> dict[str, Any]:
    """The fields of a line, with those that every task has. RefusedError says what is wrong with it."""
    data = parse(decode(raw).rstrip("\r\n"), LIMITS.depth)
    if type(data) is not dict:
        raise RefusedError("NOT_AN_OBJECT", f"found {show(data)}", "an object with benchmark, task, answer and gold")
    if type(data.get("answer")) is str:
        data["answer"] = data["answer"].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    check_values({name: value for name, value in data.items() if name != "answer"})
    for name, kind in _REQUIRED.items():
        if data.get(name) is None:
            near = did_you_mean(name, [key for key in data if key not in _REQUIRED])
            raise RefusedError("MISSING_FIELD", f"no {name!r}{near}", f"{kind} in {name!r}")
    for name in _TEXTS:
        if not isinstance(data.get(name, ""), str):
            raise RefusedError("WRONG_TYPE", f"{name!r} is {show(data[name])}", "a text, in quotation marks")
    if data["benchmark"] not in NAMES:
        what = f"benchmark {show(data['benchmark'])}{did_you_mean(data['benchmark'][:64], NAMES)}"
        raise RefusedError("UNKNOWN_BENCHMARK", what, ", ".join(NAMES))
    return data


def field(line: Mapping[str, Any], name: str, kind: type | tuple[type, ...], expected: str) -> Any:
    """What a task's reader needs of a line beside the answer. RefusedError: it is not there, or of another type.

    Args:
        line: the fields of the line.
        name: of the field.
        kind: its type.
        expected: the same in words.
    """
    if name not in line:
        raise RefusedError("MISSING_FIELD", f"no {name!r}", f"{expected} in {name!r}")
    if not isinstance(line[name], kind) or (isinstance(line[name], bool) and kind is not bool):
        raise RefusedError("WRONG_TYPE", f"{name!r} is {show(line[name])}", expected)
    return line[name]


def check_gold(gold: Any, choices: Sequence[Any]) -> None:
    """Refuse a gold that is neither one of a task's choices nor one of `NO_CHOICE`. RefusedError UNKNOWN_GOLD."""
    if not any(gold == known and type(gold) is type(known) for known in (*choices, *NO_CHOICE)):
        texts = [choice for choice in choices if isinstance(choice, str)]
        near = did_you_mean(gold[:64].lower(), texts) if isinstance(gold, str) else ""
        listed = ", ".join(map(str, choices[:8])) + (f" and {len(choices) - 8} more" if len(choices) > 8 else "")
        raise RefusedError("UNKNOWN_GOLD", f"gold {show(gold)}{near}", f"{listed}; or {', '.join(NO_CHOICE)}")


def unknown_task(task: str, known: Sequence[str]) -> RefusedError:
    """The error of a labelled line whose task the benchmark does not have."""
    return RefusedError("UNKNOWN_TASK", f"task {show(task)}{did_you_mean(task[:64], known)}", ", ".join(known))
