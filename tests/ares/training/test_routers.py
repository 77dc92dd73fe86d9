from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from fairspace.ares.routing_ares import FastRouter
from fairspace.ares.training.data import DrawnFaces
from fairspace.ares.training.experts import predictions
from fairspace.ares.training.loop import TrainingRun
from fairspace.ares.training.routers import Routed

CONFIG = {
    "image_size": 32,
    "width_coefficient": 0.5,
    "hidden_dim": 640,
    "in_channels": [32, 16],
    "out_channels": [16, 24],
    "kernel_sizes": [3, 3],
    "strides": [2, 2],
    "num_block_repeats": [1, 1],
    "expand_ratios": [1, 2],
}


@pytest.fixture
def router() -> FastRouter:
    torch.manual_seed(0)
    return FastRouter(CONFIG, ["age", "tone"], 3)


def images(n: int) -> torch.Tensor:
    return torch.rand(n, 3, 32, 32, generator=torch.Generator().manual_seed(1))


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
