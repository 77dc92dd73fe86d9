"""The Hub's documented rules for the YAML at the top of a README.md.

Licences: docs/hub/repositories-licenses; Spaces: docs/hub/spaces-config-reference; datasets: the dataset card
specification, docs/hub/datasets-manual-configuration; languages: ISO 639, as the `datasets` package lists them.
"""

import importlib.util
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_WORDS = json.loads(Path(__file__).with_name("vocabularies.json").read_text(encoding="utf-8"))
LICENCES, TASKS, SIZES, COLOURS = (frozenset(_WORDS[key]) for key in ("licences", "tasks", "sizes", "colours"))
_FRONT = re.compile(r"\s*---[ \t]*\r?\n(.*?)\r?\n?---[ \t]*(\r?\n|$)", re.DOTALL)
_STRINGS = (
    *("pretty_name", "title", "license_name", "license_link", "thumbnail", "app_file", "library_name"),
    *("extra_gated_prompt", "extra_gated_heading", "extra_gated_description", "extra_gated_button_content"),
)
_LISTS = (
    *("tags", "annotations_creators", "language_creators", "multilinguality", "source_datasets", "task_ids"),
    *("datasets", "models", "metrics"),
)


def read_metadata(readme: str) -> dict[str, Any] | None:
    front = _FRONT.match(readme)
    try:
        found = yaml.safe_load(front[1]) if front else None
    except yaml.YAMLError:
        return None
    return found if isinstance(found, dict) else None


def check_card(readme: str, kind: str) -> tuple[list[str], list[str]]:
    front = _FRONT.match(readme)
    if front is None:
        return [], ["empty or missing yaml metadata in repo card"]
    try:
        card = yaml.safe_load(front[1])
    except yaml.YAMLError as error:
        return [f"YAML metadata is malformed: {error}"], []
    if card is None:
        return [], ["empty or missing yaml metadata in repo card"]
    if not isinstance(card, dict):
        return ["YAML metadata must be a mapping"], []
    errors: list[str] = []
    for key in _STRINGS:
        _expect(errors, key, card.get(key), lambda value: isinstance(value, str), "a string")
    for key in _LISTS:
        texts = _as_list(card.get(key))
        _expect(errors, key, texts, lambda value: all(isinstance(v, str) for v in value), "a string or a list of them")
    _one_of(errors, "license", card.get("license"), LICENCES)
    if card.get("license") == "other" and not card.get("license_name"):
        errors.append('"license_name" is required with "license: other"')
    if not re.fullmatch(r"[a-z0-9-.]+", str(card.get("license_name", "x"))):
        errors.append('"license_name" must be lower case letters, digits, "-" and "."')
    _one_of(errors, "language", card.get("language"), _languages())
    fields = card.get("extra_gated_fields")
    _expect(errors, "extra_gated_fields", fields, lambda value: isinstance(value, dict), "a mapping")
    {"dataset": _check_dataset, "space": _check_space, "model": _check_model}[kind](card, errors)
    return errors, []


def _check_dataset(card: dict[str, Any], errors: list[str]) -> None:
    _one_of(errors, "task_categories", card.get("task_categories"), TASKS)
    _one_of(errors, "size_categories", card.get("size_categories"), SIZES)
    configs = card.get("configs", [])
    if not isinstance(configs, list):
        errors.append('"configs" must be an array')
        return
    names = []
    for place, config in enumerate(configs):
        where = f'"configs[{place}]'
        if not isinstance(config, dict):
            errors.append(f'{where}" must be an object')
            continue
        if not isinstance(config.get("config_name"), str):
            errors.append(f'{where}.config_name" is required and must be a string')
        names.append(config.get("config_name"))
        if not _data_files(config.get("data_files", [])):
            errors.append(f'{where}.data_files" must be paths, or objects of split and path')
        if not isinstance(config.get("default", False), bool):
            errors.append(f'{where}.default" must be a boolean')
    if len(set(map(str, names))) < len(names):
        errors.append('"configs" must have distinct config_name')
    if sum(isinstance(c, dict) and c.get("default") is True for c in configs) > 1:
        errors.append('"configs" must have one default at most')


def _data_files(found: Any) -> bool:
    if isinstance(found, str):
        return True
    if not isinstance(found, list):
        return False
    splits = [entry.get("split") for entry in found if isinstance(entry, dict)]
    if len(set(map(str, splits))) < len(splits):
        return False
    for entry in found:
        if isinstance(entry, dict):
            split, paths = entry.get("split"), _as_list(entry.get("path"))
            if not isinstance(split, str) or not re.fullmatch(r"\w+(\.\w+)*", split) or not paths:
                return False
            if not all(isinstance(path, str) for path in paths):
                return False
        elif not isinstance(entry, str):
            return False
    return True


def _check_space(card: dict[str, Any], errors: list[str]) -> None:
    if "sdk" not in card:
        errors.append('"sdk" is required')
    _one_of(errors, "sdk", card.get("sdk"), frozenset(("gradio", "docker", "static", "streamlit")))
    for key in ("colorFrom", "colorTo"):
        _one_of(errors, key, card.get(key), COLOURS)
    emoji = card.get("emoji")
    _expect(errors, "emoji", emoji, lambda e: isinstance(e, str) and 0 < len(e) <= 8 and min(e) > "\u00a8", "an emoji")
    short = card.get("short_description")
    _expect(errors, "short_description", short, lambda s: isinstance(s, str) and len(s) <= 60, "at most 60 characters")
    _expect(errors, "pinned", card.get("pinned"), lambda value: isinstance(value, bool), "a boolean")
    for key in ("sdk_version", "python_version"):
        _expect(errors, key, card.get(key), lambda v: re.fullmatch(r"\d+(\.\d+){1,2}\S*", str(v)), "a version")
    port = card.get("app_port")
    _expect(errors, "app_port", port, lambda p: isinstance(p, int) and 0 < p < 65536, "a port")


def _check_model(card: dict[str, Any], errors: list[str]) -> None:
    _one_of(errors, "pipeline_tag", card.get("pipeline_tag"), TASKS)
    _expect(errors, "model-index", card.get("model-index"), lambda value: isinstance(value, list), "an array")


def _expect(errors: list[str], key: str, value: Any, allowed: Any, what: str) -> None:
    if value is not None and not allowed(value):
        errors.append(f'"{key}" must be {what}')


def _one_of(errors: list[str], key: str, value: Any, allowed: frozenset[str]) -> None:
    for found in _as_list(value) or []:
        if found not in allowed:
            known = f"[{', '.join(sorted(allowed))}]" if len(allowed) < 100 else "an ISO 639 code"
            errors.append(f'"{key}" must be one of {known}; found {found!r}')


def _as_list(value: Any) -> list[Any] | None:
    return value if value is None or isinstance(value, list) else [value]


@cache
def _languages() -> frozenset[str]:
    package = importlib.util.find_spec("datasets")
    assert package is not None
    assert package.origin is not None
    file = Path(package.origin).parent / "utils" / "resources" / "languages.json"
    return frozenset(json.loads(file.read_text(encoding="utf-8"))) | {"multilingual"}
