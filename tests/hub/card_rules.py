"""The Hub's documented rules for the YAML at the top of a README.md, a JSON schema in `card_rules.json`.

Licences: docs/hub/repositories-licenses; Spaces: docs/hub/spaces-config-reference; datasets: the dataset card
specification, docs/hub/datasets-manual-configuration; languages: ISO 639, as the `datasets` package lists them.
"""

import json
import re
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

_FRONT = re.compile(r"\s*---[ \t]*\r?\n(.*?)\r?\n?---[ \t]*(\r?\n|$)", re.DOTALL)
_NEVER_NULL = ("configs", "license_name")


def read_metadata(readme: str) -> dict[str, Any] | None:
    front = _FRONT.match(readme)
    try:
        found = yaml.safe_load(front[1]) if front else None
    except yaml.YAMLError:
        return None
    return found if isinstance(found, dict) else None


def check_card(readme: str, kind: str) -> tuple[list[str], list[str]]:
    """Errors and warnings about the card of a `dataset`, `space` or `model`."""
    front = _FRONT.match(readme)
    try:
        card = yaml.safe_load(front[1]) if front else None
    except yaml.YAMLError as error:
        return [f"YAML metadata is malformed: {error}"], []
    if card is None:
        return [], ["empty or missing yaml metadata in repo card"]
    if not isinstance(card, dict):
        return ["YAML metadata must be a mapping"], []
    stated = {key: value for key, value in card.items() if value is not None or key in _NEVER_NULL}
    stated |= {key: str(stated[key]) for key in ("sdk_version", "python_version") if key in stated}
    schema = {**_schema(), "allOf": [{"$ref": "#/$defs/every"}, {"$ref": f"#/$defs/{kind}"}]}
    errors = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(stated)]
    if kind == "dataset" and not errors:
        configs = stated.get("configs", [])
        splits = (
            [file["split"] for file in config.get("data_files", []) if isinstance(file, dict)] for config in configs
        )
        for names in ([config["config_name"] for config in configs], *splits):
            errors += [f"configs: {name} stands twice" for name, count in Counter(names).items() if count > 1]
    return errors, []


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    package = find_spec("datasets")
    assert package is not None
    assert package.origin is not None
    languages = Path(package.origin).parent / "utils" / "resources" / "languages.json"
    schema["$defs"]["language"]["enum"] = [*json.loads(languages.read_text(encoding="utf-8")), "multilingual"]
    return schema
