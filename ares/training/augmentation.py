"""Random resized crops, flips and colour jitter of training images (IRIS, B.2), as one batch on any device.

What happens to an image follows from its own seed, so neither the batch that it is in nor the number of workers
matters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import torch

from fairspace.ares.training.settings import Augmentation

_GREY = (0.299, 0.587, 0.114)
_YIQ = ((0.299, 0.587, 0.114), (0.5959, -0.2746, -0.3213), (0.2115, -0.5227, 0.3112))


def image_seed(*key: str | int) -> int:
    """A seed of 32 bits that depends on the key alone."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, key)).encode()).digest()[:4], "little")


def augmented(pixels: torch.Tensor, seeds: Sequence[int], amounts: Augmentation, colour: float = 1.0) -> torch.Tensor:
    """A variant of each image.

    Args:
        pixels: (n, 3, s, s) in [0, 1].
        seeds: one per image.
        amounts: how far a variant may go.
        colour: share of the colour jitter that is applied.

    Returns:
        (n, 3, s, s) in [0, 1].
    """
    drawn = np.stack([np.random.RandomState(seed).random_sample(9) for seed in seeds])
    return _jittered(_cropped(pixels, drawn, amounts), drawn[:, 5:], amounts, colour)


def _cropped(pixels: torch.Tensor, drawn: np.typing.NDArray[np.float64], amounts: Augmentation) -> torch.Tensor:
    """A part of the image, enlarged to the whole: area, aspect, place and mirroring from the first five draws."""
    area = amounts.scale[0] + drawn[:, 0] * (amounts.scale[1] - amounts.scale[0])
    low, high = np.log(amounts.ratio)
    aspect = np.exp(low + drawn[:, 1] * (high - low))
    wide, high_ = np.minimum(np.sqrt(area * aspect), 1.0), np.minimum(np.sqrt(area / aspect), 1.0)
    x, y = (2 * drawn[:, 2] - 1) * (1 - wide), (2 * drawn[:, 3] - 1) * (1 - high_)
    mirror = np.where(drawn[:, 4] < amounts.flip, -1.0, 1.0)
    zero = np.zeros_like(x)
    affine = np.stack([np.stack([wide * mirror, zero, x], -1), np.stack([zero, high_, y], -1)], axis=1)
    theta = torch.as_tensor(affine, dtype=pixels.dtype, device=pixels.device)
    grid = torch.nn.functional.affine_grid(theta, list(pixels.shape), align_corners=False)
    return torch.nn.functional.grid_sample(pixels, grid, padding_mode="border", align_corners=False)


def _jittered(
    pixels: torch.Tensor, drawn: np.typing.NDArray[np.float64], amounts: Augmentation, colour: float
) -> torch.Tensor:
    """Brightness, contrast, saturation and hue, in this order."""
    limits = np.array([amounts.brightness, amounts.contrast, amounts.saturation, 2 * np.pi * amounts.hue]) * colour
    if not limits.any():
        return pixels
    changes = torch.as_tensor((2 * drawn - 1) * limits, dtype=pixels.dtype, device=pixels.device)
    brightness, contrast, saturation, turn = changes[:, :, None, None, None].unbind(1)
    weights = pixels.new_tensor(_GREY).view(1, 3, 1, 1)
    pixels = (pixels * (1 + brightness)).clamp(0, 1)
    mean = (pixels * weights).sum(1, keepdim=True).mean((2, 3), keepdim=True)
    pixels = (mean + (pixels - mean) * (1 + contrast)).clamp(0, 1)
    grey = (pixels * weights).sum(1, keepdim=True)
    pixels = (grey + (pixels - grey) * (1 + saturation)).clamp(0, 1)
    if not limits[3]:
        return pixels
    to_yiq = pixels.new_tensor(_YIQ)
    luma, i, q = torch.einsum("ij,njhw->inhw", to_yiq, pixels)
    sine, cosine = turn.view(-1, 1, 1).sin(), turn.view(-1, 1, 1).cos()
    turned = torch.stack([luma, i * cosine - q * sine, i * sine + q * cosine])
    return torch.einsum("ij,jnhw->nihw", torch.linalg.inv(to_yiq), turned).clamp(0, 1)
