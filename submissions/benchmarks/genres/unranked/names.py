"""What the evaluations of GENRES are called: `example/judge`, and `example/judge#2` for its second one."""

from __future__ import annotations

import re
from collections.abc import Iterable


def judge_of(name: str) -> str:
    """The judge of an evaluation: `example/judge` of `example/judge#3`, its third."""
    return re.sub(r"#([2-9]|[1-9]\d+)\Z", "", name)


def evaluation_name(judge: str, number: int) -> str:
    """What the `number`th evaluation by a judge is called, from 1."""
    return judge if number == 1 else f"{judge}#{number}"


def first_evaluations(names: Iterable[str]) -> dict[str, str]:
    """Judge -> the name of its first evaluation."""
    firsts: dict[str, str] = {}
    for name in names:
        firsts.setdefault(judge_of(name), name)
    return firsts
