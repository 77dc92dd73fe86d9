"""The folder of a training run: who works in it, what a finished one holds.

config.json, model.safetensors, escalation_<task>.json, preprocessor_config.json    the model
training.json      configuration and data with their hashes, seed, versions, the best epoch of every stage, and a
report on the test images; written last, so that a folder with it is finished
metrics.jsonl      every epoch of every stage, with the confusion matrix over held-out images
calibration.json   routes, confidence and cuts on the calibration set
.training/         checkpoints of an unfinished run; gone when it is done
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from fairspace.ares.annotating.model import versions
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.pinned_ares import checkpoint_name
from fairspace.ares.training.calibration import part_report
from fairspace.ares.training.config import TrainingConfig
from fairspace.ares.training.data import Data
from fairspace.ares.training.loop import Event, Progress, Run
from fairspace.builders.engine.build import write_atomically
from fairspace.builders.errors import BuildError

REPORT, METRICS, CALIBRATION, WORK = "training.json", "metrics.jsonl", "calibration.json", ".training"
_SOFTWARE = ("fairspace", "numpy", "pillow", "safetensors", "torch", "transformers", "xgboost", "xgboost-cpu")


@contextmanager
def opened_run(config: TrainingConfig, out: Path, progress: Progress) -> Iterator[Run]:
    """Device and folder of a run; leaves the caller's random numbers and settings as they were."""
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    work, strict = out / WORK, torch.are_deterministic_algorithms_enabled()

    def report(event: Event) -> None:
        with (work / METRICS).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(event) + "\n")
        progress(event)

    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        # On a GPU some operations of the backbones have no deterministic form.
        torch.use_deterministic_algorithms(device.type == "cpu" or strict)
        try:
            yield Run(device, work, config.seed, config.workers, report, config.precision, config.compiler)
        finally:
            torch.use_deterministic_algorithms(strict)


def claimed(out: Path, request: Mapping[str, str]) -> dict[str, Any] | None:
    """The report of a finished run with these arguments; None if it is to be done. OUT_IN_USE for another one."""
    report, claim = out / REPORT, out / WORK / "asked.json"
    if report.is_file():
        before: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        last = before.get("added", [before])[-1]
        if {key: last.get(key) for key in request} == dict(request):
            shutil.rmtree(out / WORK, ignore_errors=True)
            return before
    asked = json.loads(claim.read_text(encoding="utf-8")) if claim.is_file() else None
    if asked != request and (asked is not None or (out.is_dir() and any(out.iterdir()))):
        mend = "name another folder with --out, or remove this one"
        raise BuildError("OUT_IN_USE", str(out), "something else", "an empty folder, or one of the same training", mend)
    write_atomically(claim, json.dumps(request))
    return None


def finish(
    model: AresModel,
    config: TrainingConfig,
    data: Data,
    run: Run,
    out: Path,
    request: Mapping[str, str],
    metrics: Sequence[Event],
    base: Path | None,
) -> dict[str, Any]:
    """Measure the finished model, write it, and clear up; `base` is the folder of the model that it extends."""
    tasks = [task for task in model.config.tasks if task["name"] in {each.name for each in config.tasks}]
    model.to(run.device).eval()
    calibration: dict[str, Any] = {**request, "tasks": part_report(model, "calibration", data, run, tasks)}
    for task in tasks:
        if task["arbiter"] == "fusion":
            calibration["tasks"][task["name"]]["cuts"] = task["cuts"]
    sources = [*config.experts.items(), ("fast", config.fast)]
    report: dict[str, Any] = {
        **request,
        "name": config.name,
        "sample": data.sample,
        "seed": config.seed,
        "config": config.model_dump(mode="json"),
        "versions": {"python": platform.python_version(), **versions(_SOFTWARE)},
        "device": run.device.type,
        "threads": torch.get_num_threads(),
        "upstream": {str(key): checkpoint_name(each.source, each.revision) for key, each in sources if each.source},
        "stages": _stages(metrics),
        "test": part_report(model, "test", data, run, tasks),
    }
    lines = "".join(f"{json.dumps(event)}\n" for event in metrics)
    if base is not None:
        first, before = (json.loads((base / name).read_text(encoding="utf-8")) for name in (REPORT, CALIBRATION))
        report = {**first, "added": [*first.get("added", []), report]}
        calibration = {**before, "tasks": {**before["tasks"], **calibration["tasks"]}}
        lines = (base / METRICS).read_text(encoding="utf-8") + lines
    model.cpu().save_pretrained(out)
    AresImageProcessor(image_size=config.image_size).save_pretrained(out)
    write_atomically(out / METRICS, lines)
    write_atomically(out / CALIBRATION, json.dumps(calibration, indent=1))
    write_atomically(out / REPORT, json.dumps(report, indent=1))
    shutil.rmtree(run.work)
    return report


def _stages(metrics: Sequence[Event]) -> dict[str, Any]:
    """Per stage how many epochs ran, and the metrics of the best one."""
    records: dict[str, Any] = {}
    for event in metrics:
        before = records.setdefault(event["stage"], {"epochs": 0, "best": event})
        before["epochs"] += 1
        if event.get("score", []) > before["best"].get("score", []):
            before["best"] = event
    return records
