"""Variants of an image, the loop of a training stage, and what routers learn from."""

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

from fairspace.ares.routing_ares import FastRouter
from fairspace.ares.training.config import Augmentation, Schedule
from fairspace.ares.training.data import DrawnFaces
from fairspace.ares.training.experts import predictions
from fairspace.ares.training.loop import Event, TrainingRun, TrainingStage, augmented, drawn, fit, image_seed
from fairspace.ares.training.routers import Routed
from tests.ares.quick import FAST


def images(n: int) -> torch.Tensor:
    return torch.rand(n, 3, 32, 32, generator=torch.Generator().manual_seed(1))


ALL = Augmentation(scale=(0.3, 0.9), flip=0.5, brightness=0.3, contrast=0.3, saturation=0.3, hue=0.1)
NONE = Augmentation(scale=(1.0, 1.0), ratio=(1.0, 1.0))
DRAWS = drawn([image_seed("test", i) for i in range(6)])


def test_a_variant_does_not_depend_on_the_batch() -> None:
    whole = augmented(images(6), DRAWS, ALL)
    apart = torch.cat([augmented(images(6)[i : i + 1], DRAWS[i : i + 1], ALL) for i in range(6)])
    assert torch.equal(whole, apart)
    assert not torch.equal(whole, augmented(images(6), DRAWS.flip(0), ALL))


def test_without_amounts_an_image_stays_as_it_is() -> None:
    torch.testing.assert_close(augmented(images(6), DRAWS, NONE), images(6), atol=1e-5, rtol=0)


def test_a_crop_is_a_part_of_the_image() -> None:
    ramp = torch.linspace(0, 1, 32).expand(1, 3, 32, 32)
    seen = augmented(ramp, DRAWS[:1], Augmentation(scale=(0.25, 0.25), ratio=(1.0, 1.0)))
    span = float(seen.max() - seen.min())
    assert 0.4 < span < 0.55


def test_a_task_may_keep_its_colours() -> None:
    flat = torch.tensor([0.8, 0.5, 0.3]).view(1, 3, 1, 1).expand(1, 3, 32, 32)
    torch.testing.assert_close(augmented(flat, DRAWS[:1], ALL, 0.0), flat)
    assert not torch.allclose(augmented(flat, DRAWS[:1], ALL, 1.0), flat, atol=1e-3)


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


@pytest.fixture
def router() -> FastRouter:
    torch.manual_seed(0)
    return FastRouter(FAST, ["age", "tone"], 3)


def test_an_image_gives_the_same_in_every_batch_of_training(router: FastRouter) -> None:
    routed = Routed(router, ["age", "tone"], heads_only=False).train()
    before = {name: value.clone() for name, value in routed.named_buffers()}
    alone, among = routed(images(9)[:1]), routed(images(9))[:1]
    assert alone.shape == (1, 2, 3)
    torch.testing.assert_close(alone, among)
    assert all(torch.equal(value, before[name]) for name, value in routed.named_buffers())


def test_statistics_of_a_random_trunk_are_those_of_the_images(router: FastRouter) -> None:
    routed = Routed(router, ["age", "tone"], heads_only=False)
    seen: list[torch.Tensor] = []
    layer = next(each for each in router.modules() if isinstance(each, nn.BatchNorm2d))
    layer.register_forward_pre_hook(lambda module, given: seen.append(given[0]))
    momentum = layer.momentum
    routed.measure_statistics(images(9))
    assert layer.running_mean is not None
    assert layer.running_var is not None
    torch.testing.assert_close(layer.running_mean, seen[0].mean((0, 2, 3)))
    torch.testing.assert_close(layer.running_var, seen[0].var((0, 2, 3)))
    assert layer.momentum == momentum
    assert not layer.training


def test_heads_of_other_tasks_and_the_trunk_get_no_gradient(router: FastRouter) -> None:
    routed = Routed(router, ["tone"], heads_only=True).train()
    routed(images(2)).sum().backward()
    trained = {name for name, each in router.named_parameters() if each.grad is not None}
    assert trained == {"heads.tone.weight", "heads.tone.bias"}
    assert not router.trunk.training


def test_what_routers_learn_from_is_computed_in_float32(tmp_path: Path) -> None:
    """Steps are in bfloat16, yet the numbers are those of the module alone, to the bit."""
    run = TrainingRun(torch.device("cpu"), tmp_path, 0, 0, lambda event: None, "bf16")
    faces = DrawnFaces("test", 5, [], 16, 0)
    module = nn.Sequential(nn.Flatten(), nn.Linear(768, 4)).eval()
    out = predictions(module, faces, np.array([0, 3, 4]), 2, run)
    pixels = faces.pixels[[0, 3, 4]].float() / 255
    with torch.inference_mode():
        assert torch.equal(out, torch.cat([module(pixels[:2]), module(pixels[2:])]))
