"""Training ARES stage by stage: experts, fusion, routers, gate, calibration (IRIS, B.2; the gate is ours).

The output folder is a model that `AresModel.from_pretrained` loads; `fairspace.ares.training.folder` says what lies
beside it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from fairspace.ares.deciding_ares import regresses
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.augmentation import image_seed
from fairspace.ares.training.calibration import calibrated_cuts, fitted_slope
from fairspace.ares.training.config import TrainingConfig, read_config
from fairspace.ares.training.data import PARTS, Data, open_data
from fairspace.ares.training.experts import train_expert
from fairspace.ares.training.folder import REPORT, WORK, claimed, finish, opened_run
from fairspace.ares.training.fusion import fusion_values, labelled_pool, train_fusion
from fairspace.ares.training.gate import train_gate
from fairspace.ares.training.loop import Event, Progress, Run
from fairspace.ares.training.model import check_fits, extended, untrained
from fairspace.ares.training.routers import train_escalation, train_fast
from fairspace.ares.training.upstream import texts


def train(
    config: Path, data: str, out: Path, *, base: Path | None = None, progress: Progress = lambda event: None
) -> dict[str, Any]:
    """Train a model into a folder, or go on where an earlier call with the same arguments stopped.

    Args:
        config: a TOML file (`fairspace.ares.training.config`).
        data: the folder of a built IRIS-Classifier-25, or `drawn:N`.
        out: a new or empty folder, or one with an unfinished or finished run of the same configuration and data.
        base: folder of a trained model that the tasks of the configuration are added to (IRIS, A.4.2); all else of it
            stays as it is, to the bit. Sizes and checkpoints must be the model's.
        progress: called with the metrics of each epoch, and of each escalation router.

    Returns:
        What `training.json` says; with `base` the model's, with the new tasks under `added`.

    Errors: BuildError as `read_config` and `open_data` say, OUT_IN_USE if `out` holds something else, and
    CONFIG_INVALID if the configuration does not fit `base`.
    """
    settings = read_config(config)
    with opened_run(settings, out, progress) as run:
        tasks = [task.entry() for task in settings.tasks]
        faces = open_data(data, tasks, settings.image_size, settings.seed, out / WORK)
        request = {"config_sha256": settings.sha256, "data": faces.name, "data_sha256": faces.sha256}
        old = None
        if base is not None:
            old = AresModel.from_pretrained(base)
            check_fits(config, settings, old.config)
            before = json.loads((base / REPORT).read_text(encoding="utf-8"))
            request |= {"model": before["config_sha256"], "model_data": before["data_sha256"]}
        if (done := claimed(out, request)) is not None:
            return done
        torch.manual_seed(image_seed(settings.seed, "model"))
        model = untrained(settings, tasks, request) if old is None else extended(old, settings, tasks)
        metrics = _train_tasks(model, tasks, settings, faces, run, added=old is not None)
        return finish(model, settings, faces, run, out, request, metrics, base)


def _train_tasks(
    model: AresModel, tasks: Sequence[dict[str, Any]], config: TrainingConfig, data: Data, run: Run, *, added: bool
) -> list[Event]:
    """Train all stages for some tasks of a model, in place; the metrics of every epoch."""
    for task in tasks:
        for part in PARTS:  # a part that is missing is refused before anything is trained
            data.part(part, task["name"])
    metrics: list[Event] = []
    for task in tasks:
        for kind, upstream in config.experts.items():
            encoder = texts(upstream, task["prompts"]) if kind == "clip" else None
            first = task is tasks[0] and not added and not upstream.source
            metrics += train_expert(model, kind, task, config, data, run, encoder, with_stem=first)
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
