"""How asking went, for the manifest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fairspace.submissions.running.asking.journal import Answer

if TYPE_CHECKING:
    from fairspace.submissions.format.manifest import Scalar


def course_of(answers: Iterable[Answer], seconds: float) -> dict[str, Scalar]:
    """Tokens and seconds of a run, and the shares of answers that were empty, looped or cut off.

    Args:
        answers: of all starts.
        seconds: that asking took.
    """
    answered = [answer for answer in answers if answer.fate == "answered"]
    course: dict[str, Scalar] = {
        "input_tokens": sum(answer.input_tokens for answer in answered),
        "output_tokens": sum(answer.output_tokens for answer in answered),
        "seconds": round(seconds),
    }
    for name, count in (
        ("empty", sum(not (answer.response or "").strip() for answer in answered)),
        ("looping", sum(answer.stop == "loop" for answer in answered)),
        ("cut_off", sum(answer.stop in ("max_tokens", "model_length") for answer in answered)),
    ):
        course[name] = round(count / len(answered), 4) if answered else None
    return course
