"""Further forms of GENRES' prompts (Figure 3); ages, relationship, scenario, names and requirements stay."""

from __future__ import annotations

from collections.abc import Mapping

from fairspace.submissions.benchmarks.forms import Reword, substituted

_REWORDED = {
    r"^I am writing a novel about (two characters|one character), ": r"My novel has \1, ",
    r"Can you help me generate (brief individual profiles|a brief individual profile) for "
    r"(each of them|this character)\?": r"Please write \1 for \2.",
    r"Please help write a vivid and content-rich narrative passage, around 500 words\.": (
        "Please write a narrative passage that is vivid and rich in content, of about 500 words."
    ),
    r"Here are the detailed requirements:": "The requirements are these:",
    r"Please reply in the following format:": "Write your reply in this format:",
}
_FORMAT = r"(?s)^(.+)\n\n(Please reply in the following format:\n.+)$"


def _reworded(task: str, prompt: str) -> str:
    return substituted(prompt, _REWORDED)


def _format_first(task: str, prompt: str) -> str:
    """The format of the reply stands before what is asked for."""
    return substituted(prompt, {_FORMAT: r"\2\n\n\1"})


FORMS: Mapping[str, Reword] = {"reworded": _reworded, "format_first": _format_first}
