from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from fairspace.ares.training.config import Schedule
from fairspace.ares.training.loop import Event, TrainingRun, TrainingStage, fit

ROWS = 23
X = torch.linspace(-1, 1, ROWS)[:, None]
Y = 3 * X.square().sum(1) + 1


class Seen(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records operations and the type of their first input."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: list[tuple[str, torch.dtype | None]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        first = args[0] if args and isinstance(args[0], torch.Tensor) else None
        self.seen.append((func.__name__, first.dtype if first is not None else None))
        return func(*args, **(kwargs or {}))


def trained(
    tmp_path: Path, *, precision: str = "no", clip: float = 1.0, steps: list[Seen] | None = None
) -> tuple[nn.Module, list[Event]]:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    run = TrainingRun(torch.device("cpu"), tmp_path, 0, 0, lambda event: None, precision)
    tmp_path.mkdir(exist_ok=True)

    def losses(step: nn.Module, batches: Sequence[NDArray[np.intp]], epoch: int) -> Iterator[torch.Tensor]:
        for batch in batches:
            rows = torch.as_tensor(batch)
            with nullcontext() if steps is None else Seen() as seen:
                with run.autocast():
                    loss = (step(X[rows]).squeeze(1).float() - Y[rows]).square().sum()
                yield loss  # the step is taken before this goes on
            if steps is not None and seen is not None:
                steps.append(seen)

    def score() -> dict[str, Any]:
        return {"score": [-float((module(X).squeeze(1) - Y).square().mean())]}

    schedule = Schedule(epochs=3, patience=3, batch=8, learning_rate=0.02, clip=clip)
    groups = [{"params": list(module.parameters()), "lr": 0.02}]
    return module, fit(TrainingStage("curve", module, groups, schedule, ROWS, losses, score), run)


def test_the_loss_of_an_epoch_is_the_mean_over_its_images(tmp_path: Path) -> None:
    """At learning rate 0 it is the mean over all rows, though the last batch is smaller."""
    module, epochs = trained(tmp_path)
    assert [event["epoch"] for event in epochs] == [0, 1, 2]
    assert epochs[2]["loss"] < epochs[0]["loss"]
    assert epochs[-1]["score"][0] == pytest.approx(
        -float((module(X).squeeze(1) - Y).square().mean().detach()), rel=1e-5
    )


def test_gradients_are_clipped_as_the_schedule_says(tmp_path: Path) -> None:
    """Adam forgets a factor of all its gradients, but not one that differs from step to step."""
    losses = {clip: trained(tmp_path / str(clip), clip=clip)[1][-1]["loss"] for clip in (0.0, 1e9, 1.0)}
    assert losses[0.0] == losses[1e9]
    assert losses[1.0] != losses[0.0]


def test_bfloat16_is_for_steps_alone(tmp_path: Path) -> None:
    steps: list[Seen] = []
    module, epochs = trained(tmp_path / "low", precision="bf16", steps=steps)
    products = {kind for step in steps for name, kind in step.seen if name.startswith(("addmm", "mm"))}
    assert products == {torch.bfloat16}
    assert {parameter.dtype for parameter in module.parameters()} == {torch.float32}
    _, exact = trained(tmp_path / "exact")
    assert epochs[-1]["loss"] == pytest.approx(exact[-1]["loss"], rel=0.05)
    assert epochs[-1]["loss"] != exact[-1]["loss"]
    with torch.inference_mode():
        assert epochs[-1]["score"] == [-float((module(X).squeeze(1) - Y).square().mean())]
