"""A person labels answers of a model: what is shown of each, and how what was typed is kept.

The lines that are kept have the format of labelled answers, so that measuring them gives the readers' error for this
model. The file is written anew after every answer; who goes on later is asked about the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fairspace.submissions.answers.drawing import OTHERS, Drawn
from fairspace.submissions.answers.labelled import read_lines
from fairspace.submissions.errors import UsageError, plain

HELP = """\
Type what the answer says, as a careful person reads it: one of the choices, or
its first letters. none: it names none of them. refused: it declines to answer.
several: it names more than one and decides for none.
s: leave it out. u: take back the last one. q: stop; what was typed is kept."""
_LONGEST_SHOWN = 3_000
Ask = Callable[[str], str]
Tell = Callable[[str], None]


def label(drawn: Sequence[Drawn], out: Path, ask: Ask, tell: Tell, *, show: bool = False) -> int:
    """Ask about every answer that `out` does not hold yet; how many are labelled when it ends.

    An answer that is one of the choices and nothing else is labelled by itself.

    Args:
        drawn: the answers.
        out: the file, one JSON object a line.
        ask: a prompt -> what was typed. Its errors end the asking; what was typed is kept.
        tell: prints a text.
        show: show what the reader reads before the person types.

    UsageError: the file holds other answers. SubmissionError: it holds something else.
    """
    golds = labelled_before(out, drawn)
    alone = {one.key: gold for one in drawn if one.key not in golds and (gold := one.by_itself()) is not None}
    if alone:
        golds |= alone
        _write(out, drawn, golds)
        tell(f"{len(alone)} of {len(drawn)} answers are a choice and nothing else; these are labelled by themselves.")
    waiting = [one for one in drawn if one.key not in golds]
    if waiting:
        tell(HELP)
    typed: list[str] = []
    while len(typed) < len(waiting):
        answer = waiting[len(typed)]
        tell(_shown(answer, f"{len(golds) + 1} of {len(drawn)}", show))
        word = _typed(answer, ask, tell)
        if word == "q":
            break
        if word == "u":
            if typed:
                golds.pop(waiting[len(typed) - 1].key, None)
                typed.pop()
                _write(out, drawn, golds)
            continue
        typed.append(word)
        if word != "s":
            golds[answer.key] = word
            _write(out, drawn, golds)
            tell(f"  The reader: {answer.read}" if not show else "")
    return len(golds)


def _typed(one: Drawn, ask: Ask, tell: Tell) -> str:
    """A gold, or `s`, `u`, `q`; asks again until it is one of these."""
    while True:
        typed = ask("What does it say? ").strip()
        if typed in ("s", "u", "q"):
            return typed
        try:
            if typed not in ("", "?"):
                return one.gold(typed)
            tell(HELP)
        except UsageError as error:
            tell(f"  {error}")


def _shown(one: Drawn, number: str, show: bool) -> str:
    """The item, the answer and the choices as text."""
    answer = one.fields["answer"]
    if len(answer) > _LONGEST_SHOWN:
        answer = f"{answer[: _LONGEST_SHOWN // 2]}\n[…]\n{answer[-_LONGEST_SHOWN // 2 :]}"
    question_lines = [plain(line) for line in one.fields["ask"].split("\n") if line.strip()]
    parts = [f"\n{number}: {one.fields['task']}", "Asked:", *(f"  {line}" for line in question_lines), "Answer:"]
    parts += [f"  | {plain(line)}" for line in answer.split("\n")]
    if isinstance(one.choices[0], float):
        parts.append(f"Choices: a number from {one.choices[0]:g} to {one.choices[1]:g}, {', '.join(OTHERS)}")
    else:
        parts.append(f"Choices: {', '.join(map(str, (*one.choices, *OTHERS)))}")
    return "\n".join([*parts, *([f"The reader: {one.read}"] if show else [])])


def labelled_before(out: Path, drawn: Sequence[Drawn]) -> dict[str, str]:
    """The golds that a file holds already. UsageError if one of its lines is none of the drawn answers."""
    if not out.exists() or not out.stat().st_size:
        return {}
    submissions = {one.key: one.fields["submission"] for one in drawn}
    golds: dict[str, str] = {}
    for line in read_lines([out]):
        key, submission = line.fields.get("id", ""), line.fields.get("submission", "")
        if submissions.get(key) != submission:
            what = "an answer of another submission, or drawn with another --n or --seed"
            raise UsageError(f"{out} {line.place[1]} holds {what}. Name another file, or the same --n and --seed.")
        golds[key] = str(line.fields["gold"])
    return golds


def _write(out: Path, drawn: Sequence[Drawn], golds: Mapping[str, str]) -> None:
    """Write all lines anew beside the file and put them in its place, so that a stop at any time leaves a whole one."""
    lines = [{**one.fields, "gold": golds[one.key]} for one in drawn if one.key in golds]
    beside = out.with_name(f"{out.name}.part")
    beside.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    beside.replace(out)
