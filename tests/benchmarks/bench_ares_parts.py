"""How long ARES takes on this machine: its configurations as they run, and its parts, from prepared pixels to labels.

python -m tests.benchmarks.bench_ares_parts MODEL [DATA]     the best of three runs
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fairspace.ares.modeling_ares import AresModel

IMAGES, BATCH = 32, 16


def configurations(model: AresModel, pixels: Any) -> Iterator[str]:
    """Seconds per image of every row of Tables 11 and 12 that needs no vision-language model."""
    from fairspace.ares.deciding_ares import ABLATIONS, SINGLE
    from fairspace.ares.evaluating.evaluate import configured

    for row, mode in ABLATIONS.items():
        if mode == "l2" or (mode in SINGLE and mode not in model.config.kinds):
            continue
        with configured(model, ablation=mode):
            together = best(partial(each, model.decide, pixels.split(BATCH)), model) / len(pixels)
            alone = [best(partial(model.decide, pixels[row : row + 1]), model, 1) for row in range(len(pixels))]
        p50, p95 = np.quantile(alone, (0.5, 0.95))
        yield f"{row:6}{together:.4f} s per image by {BATCH}; alone p50 {p50:.4f}, p95 {p95:.4f}"


def parts(model: AresModel, pixels: Any) -> Iterator[str]:
    """Seconds per image of every part, in full tiles."""
    tiles = pixels.split(model.config.tile)
    yield f"router                       {best(partial(each, model.fast, tiles), model) / len(pixels):.5f}"
    for kind in model.config.kinds:
        stem = model.stems[kind]
        yield f"stem/{kind:24}{best(partial(each, stem, tiles), model) / len(pixels):.5f}"
        hidden = each(stem, tiles)
        for task in model.config.tasks:
            run = partial(each, model.expert(task["name"], kind), hidden)
            yield f"expert/{task['name'] + '/' + kind:22}{best(run, model) / len(pixels):.5f}"


def each(run: Callable[[Any], Any], tiles: Any) -> list[Any]:
    """What a part gives for each tile."""
    return [run(tile) for tile in tiles]


def best(run: Callable[[], Any], model: AresModel, runs: int = 3) -> float:
    """The least seconds of some runs."""
    import torch

    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        if model.device.type == "cuda":
            torch.cuda.synchronize(model.device)
        times.append(time.perf_counter() - start)
    return min(times)


def main(folder: str, data: str = "drawn:60") -> None:
    """Print the figures."""
    import torch

    from fairspace.ares.evaluating.data import open_test
    from fairspace.ares.evaluating.evaluate import open_model

    model = open_model(Path(folder)).to("cuda" if torch.cuda.is_available() else "cpu")
    with tempfile.TemporaryDirectory() as work, torch.inference_mode():
        images = open_test(data, model.config.tasks, model.config.image_size, 0, Path(work)).sets[0]
        pixels = images.pixels(np.arange(min(IMAGES, len(images))), model.device)
        model.decide(pixels[:BATCH])
        print(*configurations(model, pixels), *parts(model, pixels), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
