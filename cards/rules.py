"""The Hub's rules for a card's YAML front matter (from its documentation of cards), checked before publishing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

from fairspace.builders.errors import BuildError

LICENCES = ("apache-2.0", "cc-by-4.0", "cc-by-nc-4.0", "cc-by-sa-4.0", "cc0-1.0", "mit", "other")
"""Licence identifiers of the Hub that our artifacts may have."""
SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M")
_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


def front_matter(card: str, where: str) -> dict[str, Any]:
    """The YAML block at the head of a card. BuildError CARD_INVALID if it is missing or no mapping."""
    match = _FRONT.match(card)
    if match is None:
        raise _invalid(where, "no YAML block at its head", "a block between two lines of ---")
    try:
        data = yaml.safe_load(match.group(1))
    except yaml.YAMLError as error:
        raise _invalid(where, f"YAML that cannot be read: {error}", "valid YAML") from error
    if not isinstance(data, dict):
        raise _invalid(where, f"a YAML {type(data).__name__}", "a mapping")
    return data


def check_card(card: str, kind: str, where: str) -> None:
    """Check a card of a `dataset`, `space` or `model`. BuildError CARD_INVALID names the key and the rule."""
    data = front_matter(card, where)
    for key, rule, expected in _RULES[kind]:
        if key not in data:
            raise _invalid(where, f"no {key}", expected)
        if not rule(data[key]):
            raise _invalid(where, f"{key}: {data[key]!r:.200}", expected)
    if kind == "dataset" and len({config["config_name"] for config in data["configs"]}) < len(data["configs"]):
        raise _invalid(where, "two configs of one name", "one entry per config")
    if data.get("license") == "other" and not {"license_name", "license_link"} <= data.keys():
        raise _invalid(where, "license: other without license_name and license_link", "both")


def _invalid(where: str, what: str, expected: str) -> BuildError:
    return BuildError("CARD_INVALID", where, what, expected, "mend the card's template or text under cards/")


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) and text for text in value)


def _text(longest: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and 0 < len(value) <= longest


def _configs(value: Any) -> bool:
    if not isinstance(value, list) or not value or sum(config.get("default", False) for config in value) > 1:
        return False
    return all(
        re.fullmatch(r"[\w.-]+", config.get("config_name", ""))
        and all(re.fullmatch(r"[\w.]+", file["split"]) and file["path"] for file in config.get("data_files", []))
        and config.get("data_files")
        for config in value
    )


_LICENCE = ("license", lambda value: value in LICENCES, f"one of {', '.join(LICENCES)}")
_TITLE = ("title", _text(100), "a title")
_RULES: dict[str, tuple[tuple[str, Callable[[Any], bool], str], ...]] = {
    "dataset": (
        ("pretty_name", _text(100), "a title"),
        _LICENCE,
        ("language", lambda value: value == ["en"], "a list of ISO 639 codes"),
        ("size_categories", lambda value: _texts(value) and set(value) <= set(SIZES), f"some of {', '.join(SIZES)}"),
        ("task_categories", _texts, "a list of the Hub's tasks"),
        ("tags", _texts, "a list of words"),
        ("configs", _configs, "a list of configs with config_name and data_files, at most one default"),
    ),
    "space": (
        _TITLE,
        ("sdk", lambda value: value in ("gradio", "docker", "static"), "gradio, docker or static"),
        ("app_file", _text(100), "the file to start"),
        _LICENCE,
    ),
    "model": (
        _LICENCE,
        ("tags", _texts, "a list of words"),
        ("library_name", _text(50), "the library that loads it"),
        ("pipeline_tag", _text(50), "the Hub's task"),
    ),
}
