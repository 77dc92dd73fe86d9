"""ARES on a GPU, with the paper's backbones and random weights: speed of answering; and images by a unified model.

    make bench-gpu
    python -m tests.benchmarks.gpu --compile                 with torch.compile
    python -m tests.benchmarks.gpu --device cpu --tiny       the same program in seconds; its figures mean nothing

Ends with exit code 3 without a GPU. Shares on the fast path are those of `bench_ares`. Peak throughput is that of a
product of two bfloat16 matrices in the same run. The unified model is Janus in the size of Janus-Pro-1B; beside its
time stands what `fairspace run --dry-run` plans for an A100.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.benchmarks.bench_ares import PAPER, SHARES, SIDE, ours, report, threshold, with_random_routers, write_images

if TYPE_CHECKING:
    import torch

    from fairspace.ares.modeling_ares import AresModel
    from fairspace.ares.training.config import TrainingConfig

NO_GPU = 3
JANUS_PRO_1B = {"hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 24, "num_attention_heads": 16}


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


def drawing(device: str, folder: Path, tiny: bool) -> None:
    """Seconds per image of a unified model, batches filled."""
    from fairspace.builders.engine.tools import ImagePrompt
    from fairspace.submissions.running.images.models import open_image_model
    from fairspace.submissions.running.planning import GPU, PlanLine, local, size_of
    from tests.submissions.probing.tiny_models import janus

    named = f"transformers:{janus(folder) if tiny else janus(folder, 384, **JANUS_PRO_1B)}?batch={GPU.rows}"
    model, prompts = (
        open_image_model(named, device=device),
        [ImagePrompt("a nurse at work", n) for n in range(GPU.rows)],
    )
    model.make(prompts[:1])
    made = []
    seconds = synchronised(lambda: made.extend(model.make(prompts)), device) / len(prompts)
    wrong = [each.reason for each in made if each.fate != "answered"]
    if wrong:
        raise RuntimeError(f"{len(wrong)} images failed: {wrong[0]}")
    size = size_of(named)
    planned = local(PlanLine("images", named, True, 1, 1, 1, 1), size, GPU, named) if size else float("nan")
    report(f"images by a unified model, batches of {GPU.rows}", seconds, f"planned for an A100: {planned:.3f} s")


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

    batch, images = (4, 4) if asked.tiny else (64, 512)
    config = configuration(asked.tiny, batch if asked.tiny else 256)
    name = torch.cuda.get_device_name(asked.device) if asked.device.startswith("cuda") else asked.device
    print(f"{name}, torch {torch.__version__}, {'compiled, ' * asked.compile}bfloat16, {config.name} backbones")
    torch.manual_seed(0)
    tasks = [task.entry() for task in config.tasks]
    model = with_random_routers(untrained(config, tasks, {})).to(asked.device)
    model = model.to(torch.bfloat16).eval()
    model.config.tile = batch
    pixels = torch.rand(4 * batch, 3, config.image_size, config.image_size).to(asked.device, torch.bfloat16)
    with tempfile.TemporaryDirectory() as scratch, torch.inference_mode():
        answering(model, pixels, write_images(Path(scratch), images), batch, asked.compile)
        drawing(asked.device, Path(scratch) / "janus", asked.tiny)
