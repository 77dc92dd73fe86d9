"""The model that training begins with: upstream weights where there are sources, random ones elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

from torch import nn

from fairspace.ares.configuration_ares import DECISIONS, AresConfig
from fairspace.ares.experts_ares import Expert, Stem
from fairspace.ares.modeling_ares import AresModel, expert_name
from fairspace.ares.training.config import TrainingConfig
from fairspace.ares.training.upstream import architecture, backbone_weights
from fairspace.builders.errors import BuildError


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
    """The model with experts, head and regressor of new tasks beside what it has."""
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
    """Begin the tasks' experts with upstream weights, where there are any."""
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
