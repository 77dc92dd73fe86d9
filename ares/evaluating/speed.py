"""How long ARES takes on this machine: whole configurations as they run, and the model's parts.

Timed is the model from prepared pixels to labels; `fairspace ares annotate` also tells what reading files takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from fairspace.ares.deciding_ares import ABLATIONS, SINGLE
from fairspace.ares.evaluating.data import HeldOut, Pictures
from fairspace.ares.evaluating.routes import configured
from fairspace.ares.modeling_ares import AresModel


@dataclass(frozen=True)
class Speed:
    """Seconds of one configuration.

    Args:
        images: that were timed.
        batch: images at a time.
        per_image: mean seconds per image, `batch` at a time.
        p50: median seconds of one image alone.
        p95: 95th percentile of the same.
    """

    images: int
    batch: int
    per_image: float
    p50: float
    p95: float


def time_ablations(model: AresModel, images: HeldOut, batch: int, number: int) -> dict[str, Speed]:
    """Row of Tables 11 and 12 -> its speed on the first `number` images of a set; rows that cannot run are left out."""
    number = min(number, len(images))
    pixels = images.pixels(np.arange(number), model.device)
    pictures = Pictures(images.faces)
    shown = [pictures[row] for row in range(number)] if model.arbiter is not None else None
    rows = {}
    for row, mode in ABLATIONS.items():
        if (mode in SINGLE and mode not in model.config.kinds) or (mode == "l2" and model.arbiter is None):
            continue
        with configured(model, ablation=mode):
            rows[row] = _timed(model, pixels, shown, batch)
    return rows


def _timed(model: AresModel, pixels: torch.Tensor, shown: list[Any] | None, batch: int) -> Speed:
    def decide(start: int, end: int) -> float:
        pictures = None if shown is None else shown[start:end]
        return _seconds(model, lambda: model.decide(pixels[start:end], pictures))

    n = len(pixels)
    decide(0, min(batch, n))
    together = sum(decide(start, min(start + batch, n)) for start in range(0, n, batch))
    alone = [decide(row, row + 1) for row in range(n)]
    return Speed(n, batch, together / n, float(np.quantile(alone, 0.5)), float(np.quantile(alone, 0.95)))


@torch.inference_mode()
def part_seconds(model: AresModel, images: HeldOut, number: int) -> dict[str, float]:
    """Seconds per image of every part, in full tiles: `router`, `stem/<kind>`, `expert/<task>/<kind>`, `fusion/<task>`.

    With a vision-language model also `arbiter`, per question. The best of three runs is taken.
    """
    tile = model.config.tile
    rows = np.arange(max(tile, number // tile * tile)) % len(images)
    pixels = images.pixels(rows, model.device)
    tiles = [pixels[start : start + tile] for start in range(0, len(pixels), tile)]

    def best(run: Callable[[], Any], per: int) -> float:
        return min(_seconds(model, run) for _ in range(3)) / per

    seconds = {"router": best(partial(_each, model.fast, tiles), len(pixels))}
    embeddings: dict[str, list[list[torch.Tensor]]] = {name: [] for name in model.fusion}
    for kind in model.config.kinds:
        stem = model.stems[kind]
        seconds[f"stem/{kind}"] = best(partial(_each, stem, tiles), len(pixels))
        hidden = [stem(part) for part in tiles]
        for task in model.config.tasks:
            expert = model.expert(task["name"], kind)
            seconds[f"expert/{task['name']}/{kind}"] = best(partial(_each, expert, hidden), len(pixels))
            if task["name"] in embeddings:
                embeddings[task["name"]].append([expert(part)[0] for part in hidden])
    for name, parts in embeddings.items():
        joined = [torch.cat(each, dim=-1) for each in zip(*parts, strict=True)]
        fusion = model.fusion[name]
        seconds[f"fusion/{name}"] = best(partial(_each, fusion, joined), len(pixels))
    if model.arbiter is not None:
        pictures = Pictures(images.faces)
        escalated = [pictures[row] for row in range(min(tile, len(images)))]
        arbiter, task = model.arbiter, model.config.tasks[0]
        seconds["arbiter"] = _seconds(model, lambda: arbiter.answer(escalated, task)) / len(escalated)
    return seconds


def _each(run: Callable[[torch.Tensor], Any], tiles: list[torch.Tensor]) -> list[Any]:
    return [run(tile) for tile in tiles]


def _seconds(model: AresModel, run: Callable[[], Any]) -> float:
    _wait(model)
    start = time.perf_counter()
    run()
    _wait(model)
    return time.perf_counter() - start


def _wait(model: AresModel) -> None:
    if model.device.type == "cuda":
        torch.cuda.synchronize(model.device)
