"""Training ARES stage by stage: experts, fusion, routers, calibration (IRIS, B.2).

The output folder is a model that `AresModel.from_pretrained` loads, and beside it

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
from copy import deepcopy
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import torch

from ares.augmentation import image_seed
from ares.calibration import calibrated_cuts, fusion_values, part_report
from ares.configuration_ares import AresConfig
from ares.experts_ares import Expert, Stem
from ares.modeling_ares import AresModel, expert_name
from ares.training_arbiters import Pool, labelled_pool, train_escalation, train_fast, train_fusion
from ares.training_config import TrainingConfig, read_config
from ares.training_data import Data, open_data
from ares.training_experts import train_expert
from ares.training_loop import Event, Progress, Run
from ares.upstream import architecture, backbone_weights, texts
from builders.build import write_atomically
from builders.errors import BuildError

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


def train(config: Path, data: str, out: Path, *, progress: Progress = lambda event: None) -> dict[str, Any]:
    """Train a model into a folder, or go on where an earlier call with the same arguments stopped.

    Args:
        config: a TOML file (`ares.training_config`).
        data: the folder of a built IRIS-Classifier-25, or `drawn:N`.
        out: a new or empty folder, or one with an unfinished or finished run of the same configuration and data.
        progress: called with the metrics of each epoch, and of each escalation router.

    Returns:
        What `training.json` says.

    Errors: BuildError as `read_config` and `open_data` say, and OUT_IN_USE if `out` holds something else.
    """
    settings = read_config(config)
    with _run(settings, out, progress) as run:
        tasks = [task.entry() for task in settings.tasks]
        faces = open_data(data, tasks, settings.image_size, settings.seed, run.work)
        asked = {"config_sha256": settings.sha256, "data": faces.name, "data_sha256": faces.sha256}
        if (done := _claimed(out, asked)) is not None:
            return done
        torch.manual_seed(image_seed(settings.seed, "model"))
        model = _untrained(settings, tasks, asked)
        metrics = _train_tasks(model, tasks, settings, faces, run)
        return _finish(model, settings, faces, run, out, asked, metrics, {})


def add_attribute(
    model: Path, config: Path, data: str, out: Path, *, progress: Progress = lambda event: None
) -> dict[str, Any]:
    """Add the tasks of a configuration to a trained model (IRIS, A.4.2); all else stays as it is, to the bit.

    Args:
        model: the folder of a trained model.
        config: a training configuration that names only the new tasks; sizes and checkpoints must be the model's.
        data: as in `train`, with labels for the new tasks.
        out: as in `train`.
        progress: as in `train`.

    Returns:
        What `training.json` says: the model's, with the new tasks under `added`.

    Errors: BuildError as in `train`, and CONFIG_INVALID if the configuration does not fit the model.
    """
    settings = read_config(config)
    with _run(settings, out, progress) as run:
        tasks = [task.entry() for task in settings.tasks]
        faces = open_data(data, tasks, settings.image_size, settings.seed, run.work)
        old = AresModel.from_pretrained(model)
        _check_fits(config, settings, old.config)
        before = json.loads((model / REPORT).read_text(encoding="utf-8"))
        asked = {"config_sha256": settings.sha256, "data": faces.name, "data_sha256": faces.sha256}
        asked |= {"model": before["config_sha256"], "model_data": before["data_sha256"]}
        if (done := _claimed(out, asked)) is not None:
            return done
        torch.manual_seed(image_seed(settings.seed, "model"))
        extended = _extended(old, settings, tasks)
        metrics = _train_tasks(extended, tasks, settings, faces, run, added=True)
        lines = (model / METRICS).read_text(encoding="utf-8").splitlines()
        calibration = json.loads((model / CALIBRATION).read_text(encoding="utf-8"))
        base = {"metrics": lines, "calibration": calibration, "report": before}
        return _finish(extended, settings, faces, run, out, asked, metrics, base)


def _train_tasks(
    model: AresModel,
    tasks: Sequence[dict[str, Any]],
    config: TrainingConfig,
    data: Data,
    run: Run,
    *,
    added: bool = False,
) -> list[Event]:
    """All stages for some tasks of a model, in place; the metrics of every epoch."""
    metrics: list[Event] = []
    for task in tasks:
        for kind, upstream in config.experts.items():
            encoder = texts(upstream, task["prompts"]) if kind == "clip" else None
            metrics += train_expert(model, kind, task, config, data, run, encoder)
    pools: dict[str, Pool] = {}
    for task in tasks:
        name = task["name"]
        if task["arbiter"] == "fusion":
            metrics += train_fusion(model, task, config, data, run)
            found = labelled_pool(model, task, "calibration", data, run)
            task["cuts"] = calibrated_cuts(fusion_values(model, name, found.embeddings), found.labels, task["cuts"])
            model.config.task(name)["cuts"] = task["cuts"]
        routers = config.routers
        pools[name] = labelled_pool(model, task, "routers", data, run, routers.images, routers.generated_only)
    metrics += train_fast(model, tasks, config, data, run, pools, heads_only=added)
    for task in tasks:
        learnt = train_escalation(model, task, pools[task["name"]], config.escalation, config.seed)
        metrics.append(learnt)
        run.progress(learnt)
    return metrics


def _finish(
    model: AresModel,
    config: TrainingConfig,
    data: Data,
    run: Run,
    out: Path,
    asked: Mapping[str, str],
    metrics: Sequence[Event],
    base: Mapping[str, Any],
) -> dict[str, Any]:
    """Measure the finished model, write it, and clear up."""
    tasks = [task for task in model.config.tasks if task["name"] in {each.name for each in config.tasks}]
    model.to(run.accelerator.device).eval()
    calibration = {**asked, "tasks": part_report(model, "calibration", data, run, tasks)}
    for task in tasks:
        if task["arbiter"] == "fusion":
            calibration["tasks"][task["name"]]["cuts"] = task["cuts"]
    report: dict[str, Any] = {
        **asked,
        "name": config.name,
        "seed": config.seed,
        "config": config.model_dump(mode="json"),
        "versions": _versions(),
        "device": run.accelerator.device.type,
        "processes": run.accelerator.num_processes,
        "threads": torch.get_num_threads(),
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
        write_atomically(out / METRICS, "".join(f"{line}\n" for line in lines))
        write_atomically(out / CALIBRATION, json.dumps(calibration, indent=1))
        write_atomically(out / REPORT, json.dumps(report, indent=1))
        shutil.rmtree(run.work)
    run.accelerator.wait_for_everyone()
    return report


def _untrained(config: TrainingConfig, tasks: Sequence[dict[str, Any]], asked: Mapping[str, str]) -> AresModel:
    """A model with upstream weights where there are sources, and random ones elsewhere."""
    wholes = {kind: backbone_weights(kind, upstream) for kind, upstream in config.experts.items()}
    trunk = backbone_weights("efficientnet", config.fast)
    backbones = {
        kind: {
            "source": upstream.source,
            "revision": upstream.revision,
            "shared": upstream.shared,
            "config": architecture(wholes[kind]) if wholes[kind] is not None else upstream.config,
        }
        for kind, upstream in config.experts.items()
    }
    router = {"source": config.fast.source, "revision": config.fast.revision}
    made = AresConfig(
        tasks=deepcopy(list(tasks)),
        backbones=backbones,
        router={**router, "config": architecture(trunk) if trunk is not None else config.fast.config},
        fast_confidence=config.routers.fast_confidence,
        escalation=config.routers.escalation,
        minimum_confidence=config.routers.minimum_confidence,
        image_size=config.image_size,
        tile=config.tile,
        fusion_hidden=config.fusion.hidden,
        vlm=config.vlm,
        training={"name": config.name, **asked},
    )
    model = AresModel(made)
    for kind, whole in wholes.items():
        if whole is not None:
            shared = config.experts[kind].shared
            model.stems[kind] = Stem(kind, deepcopy(whole), shared)
            for task in tasks:
                model.experts[expert_name(task["name"], kind)] = Expert(
                    kind, deepcopy(whole), shared, len(task["labels"])
                )
    if trunk is not None:
        model.fast.trunk = trunk
    return model


def _extended(old: AresModel, config: TrainingConfig, tasks: Sequence[dict[str, Any]]) -> AresModel:
    """The model with experts, head and regressor of new tasks beside what it has."""
    settings = deepcopy(old.config)
    settings.tasks = [*settings.tasks, *deepcopy(list(tasks))]
    model = AresModel(settings)
    model.load_state_dict({**model.state_dict(), **old.state_dict()})
    model.escalation = dict(old.escalation)
    for kind, upstream in config.experts.items():
        if (whole := backbone_weights(kind, upstream)) is not None:
            for task in tasks:
                expert = Expert(kind, deepcopy(whole), upstream.shared, len(task["labels"]))
                model.experts[expert_name(task["name"], kind)] = expert
    return model


def _check_fits(file: Path, config: TrainingConfig, model: AresConfig) -> None:
    """CONFIG_INVALID where a configuration of new tasks does not fit a model."""
    has = {task["name"] for task in model.tasks}
    facts: list[tuple[str, Any, Any]] = [
        ("image_size", config.image_size, model.image_size),
        ("experts", sorted(config.experts), sorted(model.kinds)),
        ("fusion.hidden", config.fusion.hidden, list(model.fusion_hidden)),
    ]
    for kind, upstream in config.experts.items():
        entry = model.backbones.get(kind, {})
        facts += [
            (f"experts.{kind}.{key}", getattr(upstream, key), entry.get(key))
            for key in ("source", "revision", "shared")
        ]
        if not upstream.source:
            facts.append((f"experts.{kind}.config", upstream.config, entry.get("config")))
    for key, found, expected in facts:
        if found != expected:
            raise BuildError(
                "CONFIG_INVALID", f"{file}, key {key}", repr(found), f"the model's {expected!r}", "correct it"
            )
    for task in config.tasks:
        if task.name in has:
            mend = "name only new tasks; others stay as they are"
            raise BuildError(
                "CONFIG_INVALID", f"{file}, key tasks", f"{task.name}, which the model has", "a new task", mend
            )


@contextmanager
def _run(config: TrainingConfig, out: Path, progress: Progress) -> Iterator[Run]:
    """Devices and folders of a run; leaves the caller's random numbers and settings as they were."""
    from accelerate import Accelerator

    accelerator = Accelerator(mixed_precision=config.precision)
    work = out / ".training"
    work.mkdir(parents=True, exist_ok=True)
    log = work / METRICS

    def report(event: Event) -> None:
        if accelerator.is_main_process:
            with log.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(event) + "\n")
        progress(event)

    strict = torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng():
        # On a GPU some operations of the backbones have no deterministic form.
        torch.use_deterministic_algorithms(accelerator.device.type == "cpu" or strict)
        try:
            yield Run(accelerator, work, config.seed, config.workers, report)
        finally:
            torch.use_deterministic_algorithms(strict)


def _claimed(out: Path, asked: Mapping[str, str]) -> dict[str, Any] | None:
    """The report of a finished run with these arguments; None if it is to be done. OUT_IN_USE for another one."""
    report, claim = out / REPORT, out / ".training" / "asked.json"
    if report.is_file():
        found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        last = found.get("added", [found])[-1]
        if {key: last.get(key) for key in asked} == dict(asked):
            shutil.rmtree(out / ".training")
            return found
        _refuse(out)
    if claim.is_file() and json.loads(claim.read_text(encoding="utf-8")) != dict(asked):
        _refuse(out)
    if not claim.is_file() and any(file.name != ".training" for file in out.iterdir()):
        _refuse(out)
    write_atomically(claim, json.dumps(asked))
    return None


def _refuse(out: Path) -> None:
    mend = "name another folder with --out, or remove this one"
    raise BuildError("OUT_IN_USE", str(out), "something else", "an empty folder, or one of the same training", mend)


def _stages(metrics: Sequence[Event]) -> dict[str, Any]:
    """Per stage how many epochs ran, and the metrics of the best one."""
    found: dict[str, Any] = {}
    for event in metrics:
        before = found.setdefault(event["stage"], {"epochs": 0, "best": event})
        before["epochs"] += 1
        if event.get("score", []) > before["best"].get("score", []):
            before["best"] = event
    return found


def _versions() -> dict[str, str]:
    wanted = {each.metadata["Name"]: each.version for each in distributions() if each.metadata["Name"] in _SOFTWARE}
    return {"python": platform.python_version(), **dict(sorted(wanted.items()))}
