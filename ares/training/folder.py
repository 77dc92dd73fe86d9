"""The folder of a training run: who works in it, what a finished one holds.

config.json, model.safetensors, escalation_<task>.json, preprocessor_config.json    the model
training.json      configuration and data with their hashes, seed, versions, the best epoch of every stage, and a
report on the test images; written last, so that a folder with it is finished
metrics.jsonl      every epoch of every stage, with the confusion matrix over held-out images
calibration.json   routes, confidence and cuts on the calibration set, for the drift check
.training/         checkpoints of an unfinished run; gone when it is done
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import torch

from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.pinned_ares import checkpoint_name
from fairspace.ares.training.calibration import part_report
from fairspace.ares.training.config import TrainingConfig
from fairspace.ares.training.data import Data
from fairspace.ares.training.processes import Event, Progress, Run, opened_accelerator, repeatable
from fairspace.builders.engine.build import write_atomically
from fairspace.builders.errors import BuildError

REPORT, METRICS, CALIBRATION = "training.json", "metrics.jsonl", "calibration.json"
_SOFTWARE = (
    "fairspace",
    "torch",
    "transformers",
    "safetensors",
    "accelerate",
    "xgboost",
    "xgboost-cpu",
    "numpy",
    "pillow",
)


@contextmanager
def opened_run(config: TrainingConfig, out: Path, progress: Progress) -> Iterator[Run]:
    """Devices and folders of a run; leaves the caller's random numbers and settings as they were.

    Errors: BuildError TRAINING_DEVICES.
    """
    accelerator = opened_accelerator()
    work = out / ".training"
    work.mkdir(parents=True, exist_ok=True)
    log = work / METRICS

    def report(event: Event) -> None:
        if accelerator.is_main_process:
            with log.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(event) + "\n")
            progress(event)

    with repeatable(accelerator.device):
        yield Run(accelerator, work, config.seed, config.workers, report, config.precision, config.compiler)


def claimed(run: Run, out: Path, request: Mapping[str, str]) -> dict[str, Any] | None:
    """The report of a finished run with these arguments; None if it is to be done. OUT_IN_USE for another one.

    Of several processes the first looks and writes; the others look when it has.
    """
    with run.accelerator.main_process_first():
        return _claimed(out, request, writes=run.accelerator.is_main_process)


def _claimed(out: Path, request: Mapping[str, str], *, writes: bool) -> dict[str, Any] | None:
    report, claim = out / REPORT, out / ".training" / "asked.json"
    if report.is_file():
        before: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        last = before.get("added", [before])[-1]
        if {key: last.get(key) for key in request} == dict(request):
            if writes:
                shutil.rmtree(out / ".training")
            return before
        _refuse(out)
    if claim.is_file() and json.loads(claim.read_text(encoding="utf-8")) != dict(request):
        _refuse(out)
    if not claim.is_file() and any(file.name != ".training" for file in out.iterdir()):
        _refuse(out)
    if writes:
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
    base: Mapping[str, Any],
) -> dict[str, Any]:
    """Measure the finished model, write it, and clear up."""
    tasks = [task for task in model.config.tasks if task["name"] in {each.name for each in config.tasks}]
    model.to(run.accelerator.device).eval()
    calibration: dict[str, Any] = {**request, "tasks": part_report(model, "calibration", data, run, tasks)}
    for task in tasks:
        if task["arbiter"] == "fusion":
            calibration["tasks"][task["name"]]["cuts"] = task["cuts"]
    report: dict[str, Any] = {
        **request,
        "name": config.name,
        "sample": data.sample,
        "seed": config.seed,
        "config": config.model_dump(mode="json"),
        "versions": _versions(),
        "device": run.accelerator.device.type,
        "processes": run.accelerator.num_processes,
        "threads": torch.get_num_threads(),
        "upstream": _upstream(config),
        "stages": _stages(metrics),
        "test": part_report(model, "test", data, run, tasks),
    }
    lines = [json.dumps(event) for event in metrics]
    if base:
        report = {**base["report"], "added": [*base["report"].get("added", []), report]}
        calibration = {**base["calibration"], "tasks": {**base["calibration"]["tasks"], **calibration["tasks"]}}
        lines = [*base["metrics"], *lines]
    if run.accelerator.is_main_process:
        model.cpu().save_pretrained(out)
        AresImageProcessor(image_size=config.image_size).save_pretrained(out)
        write_atomically(out / METRICS, "".join(f"{line}\n" for line in lines))
        write_atomically(out / CALIBRATION, json.dumps(calibration, indent=1))
        write_atomically(out / REPORT, json.dumps(report, indent=1))
        shutil.rmtree(run.work)
    run.accelerator.wait_for_everyone()
    return report


def _refuse(out: Path) -> None:
    if not (out / ".training" / "asked.json").is_file():
        shutil.rmtree(out / ".training")
    mend = "name another folder with --out, or remove this one"
    raise BuildError("OUT_IN_USE", str(out), "something else", "an empty folder, or one of the same training", mend)


def _stages(metrics: Sequence[Event]) -> dict[str, Any]:
    """Per stage how many epochs ran, and the metrics of the best one."""
    records: dict[str, Any] = {}
    for event in metrics:
        before = records.setdefault(event["stage"], {"epochs": 0, "best": event})
        before["epochs"] += 1
        if event.get("score", []) > before["best"].get("score", []):
            before["best"] = event
    return records


def _upstream(config: TrainingConfig) -> dict[str, str]:
    """Which checkpoints were begun with."""
    sources = [*config.experts.items(), ("fast", config.fast)]
    return {str(key): checkpoint_name(each.source, each.revision) for key, each in sources if each.source}


def _versions() -> dict[str, str]:
    wanted = {each.metadata["Name"]: each.version for each in distributions() if each.metadata["Name"] in _SOFTWARE}
    return {"python": platform.python_version(), **dict(sorted(wanted.items()))}
