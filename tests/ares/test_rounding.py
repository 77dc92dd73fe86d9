"""Kernel noise, which depends on an image's place in a pass, changes no label, route, count or stored number."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fairspace.ares.deciding_ares import Observed
from fairspace.ares.evaluating.evaluate import EVALUATION, configured, evaluate
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.rounding_ares import NOISE, STEP, near_the_middle, rounded
from fairspace.ares.training.data import DrawnFaces
from tests.ares.released import FACES, evaluation, released

IMAGES = 80
MODES = ("full", "vote", "no_fusion", "clip")


def noisy(output: Any) -> Any:
    """Outputs that grow by 3e-8 of their size with each place in the pass."""
    if isinstance(output, Mapping):
        return {name: noisy(values) for name, values in output.items()}
    if isinstance(output, tuple):
        return tuple(noisy(values) for values in output)
    place = torch.arange(len(output), dtype=torch.float64).view(-1, *[1] * (output.dim() - 1))
    return (output.double() * (1 + 3e-8 * place)).to(output.dtype)


@contextmanager
def noise(model: AresModel) -> Iterator[None]:
    """Kernels whose results depend on a row's place, in experts, routers and regressors."""
    modules = [model.fast, *model.stems.values(), *model.experts.values(), *model.fusion.values()]
    hooks = [module.register_forward_hook(lambda module, given, output: noisy(output)) for module in modules]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@pytest.fixture(scope="module")
def model(tiny_ares: Path) -> AresModel:
    return AresModel.from_pretrained(tiny_ares).eval()


@pytest.fixture(scope="module")
def pixels(model: AresModel) -> torch.Tensor:
    return DrawnFaces("test", IMAGES, model.config.tasks, model.config.image_size, 0).pixels.float() / 255


def stored(model: AresModel, pixels: torch.Tensor) -> list[Any]:
    """Every stored output in every mode; the first mode as `decide` gives it."""
    answers = model.answers(model.decide(pixels))
    seen = model.observe(pixels, everything=True)
    for mode in MODES[1:]:
        with configured(model, ablation=mode):
            answers += model.answers(model.route(seen))
    return answers


def test_noise_by_place_changes_no_label_route_count_or_stored_number(model: AresModel, pixels: torch.Tensor) -> None:
    quiet = stored(model, pixels)
    raw = model._observe(pixels, True, model.config.tile)
    with noise(model):
        moved = model._observe(pixels, True, model.config.tile)
        turned = stored(model, pixels.flip(0))
    for mode in range(len(MODES)):
        part = slice(mode * IMAGES, (mode + 1) * IMAGES)
        assert turned[part][::-1] == quiet[part]
        for task in ("age_gender", "skin_tone"):
            counts = [Counter(answer.routes[task] for answer in answers[part]) for answers in (quiet, turned)]
            assert counts[0] == counts[1]
    pairs = [(raw[name].numbers, moved[name].numbers) for name in raw]
    shift = np.concatenate([np.abs(before - after).ravel() for before, after in pairs])
    assert np.nanmean(shift > 0) > 0.5  # the noise is there,
    assert np.nanmax(shift) < NOISE
    near = np.any([near_the_middle(before).any(axis=1) for before, _ in pairs], axis=0)
    assert 0 < near.mean() < 0.3  # and few images are observed twice


def test_an_image_with_a_number_near_the_middle_is_observed_alone(
    model: AresModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    middle, passes = 700.5 * STEP, []

    def observe(pixels: torch.Tensor, everything: bool, tile: int) -> dict[str, Observed]:
        """The first image lies at the middle, above it in company and below it alone; the second one does not."""
        passes.append((len(pixels), tile))
        numbers = np.array([middle + (1e-7 if len(pixels) > 1 else -1e-7), middle + 0.3 * STEP])[: len(pixels)]
        return {
            "task": Observed(
                numbers[:, None], numbers[:, None, None], np.full(len(pixels), np.nan), np.zeros((len(pixels), 0))
            )
        }

    monkeypatch.setattr(model, "_observe", observe)
    seen = model.observe(torch.zeros(2, 3, 8, 8))["task"]
    assert passes == [(2, model.config.tile), (1, 1)]
    assert seen.fast.ravel().tolist() == seen.probabilities.ravel().tolist() == [700 * STEP, 701 * STEP]


@pytest.mark.slow
def test_an_evaluation_with_noise_is_that_without_at_another_batch_size(
    model: AresModel, tiny_ares: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, quiet = released(tiny_ares, tmp_path), (evaluation(tiny_ares) / EVALUATION).read_text("utf-8")
    observe = AresModel._observe

    def observe_with_noise(self: AresModel, *args: Any) -> Any:
        with noise(self):
            return observe(self, *args)

    monkeypatch.setattr(AresModel, "_observe", observe_with_noise)
    evaluate(copy, f"drawn:{FACES}", tmp_path, batch=7, device="cpu")
    assert (tmp_path / EVALUATION).read_text("utf-8") == quiet


def test_rounding_is_to_the_nearest_multiple_and_adds_without_error() -> None:
    values = np.random.default_rng(0).random((1000, 6)) * 2
    steps = rounded(values)
    assert np.abs(steps - values).max() <= STEP / 2
    assert np.array_equal(steps / STEP, np.round(steps / STEP))
    assert np.array_equal(steps.sum(axis=1), steps[:, ::-1].sum(axis=1))
    assert np.isnan(rounded(np.array([np.nan])))[0]
    assert rounded(np.array([0.5], np.float32)).dtype == np.float64


@pytest.mark.parametrize("step", [0, 1, 700, 4095])
def test_a_number_is_near_the_middle_within_the_noise(step: int) -> None:
    middle = (step + 0.5) * STEP
    inside, outside = NOISE * 0.99, NOISE * 1.01
    near = near_the_middle(np.array([middle, middle - inside, middle + inside, middle - outside, middle + outside]))
    assert near.tolist() == [True, True, True, False, False]
    assert not near_the_middle(np.array([step * STEP, np.nan])).any()
