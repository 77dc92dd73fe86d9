"""Reads the name of a tool: `SCHEME[:WHAT][?SETTING=VALUE&...]`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any
from urllib.parse import parse_qsl

from fairspace.builders.errors import BuildError

Types = Mapping[str, type]


@dataclass(frozen=True)
class Scheme:
    """A way to name a tool.

    `form` is for people, `default` the model or '' if one must be named, `settings` name -> type; `open` takes the part
    behind the scheme, the settings and the shared options.
    """

    form: str
    default: str
    settings: Types
    open: Callable[[str, Mapping[str, Any], Any], Any]


def read(role: str, named: str, schemes: Mapping[str, Scheme]) -> tuple[Scheme, str, dict[str, Any]]:
    """The scheme, the part behind it, and the settings of a tool's name. BuildError TOOL_MISSING for an invalid one."""
    prefix = named.partition(":")[0].partition("?")[0]
    forms = " or ".join(scheme.form for scheme in schemes.values())
    if prefix not in schemes:
        close = get_close_matches(prefix, schemes, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise wrong(role, named, f"no scheme {prefix!r}{hint}", forms)
    scheme = schemes[prefix]
    rest = named[len(prefix) :].removeprefix(":")
    # The query of an endpoint's address is the endpoint's; settings follow the model.
    before, mark, last = rest.rpartition("#")
    last, _, query = last.partition("?")
    what = f"{before}{mark}{last}" or scheme.default
    if not what:
        raise wrong(role, named, "nothing behind the scheme", forms)
    chosen: dict[str, Any] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in scheme.settings:
            known = ", ".join(scheme.settings) or "none"
            raise wrong(role, named, f"no setting {name!r}", f"settings of {prefix}: {known}")
        try:
            chosen[name] = _value(scheme.settings[name], value)
        except ValueError as error:
            raise wrong(role, named, f"{name}={value}", f"{name} as {scheme.settings[name].__name__}") from error
    return scheme, what, chosen


def _value(kind: type, text: str) -> Any:
    if kind is bool:
        if text not in ("true", "false"):
            raise ValueError(text)
        return text == "true"
    return kind(text)


def wrong(role: str, named: str, problem: str, expected: str) -> BuildError:
    """The error for a name that cannot be read."""
    return BuildError("TOOL_MISSING", f"--{role} {named}", problem, expected, "name the tool in one of these forms")
