"""ARES with the paper's backbone sizes and random weights: routed and batched, beside one image at a time.

The plain flow is that of the authors' own program: it opens each file three times (for the router and for each task),
and runs every backbone once per task, so six passes with one image in each. It has our reader and our modules, so both
give the same labels (this is checked), and the difference is in how they are run. Neither asks a vision-language
model, which would have the same work in both.

With random weights no router is ever sure. The shares on the fast path are therefore set, by the threshold that lets
so many of these images pass: none; and the shares that the paper's own timings imply. Where all experts vote an image
takes V seconds, with one expert S on average, and with routing R (E4, the mean of E1 to E3, and E6 of Tables 11 and
12); the share (V - R) / (V - S) is 0.21 on Selected-300 and 0.47 on Random-200.

    python -m tests.benchmarks.bench_ares                  two threads of a CPU
    python -m tests.benchmarks.bench_ares --device cuda    a GPU
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.benchmarks.timing import peak_gib

if TYPE_CHECKING:
    import torch

    from fairspace.ares.image_processing_ares import AresImageProcessor
    from fairspace.ares.modeling_ares import AresModel

IMAGES, SIDE, DRAWINGS = 32, 1024, 8
TILE = 4
"""Images per pass on a CPU. More bring nothing there, and leave more places unused where few images need an expert."""
LEAST = 3.0
"""How often the plain flow's images per second we promise, at the share of Random-200."""
SHARES = {"none": 0.0, "Selected-300": 0.21, "Random-200": 0.47}
PAPER = "the paper: 0.185 to 0.223 s per image"


def write_images(folder: Path, count: int) -> list[Path]:
    """JPEG files of 1024 x 1024 pixels, as image generators make them, of drawn faces."""
    from fairspace.builders.drawn.drawing import draw_face
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


def random_ares(**settings: Any) -> AresModel:
    """ARES of the paper's size with random weights and random escalation routers."""
    import torch
    import xgboost

    from fairspace.ares.configuration_ares import AresConfig
    from fairspace.ares.modeling_ares import AresModel
    from fairspace.ares.routing_ares import EscalationRouter, meta_features

    torch.manual_seed(0)
    model = AresModel(AresConfig(**settings)).eval()
    random = np.random.RandomState(0)
    for task in model.config.tasks:
        chances = random.dirichlet(np.ones(len(task["labels"])), size=(200, 3))
        matrix = xgboost.DMatrix(meta_features(chances), label=random.randint(0, 2, 200))
        booster = xgboost.train({"max_depth": 3, "objective": "binary:logistic", "nthread": 1}, matrix, 50)
        model.escalation[task["name"]] = EscalationRouter(booster)
    return model


def read(processor: AresImageProcessor, files: list[Path]) -> torch.Tensor:
    """The pixels of files that can be read."""
    prepared = [processor.prepare(file).pixels for file in files]
    return processor.tensor([pixels for pixels in prepared if pixels is not None])


def plain(model: AresModel, processor: AresImageProcessor, files: list[Path]) -> list[list[int]]:
    """One image at a time, every backbone once per task; the labels' numbers."""
    import torch

    from fairspace.ares.modeling_ares import Observed

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
                seen[task["name"]] = Observed(never, np.stack(chances, axis=1), value).rounded()
            labels.append([int(found.label[0]) for found in model.route(seen).values()])
    return labels


def ours(model: AresModel, processor: AresImageProcessor, files: list[Path], workers: int = 0) -> list[list[int]]:
    """Read once, batched, routed; the labels' numbers."""
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
    """The confidence above which this share of images and tasks takes the fast path."""
    import torch

    if not share:
        return 1.0
    before, model.config.fast_confidence = model.config.fast_confidence, 0.0
    with torch.inference_mode():
        chances = model._fast(pixels, "full", False, model.config.tile)
    model.config.fast_confidence = before
    return float(np.quantile(np.concatenate([each.max(axis=1) for each in chances.values()]), 1 - share))


def timed(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds, seconds of all processors, and what the run gave."""
    start, used = time.perf_counter(), time.process_time()
    found = run()
    return time.perf_counter() - start, time.process_time() - used, found


def report(what: str, seconds: float, beside: str = "") -> None:
    """Print seconds per image and images per second."""
    print(f"{what:<64}{seconds:8.3f} s per image {1 / seconds:8.2f} images/s  {beside}", flush=True)


def on_cpu(count: int, threads: int, settings: dict[str, Any]) -> None:
    """The plain flow and ours; exit with an error if the promised ratio is not reached."""
    import torch

    from fairspace.ares.image_processing_ares import AresImageProcessor

    torch.set_num_threads(threads)
    model = random_ares(**settings)
    processor = AresImageProcessor(image_size=model.config.image_size)
    low = deepcopy(model).to(torch.bfloat16)
    with tempfile.TemporaryDirectory() as scratch:
        files = write_images(Path(scratch), count)
        pixels = read(processor, files)
        ways = {"float32": model, "bfloat16": low}
        thresholds = {
            (kind, name): threshold(one, pixels.to(one.dtype), share)
            for kind, one in ways.items()
            for name, share in SHARES.items()
            if kind == "bfloat16" or not share
        }
        for one in ways.values():
            one.config.fast_confidence = 1.0
            ours(one, processor, files[:1])
        plain(model, processor, files[:1])
        seconds, work, expected = timed(partial(plain, model, processor, files))
        plainly = seconds / count
        report("float32: one at a time, six backbone passes, three readings", plainly, PAPER)
        reached = 0.0
        for kind, one in ways.items():
            for name, share in SHARES.items():
                if share and kind == "float32":
                    continue
                one.config.fast_confidence = thresholds[kind, name]
                seconds, used, found = timed(partial(ours, one, processor, files, workers=1))
                same = np.mean(np.array(found) == np.array(expected))
                times = plainly / (seconds / count)
                beside = f"{times:5.2f} times the plain flow; {work / used:5.2f} by processor time"
                if not share:
                    beside += f"; {same:.1%} of its labels"
                report(f"{kind}: batched; fast path for {share:.0%} ({name})", seconds / count, beside)
                if kind == "float32" and not share and same < 0.98:
                    sys.exit(f"only {same:.1%} of the labels are those of the plain flow")
                if name == "Random-200":
                    reached = max(reached, times)
    print(f"peak memory {peak_gib():.2f} GiB")
    if reached < LEAST:
        sys.exit(f"{reached:.2f} times the plain flow is less than {LEAST}")


def on_gpu(count: int, device: str, compiled: bool, batch: int, settings: dict[str, Any]) -> None:
    """Images per second, share of the matrix throughput, and latency of single images."""
    import torch

    from fairspace.ares.image_processing_ares import AresImageProcessor

    model = random_ares(**{"tile": batch, **settings}).to(device, torch.bfloat16)
    size = model.config.image_size
    print(f"{torch.cuda.get_device_name() if device.startswith('cuda') else device}, {'compiled, ' * compiled}bfloat16")
    pixels = torch.rand(4 * batch, 3, size, size, generator=torch.Generator().manual_seed(0))
    pixels = pixels.to(device, torch.bfloat16)
    peak = matrix_throughput(device)
    print(f"bare product of matrices: {peak / 1e12:.1f} TFLOP/s")
    operations = {}
    for share in SHARES.values():
        model.config.fast_confidence = threshold(model, pixels, share)
        operations[share] = counted(lambda: model.decide(pixels)) / len(pixels)
    if compiled:
        for part in (*model.stems.values(), *model.experts.values(), model.fast):
            part.compile()
    for share, each in operations.items():
        model.config.fast_confidence = threshold(model, pixels, share)
        model.decide(pixels)
        seconds = min(_synchronised(lambda: model.decide(pixels), device) for _ in range(5)) / len(pixels)
        beside = f"{each / 1e9:.0f} GFLOP per image, {each / seconds / peak:.1%} of the matrix throughput"
        report(f"pixels on the device, batches of {batch}; fast path for {share:.0%}", seconds, beside)
    processor = AresImageProcessor(image_size=size)
    with tempfile.TemporaryDirectory() as scratch:
        files = write_images(Path(scratch), count)
        ours(model, processor, files[:8], workers=8)
        seconds, _, _ = timed(partial(ours, model, processor, files, workers=8))
        report(f"{count} files of {SIDE} x {SIDE}, fast path for {SHARES['Random-200']:.0%}", seconds / count, PAPER)
        model.config.tile = 1
        for name, share in SHARES.items():
            model.config.fast_confidence = threshold(model, pixels[:64], share)
            for file in files[:3]:
                ours(model, processor, [file])
            times = [_synchronised(partial(ours, model, processor, [file]), device) for file in files]
            p50, p95 = (1000 * np.quantile(times, q) for q in (0.5, 0.95))
            print(f"single files, fast path for {share:.0%} ({name}): p50 {p50:.1f} ms, p95 {p95:.1f} ms", flush=True)


def matrix_throughput(device: str, size: int = 8192) -> float:
    """Operations per second of a bare product of two square bfloat16 matrices."""
    import torch

    size = size if device.startswith("cuda") else 1024
    one = torch.randn(size, size, device=device, dtype=torch.bfloat16)
    _synchronised(lambda: one @ one, device)
    return 2 * size**3 / min(_synchronised(lambda: one @ one, device) for _ in range(10))


def counted(run: Callable[[], Any]) -> int:
    """Floating-point operations of the products of matrices and convolutions in a run."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        run()
    return int(counter.get_total_flops())


def _synchronised(run: Callable[[], Any], device: str) -> float:
    import torch

    def finished() -> float:
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        return time.perf_counter()

    start = finished()
    run()
    return finished() - start


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="How fast ARES is.")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda for the benchmark of a GPU")
    parser.add_argument("--images", type=int, default=0, help=f"how many; {IMAGES} on a CPU, 512 on a GPU")
    parser.add_argument("--threads", type=int, default=2, help="of torch, on a CPU")
    parser.add_argument("--batch", type=int, default=64, help="images per pass, on a GPU")
    parser.add_argument("--compile", action="store_true", help="torch.compile, on a GPU")
    asked = parser.parse_args()
    if asked.device == "cpu":
        on_cpu(asked.images or IMAGES, asked.threads, {"tile": TILE})
    else:
        on_gpu(asked.images or 512, asked.device, asked.compile, asked.batch, {})


if __name__ == "__main__":
    main()
