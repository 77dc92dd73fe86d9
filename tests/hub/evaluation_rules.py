"""The Hub's rules for `eval.yaml` of a dataset and `.eval_results/*.yaml` of a model.

Source: docs/hub/eval-results and the specification eval_results.yaml in hub-docs.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import yaml

_TASK, _INSPECT = {"id", "config", "split"}, {"field_spec", "solvers", "scorers"}
_ENTRY = {"dataset", "value", "verifyToken", "date", "source", "notes"}
_DATASET, _SOURCE = {"id", "task_id", "revision"}, {"url", "name", "user", "org"}


def check_evaluation(path: str, content: bytes, kind: str) -> str:
    """The fault of such a file; '' for a right one and for every other file."""
    check = None
    if kind == "dataset" and path == "eval.yaml":
        check = _check_tasks
    if kind == "model" and path.startswith(".eval_results/") and path.endswith(".yaml"):
        check = _check_results
    if check is None:
        return ""
    try:
        return check(yaml.safe_load(content))
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


def _check_results(data: Any) -> str:
    if not isinstance(data, list) or not data:
        return "a list of results is required"
    for entry in data:
        dataset, source = entry.get("dataset", {}), entry.get("source")
        if not set(entry) <= _ENTRY or not set(dataset) <= _DATASET or not {"id", "task_id"} <= set(dataset):
            return "a field is unknown, or dataset.id or dataset.task_id is missing"
        if not isinstance(entry.get("value"), int | float):
            return "value is required"
        if source is not None and (not set(source) <= _SOURCE or not source.get("url")):
            return "source.url is required with a source"
        if "date" in entry:
            if not isinstance(entry["date"], str):
                return "date must be quoted"
            datetime.fromisoformat(entry["date"])
    return ""
