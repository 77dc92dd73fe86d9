"""The Hub's rules for `eval.yaml` of a dataset.

Source: docs/hub/eval-results and the specification eval_results.yaml in hub-docs.
"""

from __future__ import annotations

from typing import Any

import yaml

_TASK, _INSPECT = {"id", "config", "split"}, {"field_spec", "solvers", "scorers"}


def check_evaluation(path: str, content: bytes, kind: str) -> str:
    """The fault of such a file; '' for a right one and for every other file."""
    if kind != "dataset" or path != "eval.yaml":
        return ""
    try:
        return _check_tasks(yaml.safe_load(content))
    except yaml.YAMLError as error:
        return f"malformed YAML: {error}"


def _check_tasks(data: Any) -> str:
    if not isinstance(data, dict) or not all(isinstance(data.get(key), str) for key in ("name", "description")):
        return "name and description are required"
    if not isinstance(data.get("evaluation_framework"), str) or not isinstance(data.get("tasks"), list):
        return "one evaluation_framework and tasks are required"
    known = _TASK | (_INSPECT if data["evaluation_framework"] == "inspect-ai" else set())
    for task in data["tasks"]:
        if not set(task) <= known or not isinstance(task.get("id"), str):
            return f"a task has an id and at most {', '.join(sorted(known))}"
    ids = [task["id"] for task in data["tasks"]]
    return "" if ids and len(ids) == len(set(ids)) else "ids of tasks must be there and differ"
