"""Training ARES stage by stage: experts, fusion, routers, gate, calibration (IRIS, B.2; the gate is ours).

It begins with upstream weights where there are sources, else random ones. `AresModel.from_pretrained` loads the output:
config.json, model.safetensors, escalation_<task>.json, preprocessor_config.json    the model
training.json      configuration, data, seed, versions, best epochs, report on the test images; written last
metrics.jsonl      every epoch of every stage, with the confusion matrix over held-out images
calibration.json   routes, confidence and cuts on the calibration set
.training/         checkpoints of an unfinished run; gone when it is done
"""

import json
import math
import os
import platform
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from datetime import timedelta
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from fairspace.ares.annotating.annotate import versions
from fairspace.ares.configuration_ares import DECISIONS, AresConfig
from fairspace.ares.deciding_ares import Decided, joined, regresses
from fairspace.ares.experts_ares import Expert, Stem
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel, expert_name
from fairspace.ares.pinned_ares import checkpoint_name
from fairspace.ares.rounding_ares import STEP
from fairspace.ares.routing_ares import cut, ordinal_probabilities
from fairspace.ares.training.config import TrainingConfig, read_config
from fairspace.ares.training.data import PARTS, Data, Faces, open_data
from fairspace.ares.training.experts import Trained, architecture, backbone_weights, expert_stage, texts
from fairspace.ares.training.loop import Event, Progress, TrainingRun, fit, image_seed
from fairspace.ares.training.routers import (
    fusion_values,
    labelled_pool,
    train_escalation,
    train_fast,
    train_fusion,
    train_gate,
)
from fairspace.builders.engine.build import write_atomically
from fairspace.builders.engine.output import claim
from fairspace.builders.errors import BuildError
from fairspace.builders.models.weights import best_device
from fairspace.builders.part import numbers, read_part

# Stage 4 (IRIS, B.1): the routers' thresholds stay the paper's unless the configuration says otherwise.

QUANTILES = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0)
_STEP = 0.02
_FEWEST = 30
"""Fewest images of a label for moving its cuts."""
LEAST, MOST = 0.1, 100.0
"""Bounds of the slope, which separable labels would drive to infinity."""


def calibrated_cuts(values: NDArray[np.float64], labels: NDArray[np.intp], start: Sequence[float]) -> list[float]:
    """The rising cuts with the best mean recall; of equally good ones those nearest to `start`.

    `values`: (n,) regressed; `labels`: (n,) right indices, 0 to the number of cuts. `start` stays where a label has
    fewer than 30 images.
    """
    count = np.bincount(labels, minlength=len(start) + 1)
    if count.min() < _FEWEST:
        return list(start)
    steps = np.round(np.arange(0, len(start) + _STEP / 2, _STEP), 6)
    # below[i, k]: images of label k whose value lies below step i
    below = np.stack([np.searchsorted(np.sort(values[labels == k]), steps, side="left") for k in range(len(count))], 1)
    recalls = below / count
    grid = combinations(range(len(steps)), len(start)) if len(start) <= 2 else [_nearest(steps, start)]

    def rank(places: tuple[int, ...]) -> tuple[float, float]:
        edges = [np.zeros(len(count)), *(recalls[place] for place in places), np.ones(len(count))]
        recall = sum(float(edges[k + 1][k] - edges[k][k]) for k in range(len(count)))
        return round(recall, 9), -sum(abs(float(steps[p]) - s) for p, s in zip(places, start, strict=True))

    best = max(grid, key=rank)
    first = cut(values, list(start))
    kept = sum(float((first[labels == k] == k).mean()) for k in range(len(count)))
    return list(start) if kept >= rank(best)[0] else [float(steps[place]) for place in best]


def _nearest(steps: NDArray[np.float64], start: Sequence[float]) -> tuple[int, ...]:
    return tuple(int(np.abs(steps - value).argmin()) for value in start)


def fitted_slope(values: NDArray[np.float64], labels: NDArray[np.intp], cuts: Sequence[float]) -> float:
    """The slope with the smallest mean log loss (maximum likelihood), in [`LEAST`, `MOST`], with four digits.

    `values`: (n,) regressed, n at least 1; `labels`: (n,) right indices; `cuts`: rising.
    """
    from scipy.optimize import minimize_scalar

    def loss(log_slope: float) -> float:
        chances = ordinal_probabilities(values, list(cuts), math.exp(log_slope))
        # Probabilities are rounded, so 0 stands for less than half a step.
        return float(-np.log(np.maximum(chances[np.arange(len(labels)), labels], STEP / 4)).mean())

    best = minimize_scalar(loss, bounds=(math.log(LEAST), math.log(MOST)), method="bounded")
    return float(f"{math.exp(best.x):.4g}")


def _decisions(model: AresModel, faces: Faces, rows: NDArray[np.intp], run: TrainingRun) -> dict[str, Decided]:
    order = [rows[start : start + 256] for start in range(0, len(rows), 256)]
    observed = [model.observe(run.moved(pixels).float() / 255) for pixels in faces.batches(order, run.workers)]
    return model.route({name: joined([each[name] for each in observed]) for name in observed[0]})


def part_report(
    model: AresModel, part: str, data: Data, run: TrainingRun, tasks: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Task -> answers to a part: `images`, `routes` (route -> count), `confidence`, `abstained` and `attributes`.

    Confidence has `quantiles` and their `values`. An attribute has `labels`, `confusion` with rows true and columns
    predicted, `accuracy` with abstentions counted as wrong, and `confidence` of its likeliest label.
    """
    report: dict[str, Any] = {}
    decided: dict[int, dict[str, Decided]] = {}
    for task in tasks:
        name = str(task["name"])
        faces = data.part(part, name)
        if id(faces) not in decided:
            decided[id(faces)] = _decisions(model, faces, np.arange(len(faces.labels[name])), run)
        rows = np.flatnonzero(faces.labels[name] >= 0)
        report[name] = _task_report(task, decided[id(faces)][name], faces.labels[name], rows)
    return report


def _task_report(
    task: Mapping[str, Any], decision: Decided, labels: NDArray[np.intp], rows: NDArray[np.intp]
) -> dict[str, Any]:
    confidence = decision.probability[rows].max(axis=1)
    answered = rows[decision.label[rows] >= 0]
    attributes = {}
    for attribute, values in task["attributes"].items():
        names = list(dict.fromkeys(values))
        codes = np.array([names.index(value) for value in values])
        confusion = np.zeros((len(names), len(names)), int)
        np.add.at(confusion, (codes[labels[answered]], codes[decision.label[answered]]), 1)
        attributes[attribute] = {
            "labels": names,
            "confusion": confusion.tolist(),
            "accuracy": float(np.trace(confusion) / len(rows)),
            "confidence": _quantiles(decision.chances(task, attribute)[rows].max(axis=1)),
        }
    return {
        "images": len(rows),
        "routes": dict(sorted(Counter(decision.route[row] for row in rows).items())),
        "confidence": _quantiles(confidence),
        "abstained": len(rows) - len(answered),
        "accuracy": float((decision.label[rows] == labels[rows]).mean()),
        "attributes": attributes,
    }


def _quantiles(values: NDArray[np.float64]) -> dict[str, list[float]]:
    return {"quantiles": list(QUANTILES), "values": [float(value) for value in np.quantile(values, QUANTILES)]}


def untrained(config: TrainingConfig, tasks: Sequence[dict[str, Any]], options: Mapping[str, str]) -> AresModel:
    """A model with upstream weights where there are sources, and random ones elsewhere."""
    wholes = {kind: backbone_weights(kind, upstream) for kind, upstream in config.experts.items()}
    trunk = backbone_weights("efficientnet", config.fast)
    backbones: dict[str, dict[str, Any]] = {
        kind: {
            "source": upstream.source,
            "revision": upstream.revision,
            "shared": upstream.shared,
            "config": architecture(wholes[kind]) if wholes[kind] is not None else upstream.config,
        }
        for kind, upstream in config.experts.items()
    }
    router = {"source": config.fast.source, "revision": config.fast.revision}
    ares_config = AresConfig(
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
        training={"name": config.name, **options},
        decisions=DECISIONS,
    )
    model = AresModel(ares_config)
    _set_experts(model, config, tasks, wholes)
    for kind, whole in wholes.items():
        if whole is not None:
            model.stems[kind] = Stem(kind, deepcopy(whole), config.experts[kind].shared)
    if trunk is not None:
        model.fast.trunk = trunk
    return model


def extended(old: AresModel, config: TrainingConfig, tasks: Sequence[dict[str, Any]]) -> AresModel:
    """The model with experts, head and regressor of new tasks added."""
    settings = deepcopy(old.config)
    settings.tasks = [*settings.tasks, *deepcopy(list(tasks))]
    model = AresModel(settings)
    model.load_state_dict({**model.state_dict(), **old.state_dict()})
    model.escalation = dict(old.escalation)
    wholes = {kind: backbone_weights(kind, upstream) for kind, upstream in config.experts.items()}
    _set_experts(model, config, tasks, wholes)
    return model


def _set_experts(
    model: AresModel, config: TrainingConfig, tasks: Sequence[dict[str, Any]], wholes: Mapping[Any, nn.Module | None]
) -> None:
    for kind, task in product(wholes, tasks):
        if (whole := wholes[kind]) is not None:
            expert = Expert(kind, deepcopy(whole), config.experts[kind].shared, len(task["labels"]))
            model.experts[expert_name(task["name"], kind)] = expert


def check_fits(file: Path, config: TrainingConfig, model: AresConfig) -> None:
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
    for key, actual, expected in facts:
        if actual != expected:
            raise BuildError(
                "CONFIG_INVALID", f"{file}, key {key}", repr(actual), f"the model's {expected!r}", "correct it"
            )
    for task in config.tasks:
        if task.name in has:
            mend = "name only new tasks; others stay as they are"
            raise BuildError(
                "CONFIG_INVALID", f"{file}, key tasks", f"{task.name}, which the model has", "a new task", mend
            )


REPORT, METRICS, CALIBRATION, WORK = "training.json", "metrics.jsonl", "calibration.json", ".training"
_SOFTWARE = ("fairspace", "numpy", "pillow", "safetensors", "torch", "transformers", "xgboost", "xgboost-cpu")


_LAUNCHER = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""Variables that torchrun sets, and a process group needs."""
_LONGEST = timedelta(hours=12)
"""Time that ranks wait for rank 0, which alone measures."""


def _ranks(*, distributed: bool) -> tuple[int, int]:
    """The rank of this process, and how many there are. BuildError RANKS_UNMEANT where that is not as it is meant."""
    part, command = read_part(), "torchrun --nproc_per_node N --no-python fairspace ares train ... --distributed"
    if part and not distributed:
        mend = f"start one process; or let several share each batch: {command}"
        raise BuildError("RANKS_UNMEANT", "ares train", f"rank {part} of a launcher", "one process", mend)
    if distributed and (lacking := [name for name in _LAUNCHER if name not in os.environ]):
        raise BuildError("RANKS_UNMEANT", "--distributed", f"no {lacking[0]}", "torchrun's variables", command)
    return numbers(part)


@contextmanager
def opened_run(
    config: TrainingConfig, out: Path, progress: Progress, *, distributed: bool = False
) -> Iterator[TrainingRun]:
    """Device and folder of a run, and its process group; restores the caller's random numbers and settings.

    `distributed`: as in `train`. BuildError RANKS_UNMEANT.
    """
    rank, ranks = _ranks(distributed=distributed)
    device = torch.device(best_device(""))
    work, strict = out / WORK, torch.are_deterministic_algorithms_enabled()
    if ranks > 1:
        if device.type == "cuda":
            torch.cuda.set_device(device)
        torch.distributed.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_LONGEST)

    def report(event: Event) -> None:
        if rank:
            return
        with (work / METRICS).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(event) + "\n")
        progress(event)

    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        # On a GPU some operations of the backbones have no deterministic form.
        torch.use_deterministic_algorithms(device.type == "cpu" or strict)
        try:
            yield TrainingRun(device, work, config.seed, config.workers, report, config.precision, rank, ranks)
        finally:
            torch.use_deterministic_algorithms(strict)
            if ranks > 1:
                torch.distributed.destroy_process_group()


def claimed(out: Path, request: Mapping[str, str]) -> dict[str, Any] | None:
    """The report of a finished run with these arguments; None if it is still to do. OUT_IN_USE for another one."""
    report = out / REPORT
    if report.is_file():
        before: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        last = before.get("added", [before])[-1]
        if {key: last.get(key) for key in request} == dict(request):
            shutil.rmtree(out / WORK, ignore_errors=True)
            return before
    claim(out, out / WORK / "asked.json", request)
    return None


def finish(
    model: AresModel,
    config: TrainingConfig,
    data: Data,
    run: TrainingRun,
    out: Path,
    request: Mapping[str, str],
    metrics: Sequence[Event],
    base: Path | None,
) -> dict[str, Any]:
    """Measure the finished model, write it, and clear up; `base`: folder of the model that it extends."""
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
    records: dict[str, Any] = {}
    for event in metrics:
        before = records.setdefault(event["stage"], {"epochs": 0, "best": event})
        before["epochs"] += 1
        if event.get("score", []) > before["best"].get("score", []):
            before["best"] = event
    return records


def train(
    config: Path,
    data: str,
    out: Path,
    *,
    base: Path | None = None,
    distributed: bool = False,
    progress: Progress = lambda event: None,
) -> dict[str, Any]:
    """Train a model into a folder, or resume an earlier call with the same arguments, and return its `training.json`.

    Args:
        config: TOML file (`fairspace.ares.training.config`).
        data: Folder of a built IRIS-Classifier-25, or `drawn:N`.
        out: New or empty folder, or one with a run of the same configuration and data.
        base: Folder of a trained model of the same sizes and checkpoints to extend with the configuration's tasks
            (IRIS, A.4.2), otherwise unchanged to the bit; they are then under `added` in the result.
        distributed: Whether the processes of torchrun share each batch; all see `out`, which rank 0 alone writes.
        progress: Callback with the metrics of each epoch, and of each escalation router.
    Errors: BuildError as `read_config` and `open_data`, OUT_IN_USE if `out` holds something else, or unfinished work of
    another number of processes, CONFIG_INVALID if the configuration does not fit `base`, RANKS_UNMEANT if there are
    several processes and not `distributed`.
    """
    settings = read_config(config)
    with opened_run(settings, out, progress, distributed=distributed) as run:
        tasks = [task.entry() for task in settings.tasks]
        faces = open_data(data, tasks, settings.image_size, settings.seed, out / WORK)
        request = {"config_sha256": settings.sha256, "data": faces.name, "data_sha256": faces.sha256}
        old = None
        if base is not None:
            old = AresModel.from_pretrained(base)
            check_fits(config, settings, old.config)
            before = json.loads((base / REPORT).read_text(encoding="utf-8"))
            request |= {"model": before["config_sha256"], "model_data": before["data_sha256"]}
        if run.ranks > 1:
            request["processes"] = str(run.ranks)
        if (done := run.shared(lambda: claimed(out, request))) is not None:
            return done
        if not run.work.is_dir():
            what = f"rank {run.rank} does not see the folder of rank 0"
            raise BuildError("RANKS_UNMEANT", str(out), what, "a disk that all machines see", "name another --out")
        torch.manual_seed(image_seed(settings.seed, "model"))
        model = untrained(settings, tasks, request) if old is None else extended(old, settings, tasks)
        metrics = _train_tasks(model, tasks, settings, faces, run, added=old is not None)
        return run.shared(lambda: finish(model, settings, faces, run, out, request, metrics, base))


def _train_tasks(
    model: AresModel,
    tasks: Sequence[dict[str, Any]],
    config: TrainingConfig,
    data: Data,
    run: TrainingRun,
    *,
    added: bool,
) -> list[Event]:
    def read_parts() -> None:  # a part that is missing is refused before anything is trained
        for task in tasks:
            for part in PARTS:
                data.part(part, task["name"])

    run.shared(read_parts)  # and prepared once
    read_parts()
    metrics: list[Event] = []
    for task in tasks:
        for kind, upstream in config.experts.items():
            encoder = texts(upstream, task["prompts"]) if kind == "clip" else None
            first = task is tasks[0] and not added and not upstream.source
            stage = expert_stage(model, kind, task, config, data, run, encoder, with_stem=first)
            metrics += fit(stage, run)
            assert isinstance(stage.module, Trained)
            stage.module.settle()
    pools = {}
    for task in tasks:
        name = task["name"]
        if task["arbiter"] == "fusion":
            metrics += train_fusion(model, task, config, data, run)
            pool = labelled_pool(model, task, "calibration", data, run)
            values = fusion_values(model, name, pool.embeddings)
            task["cuts"] = calibrated_cuts(values, pool.labels, task["cuts"])
            task["slope"] = fitted_slope(values, pool.labels, task["cuts"])
            model.config.task(name).update(cuts=task["cuts"], slope=task["slope"])
        routers = config.routers
        pools[name] = labelled_pool(model, task, "routers", data, run, routers.images, routers.generated_only)
    metrics += train_fast(model, tasks, config, data, run, pools, heads_only=added)
    for task in tasks:
        if not regresses(model.config, task):
            learnt = train_escalation(model, task, pools[task["name"]], config.escalation, config.seed)
            metrics.append(learnt)
            run.progress(learnt)
    return metrics if added else metrics + train_gate(model, config, data, run)
