"""What the file of a recipe may hold: a few KiB of plain data, and of a call's arguments those that are listed here.

A recipe is data that somebody else may have written, so it must not choose what code runs: `generate` of transformers
imports and runs what its argument `custom_generate` names.
"""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.format.collector import show
from fairspace.submissions.reading.strict_json import check_values, decode, parse
from fairspace.submissions.running.errors import RunError

MOST = 8 << 10
"""Bytes of a recipe's file; ours are below 2 KiB."""
DEPTH = 8
_WHOLE: tuple[type, ...] = (int,)
_NUMBER: tuple[type, ...] = (int, float)
_KINDS: Mapping[tuple[type, ...], str] = {
    _WHOLE: "a whole number",
    _NUMBER: "a number",
    (bool,): "true or false",
    (str,): "a text",
}
ARGUMENTS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("max_new_tokens", "min_new_tokens", "num_beams", "top_k"), _WHOLE),
    **dict.fromkeys(("num_inference_steps", "height", "width", "max_sequence_length"), _WHOLE),
    **dict.fromkeys(("guidance_scale", "true_cfg_scale", "temperature", "top_p", "repetition_penalty"), _NUMBER),
    **dict.fromkeys(("do_sample", "use_cache", "return_dict", "interpolate_pos_encoding"), (bool,)),
    **dict.fromkeys(("generation_mode", "output_type", "negative_prompt"), (str,)),
}
"""Arguments of a call -> what they may be; none of them names code, a file or a repository."""


def refuse(where: str, problem: str, expected: str) -> NoReturn:
    """RunError RECIPE_INVALID."""
    raise RunError("RECIPE_INVALID", where, problem, expected, "mend the recipe; submissions/RUNNING.md describes it")


def load(what: str, expected: str) -> Any:
    """The data in a .toml or .json file; no more than `MOST` bytes of it are read.

    Args:
        what: its path, as it was given.
        expected: what might have been given instead, for errors.

    RunError RECIPE_INVALID: there is no plain file, it is too large, or it is not what its suffix says.
    """
    try:
        path = Path(what).expanduser()
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(0, "no plain file")
        with path.open("rb") as stream:
            data = stream.read(MOST + 1)
    except (OSError, ValueError, RuntimeError) as error:  # a path with NUL is a ValueError, ~nobody a RuntimeError
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise RunError("RECIPE_INVALID", safe(what), f"{said}", expected, "name another") from error
    where = safe(path.name)
    if len(data) > MOST:
        refuse(where, f"more than {MOST:,} bytes", f"at most {MOST:,}")
    try:
        text = decode(data)
        return parse(text, DEPTH) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        said = str(error)[:200]
        raise RunError("RECIPE_INVALID", where, said, "TOML, or JSON in a .json file", "mend it") from error


def check_data(data: Any, where: str) -> None:
    """Refuse nesting beyond `DEPTH`, numbers that are not finite or beyond 64 bits, NUL and half surrogates."""
    try:
        _check_depth(data, DEPTH)
        check_values(data)
    except ValueError as error:
        refuse(where, str(error)[:200], "plain texts and finite numbers")


def check_arguments(arguments: Mapping[str, Any], where: str) -> None:
    """Refuse arguments that are not in `ARGUMENTS`, or of another kind."""
    for name, value in arguments.items():
        if name not in ARGUMENTS:
            problem = f"the argument {show(name)}{did_you_mean(name[:64], ARGUMENTS)}"
            refuse(where, problem, f"one of {', '.join(sorted(ARGUMENTS))}")
        if type(value) not in ARGUMENTS[name]:
            refuse(f"{where}.{name}", repr(value)[:60], _KINDS[ARGUMENTS[name]])


def _check_depth(data: Any, left: int) -> None:
    if isinstance(data, dict | list):
        if not left:
            raise ValueError(f"nested more than {DEPTH} deep")
        for inner in data.values() if isinstance(data, dict) else data:
            _check_depth(inner, left - 1)


def safe(text: str) -> str:
    """The text, quoted and escaped where it cannot be printed."""
    return text if text.isprintable() else show(text)
