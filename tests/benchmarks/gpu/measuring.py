"""ARES on a GPU, with the paper's backbones and random weights: speed of answering and training.

    make bench-gpu
    python -m tests.benchmarks.gpu --compile                 with torch.compile
    python -m tests.benchmarks.gpu --device cpu --tiny       the same program in seconds; its figures mean nothing

Ends with exit code 3 without a GPU. Shares on the fast path are those of `bench_ares`. Peak throughput is that of a
product of two bfloat16 matrices in the same run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.bench_ares import PAPER, SHARES, SIDE, ours, report, threshold, with_random_routers, write_images

if TYPE_CHECKING:
    import torch

    from fairspace.ares.modeling_ares import AresModel
    from fairspace.ares.training.config import TrainingConfig

NO_GPU = 3


def configuration(tiny: bool, batch: int) -> TrainingConfig:
    from fairspace.ares.training.config import CONFIGS, TrainingConfig

    file = CONFIGS / ("tiny.toml" if tiny else "paper.toml")
    raw = tomllib.loads(file.read_text(encoding="utf-8"))
    for upstream in (*raw["experts"].values(), raw["fast"]):
        upstream.pop("source", None)
        upstream.pop("revision", None)
        upstream["batch"] = batch
    return TrainingConfig.model_validate({**raw, "precision": "bf16", "tile": batch})


def answering(model: AresModel, pixels: torch.Tensor, files: Sequence[Path], batch: int, compiled: bool) -> None:
    """Images per second from pixels on the device and from files, share of the peak, latency of single files."""
    import torch

    from fairspace.ares.image_processing_ares import AresImageProcessor

    device = str(model.device)
    peak = matrix_throughput(device)
    print(f"bare product of matrices: {peak / 1e12:.3g} TFLOP/s")
    operations = {}
    for name, share in SHARES.items():
        model.config.fast_confidence = threshold(model, pixels, share)
        operations[name] = counted(lambda: model.decide(pixels)) / len(pixels)
    if compiled:
        for part in (*model.stems.values(), *model.experts.values(), model.fast):
            part.compile()
    for name, share in SHARES.items():
        model.config.fast_confidence = threshold(model, pixels, share)
        model.decide(pixels)
        seconds = min(synchronised(lambda: model.decide(pixels), device) for _ in range(5)) / len(pixels)
        each = operations[name]
        beside = f"{each / 1e9:.3g} GFLOP per image, {each / seconds / peak:.1%} of the bare product"
        report(f"pixels on the device, batches of {batch}; fast path for {share:.0%} ({name})", seconds, beside)
    processor = AresImageProcessor(image_size=model.config.image_size)
    ours(model, processor, list(files[:2]), workers=8)
    seconds = synchronised(partial(ours, model, processor, list(files), workers=8), device) / len(files)
    report(f"{len(files)} files of {SIDE} x {SIDE}; fast path for {SHARES['Random-200']:.0%}", seconds, PAPER)
    model.config.tile = 1
    for name, share in SHARES.items():
        model.config.fast_confidence = threshold(model, pixels[:64], share)
        ours(model, processor, list(files[:1]))
        times = [synchronised(partial(ours, model, processor, [file]), device) for file in files]
        p50, p95 = (1000 * np.quantile(times, q) for q in (0.5, 0.95))
        print(f"single files; fast path for {share:.0%} ({name}): p50 {p50:.1f} ms, p95 {p95:.1f} ms; {PAPER}")
    if device.startswith("cuda"):
        print(f"peak memory {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB")


class Noise:
    def __init__(self, rows: int, config: TrainingConfig) -> None:
        import torch

        self.size = config.image_size
        self.images = torch.randint(0, 256, (rows, 3, self.size, self.size), dtype=torch.uint8)
        random = np.random.RandomState(0)
        self.labels = {task.name: random.randint(0, len(task.entry()["labels"]), rows) for task in config.tasks}

    def part(self, part: str, task: str) -> Noise:
        return self

    def batches(self, order: Sequence[NDArray[np.intp]], workers: int) -> Iterator[torch.Tensor]:
        for rows in order:
            yield self.images[rows]


def training(config: TrainingConfig, model: AresModel, steps: int, device: str) -> None:
    """Steps per second of each kind of expert: augmentation, frozen stem, tail, focal loss or cross-entropy, AdamW."""
    import torch

    from fairspace.ares.training.experts import expert_stage
    from fairspace.ares.training.loop import Run, make_optimiser, train_epoch

    run = Run(torch.device(device), Path(), 0, 0, lambda event: None, config.precision)
    task = config.tasks[0].entry()
    for kind, settings in config.experts.items():
        data: Any = Noise(steps * settings.batch, config)
        stage = expert_stage(model, kind, task, config, data, run, None, with_stem=False)
        optimiser, scheduler = make_optimiser(stage)
        train_epoch(stage, run, 0, optimiser, scheduler)
        seconds = synchronised(partial(train_epoch, stage, run, 1, optimiser, scheduler), device)
        speed = steps / seconds
        images = speed * settings.batch
        what = f"training {kind}, {config.precision}, batches of {settings.batch}"
        print(f"{what:<64}{speed:8.2f} steps/s {images:10.1f} images/s", flush=True)


def matrix_throughput(device: str) -> float:
    import torch

    size = 8192 if device.startswith("cuda") else 512
    one = torch.randn(size, size, device=device, dtype=torch.bfloat16)
    synchronised(lambda: one @ one, device)
    return 2 * size**3 / min(synchronised(lambda: one @ one, device) for _ in range(10))


def counted(run: Callable[[], Any]) -> int:
    """Floating-point operations of matrix products and convolutions in a run."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        run()
    return int(counter.get_total_flops())


def synchronised(run: Callable[[], Any], device: str) -> float:
    import torch

    def finished() -> float:
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        return time.perf_counter()

    start = finished()
    run()
    return finished() - start


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make bench-gpu", description="How fast ARES is on a GPU.")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="the tiny model and few images: to try this program")
    parser.add_argument("--compile", action="store_true", help="torch.compile")
    asked = parser.parse_args(words)
    import torch

    if asked.device.startswith("cuda") and not torch.cuda.is_available():
        print("no GPU: torch sees none here. Nothing was measured. `--device cpu --tiny` tries the program.")
        sys.exit(NO_GPU)
    from fairspace.ares.training.stages import untrained

    batch, images, steps = (4, 4, 2) if asked.tiny else (64, 512, 20)
    config = configuration(asked.tiny, batch if asked.tiny else 256)
    name = torch.cuda.get_device_name(asked.device) if asked.device.startswith("cuda") else asked.device
    print(f"{name}, torch {torch.__version__}, {'compiled, ' * asked.compile}bfloat16, {config.name} backbones")
    torch.manual_seed(0)
    tasks = [task.entry() for task in config.tasks]
    model = with_random_routers(untrained(config, tasks, {})).to(asked.device)
    training(config, model, steps, asked.device)
    model = model.to(torch.bfloat16).eval()
    model.config.tile = batch
    pixels = torch.rand(4 * batch, 3, config.image_size, config.image_size).to(asked.device, torch.bfloat16)
    with tempfile.TemporaryDirectory() as scratch, torch.inference_mode():
        answering(model, pixels, write_images(Path(scratch), images), batch, asked.compile)
