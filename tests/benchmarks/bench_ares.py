"""ARES with the paper's backbone sizes and random weights: routed and batched, beside one image at a time.

The plain flow is the authors': each file is opened three times, each backbone runs once per task, one image at a time.
Both flows must give the same labels; neither asks a vision-language model. Random weights never make a router sure, so
a threshold sets the shares on the fast path: none, and those implied by Tables 11 and 12, (V - R) / (V - S) = 0.21
(Selected-300) and 0.47 (Random-200), with seconds V if all experts vote, S with one expert, R with routing.

    python -m tests.benchmarks.bench_ares     two threads of a CPU; `tests.benchmarks.gpu` is for a GPU
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.benchmarks.record import keep
from tests.benchmarks.timing import peak_gib
from tests.tiny_ares import random_router

if TYPE_CHECKING:
    import torch

    from fairspace.ares.image_processing_ares import AresImageProcessor
    from fairspace.ares.modeling_ares import AresModel

IMAGES, SIDE, DRAWINGS = 32, 1024, 8
TILE = 4
"""Images per pass on a CPU; larger passes gain nothing and waste places."""
TURN = 4
PLAIN = ("float32", "plain")
SHARES = {"none": 0.0, "Selected-300": 0.21, "Random-200": 0.47}
PAPER = "the paper: 0.185 to 0.223 s per image"


def write_images(folder: Path, count: int) -> list[Path]:
    """JPEG files of 1024 x 1024 pixels, as image generators make them, of drawn faces."""
    from fairspace.builders.drawn.swatches import draw_face
    from fairspace.builders.iris.groups import GROUPS

    for number in range(min(count, DRAWINGS)):
        gender, age, skin_tone = GROUPS[number * 2].split("_")
        draw_face(gender, age, skin_tone, number, size=SIDE).save(folder / f"{number:04}.jpg", quality=92)
    for number in range(DRAWINGS, count):
        from PIL import Image

        shift = number // DRAWINGS * 16
        with Image.open(folder / f"{number % DRAWINGS:04}.jpg") as image:
            image.crop((shift, 0, SIDE, SIDE - shift)).save(folder / f"{number:04}.jpg", quality=92)
    return sorted(folder.iterdir())


def with_random_routers(model: AresModel) -> AresModel:
    random = np.random.RandomState(0)
    for task in model.config.tasks:
        kinds = len(model.config.kinds)
        model.escalation[task["name"]] = random_router(random, len(task["labels"]), kinds, trees=50)
    return model.eval()


def read(processor: AresImageProcessor, files: list[Path]) -> torch.Tensor:
    prepared = [processor.prepare(file).pixels for file in files]
    return processor.tensor([pixels for pixels in prepared if pixels is not None])


def plain(model: AresModel, processor: AresImageProcessor, files: list[Path]) -> list[list[int]]:
    import torch

    from fairspace.ares.deciding_ares import Observed

    labels = []
    with torch.inference_mode():
        for file in files:
            model.fast(read(processor, [file]))
            seen = {}
            for task in model.config.tasks:
                pixels, chances, embeddings = read(processor, [file]), [], []
                for kind in model.config.kinds:
                    embedding, logits = model.expert(task["name"], kind)(model.stems[kind](pixels))
                    chances.append(logits.float().softmax(-1).double().cpu().numpy())
                    embeddings.append(embedding)
                never, value = np.full((1, len(model.config.kinds)), np.nan), np.full(1, np.nan)
                if task["name"] in model.fusion:
                    joined = torch.cat(embeddings, dim=-1)
                    value = model.fusion[task["name"]](joined).float().double().cpu().numpy()
                seen[task["name"]] = Observed(
                    never, np.stack(chances, axis=1), value, np.zeros((len(value), 0))
                ).rounded()
            labels.append([int(found.label[0]) for found in model.route(seen).values()])
    return labels


def ours(model: AresModel, processor: AresImageProcessor, files: list[Path], workers: int = 0) -> list[list[int]]:
    from fairspace.ares.classifying_ares import classify

    found = []
    for (answer,) in classify(model, files, processor=processor, batch=64, workers=workers):
        row = []
        for task in model.config.tasks:
            names = [
                all(answer.labels[attribute] == labels[n] for attribute, labels in task["attributes"].items())
                for n in range(len(task["labels"]))
            ]
            row.append(names.index(True))
        found.append(row)
    return found


def threshold(model: AresModel, pixels: torch.Tensor, share: float) -> float:
    """Confidence above which this share of images and tasks takes the fast path."""
    import torch

    if not share:
        return 1.0
    before, model.config.fast_confidence = model.config.fast_confidence, 0.0
    with torch.inference_mode():
        chances = model._fast(pixels, "full", False, model.config.tile)
    model.config.fast_confidence = before
    return float(np.quantile(np.concatenate([each.max(axis=1) for each in chances.values()]), 1 - share))


def timed(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds, seconds of all processors, and the result."""
    start, used = time.perf_counter(), time.process_time()
    found = run()
    return time.perf_counter() - start, time.process_time() - used, found


def report(what: str, seconds: float, beside: str = "") -> None:
    print(f"{what:<64}{seconds:8.3f} s per image {1 / seconds:8.2f} images/s  {beside}", flush=True)


def on_cpu(count: int, threads: int, settings: dict[str, Any]) -> None:
    """The plain flow and ours in turns, so that other load slows both alike. Error if float32 gives other labels."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # else waiting counts as work, most of all in the plain flow
    import torch

    from fairspace.ares.configuration_ares import AresConfig
    from fairspace.ares.image_processing_ares import AresImageProcessor
    from fairspace.ares.modeling_ares import AresModel

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    model = with_random_routers(AresModel(AresConfig(**settings)))
    processor = AresImageProcessor(image_size=model.config.image_size)
    low = {name: deepcopy(model).to(dtype=getattr(torch, name)) for name in ("float32", "bfloat16")}
    model.config.fast_confidence = 1.0
    with tempfile.TemporaryDirectory() as scratch:
        files = write_images(Path(scratch), count)
        pixels = read(processor, files)
        thresholds = {
            (kind, name): threshold(low[kind], pixels.to(low[kind].dtype), share)
            for kind in ("float32", "bfloat16")
            for name, share in SHARES.items()
            if kind == "bfloat16" or not share
        }
        took = {way: [0.0, 0.0] for way in (PLAIN, *thresholds)}
        labels: dict[tuple[str, str], list[list[int]]] = {way: [] for way in took}
        ours(low["float32"], processor, files[:1])
        plain(model, processor, files[:1])
        for start in range(0, count, TURN):
            turn = files[start : start + TURN]
            for way, spent in took.items():
                if way != PLAIN:
                    low[way[0]].config.fast_confidence = thresholds[way]
                run = partial(plain, model) if way == PLAIN else partial(ours, low[way[0]], workers=1)
                seconds, work, found = timed(partial(run, processor=processor, files=turn))
                spent[0], spent[1] = spent[0] + seconds, spent[1] + work
                labels[way] += found
    plainly, worked = took[PLAIN]
    report("float32: one at a time, six backbone passes, three readings", plainly / count, PAPER)
    for (kind, name), (seconds, work) in took.items():
        if (kind, name) != PLAIN:
            beside = f"{plainly / seconds:5.2f} times the plain flow; {worked / work:5.2f} by processor time"
            if not SHARES[name]:
                same = float(np.mean(np.array(labels[kind, name]) == np.array(labels[PLAIN])))
                beside += f"; {same:.1%} of its labels"
                if kind == "float32" and same < 0.98:
                    sys.exit(f"only {same:.1%} of the labels are those of the plain flow")
            keep(f"{kind}, {name}, beside one image at a time", beside)
            report(f"{kind}: fast path for {SHARES[name]:.0%} ({name})", seconds / count, beside)
    print(f"peak memory {peak_gib():.2f} GiB")


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast ARES is.")
    parser.add_argument("--images", type=int, default=IMAGES)
    parser.add_argument("--threads", type=int, default=2, help="of torch")
    asked = parser.parse_args()
    on_cpu(asked.images, asked.threads, {"tile": TILE})


if __name__ == "__main__":
    main()
