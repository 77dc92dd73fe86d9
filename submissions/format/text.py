"""Types for text in a submission: single lines without control characters, and closed vocabularies."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import StringConstraints

MARKS = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb"
)
"""Characters that break a line, reorder the text around them or are invisible, so that two names look the same."""
Line = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=rf"^[^\s{MARKS}]([^{MARKS}]*[^\s{MARKS}])?$")
]
"""One line of text that begins and ends with a visible character."""


Architecture = Literal["autoregressive", "diffusion", "autoregressive + diffusion", "masked", "adversarial", "other"]
"""Architectures; a flow counts as diffusion, and experts or an encoder before the decoder change nothing."""
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)
