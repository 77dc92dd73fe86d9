"""Errors of runs of models; `CODES` lists every code, and codes are stable."""

from __future__ import annotations

from fairspace.builders.errors import CodedError

CODES: dict[str, str] = {
    "RUN_OTHER": "the folder holds the workings of another run: another model, other settings or other prompts",
    "RUN_IN_USE": "another process is running in the folder",
    "RUN_INCOMPLETE": "the run stopped before every item had its fate",
    "RUN_STOPPED": "the run was stopped by whoever started it (Ctrl-C); what was done is kept",
    "RUN_SPENT": "the run has spent what it may; what was done is kept",
    "MODEL_SILENT": "the model did not answer request after request",
    "MODEL_UNKNOWN": "the model is not named as its engine expects, or cannot be opened",
    "MODEL_OUTPUT": "a model gave something that cannot be used",
    "DUPLICATE_IMAGE": "two samples of one prompt are the same image, to the byte",
    "DATA_MISSING": "a task needs a dataset that was not found, or that lacks its images",
    "DATA_INVALID": "a dataset does not have the columns or items of the benchmark",
    "TASK_UNKNOWN": "the benchmark has no such task, or none that the named models can do",
    "LOG_INVALID": "a log is not one of a benchmark's task, or cannot be read",
    "LOG_CONFLICT": "logs that are imported together answer the same item, or are of different models",
    "PRICES_INVALID": "a file of prices cannot be read, or does not name the model",
    "RECIPE_INVALID": "a recipe of a probe cannot be read, or does not fit the model",
    "JUDGE_NOTHING": "a submission has nothing that a judge could read",
}

MODEL_NAMES = "a folder, FILE.gguf, FILE.py:FUNCTION, http://HOST/v1#MODEL, or PROVIDER/MODEL as Inspect names it"
"""Forms of a model's name."""


class RunError(CodedError):
    """A model cannot be run, or its run cannot go on."""

    codes = CODES
