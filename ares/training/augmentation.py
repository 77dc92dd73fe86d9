"""Random resized crops, flips and colour jitter of training images (IRIS, B.2), as one batch on any device.

What happens to an image follows from its own seed, so neither the batch that it is in nor the number of workers
matters.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence

import numpy as np
import torch

from fairspace.ares.training.settings import Augmentation

_GREY = (0.299, 0.587, 0.114)
_YIQ = np.array(((0.299, 0.587, 0.114), (0.5959, -0.2746, -0.3213), (0.2115, -0.5227, 0.3112)))
_RGB = np.linalg.inv(_YIQ)
_DRAWS = 9


def image_seed(*key: str | int) -> int:
    """A seed of 32 bits that depends on the key alone."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, key)).encode()).digest()[:4], "little")


def drawn(seeds: Sequence[int]) -> torch.Tensor:
    """What `augmented` takes: (n, 9) numbers in [0, 1), each image's from its own seed."""
    random = np.random.RandomState()  # seeded anew for each image: to make one takes fifty times as long as to seed it
    draws = np.empty((len(seeds), _DRAWS))
    for row, seed in enumerate(seeds):
        random.seed(seed)
        draws[row] = random.random_sample(_DRAWS)
    return torch.from_numpy(draws).float()


def augmented(pixels: torch.Tensor, draws: torch.Tensor, amounts: Augmentation, colour: float = 1.0) -> torch.Tensor:
    """A variant of each image. No step waits for the device.

    Args:
        pixels: (n, 3, s, s) in [0, 1].
        draws: of `drawn`, on the device of the pixels.
        amounts: how far a variant may go.
        colour: share of the colour jitter that is applied.

    Returns:
        (n, 3, s, s) in [0, 1].
    """
    return _jittered(_cropped(pixels, draws[:, :5], amounts), draws[:, 5:], amounts, colour)


def _cropped(pixels: torch.Tensor, draws: torch.Tensor, amounts: Augmentation) -> torch.Tensor:
    """A part of the image, enlarged to the whole: area, aspect, place and mirroring from five draws."""
    area = amounts.scale[0] + draws[:, 0] * (amounts.scale[1] - amounts.scale[0])
    low, high = math.log(amounts.ratio[0]), math.log(amounts.ratio[1])
    aspect = (low + draws[:, 1] * (high - low)).exp()
    width, height = (area * aspect).sqrt().clamp(max=1), (area / aspect).sqrt().clamp(max=1)
    x, y = (2 * draws[:, 2] - 1) * (1 - width), (2 * draws[:, 3] - 1) * (1 - height)
    mirror = 1 - 2 * (draws[:, 4] < amounts.flip).float()
    zero = torch.zeros_like(x)
    theta = torch.stack([torch.stack([width * mirror, zero, x], -1), torch.stack([zero, height, y], -1)], dim=1)
    grid = torch.nn.functional.affine_grid(theta, list(pixels.shape), align_corners=False)
    return torch.nn.functional.grid_sample(pixels, grid, padding_mode="border", align_corners=False)


def _jittered(pixels: torch.Tensor, draws: torch.Tensor, amounts: Augmentation, colour: float) -> torch.Tensor:
    """Brightness, contrast, saturation and hue, in this order."""
    limits = [each * colour for each in (amounts.brightness, amounts.contrast, amounts.saturation, amounts.hue)]
    if not any(limits):
        return pixels
    changes = (2 * draws - 1)[:, :, None, None, None].unbind(1)
    brightness, contrast, saturation, hue = (each * limit for each, limit in zip(changes, limits, strict=True))
    pixels = (pixels * (1 + brightness)).clamp_(0, 1)
    mean = _mixed(pixels, _GREY).mean((2, 3), keepdim=True)
    pixels = pixels.sub_(mean).mul_(1 + contrast).add_(mean).clamp_(0, 1)
    grey = _mixed(pixels, _GREY)
    pixels = pixels.sub_(grey).mul_(1 + saturation).add_(grey).clamp_(0, 1)
    if not limits[3]:
        return pixels
    luma, i, q = (_mixed(pixels, row) for row in _YIQ)
    turn = 2 * math.pi * hue
    sine, cosine = turn.sin(), turn.cos()
    turned = torch.cat([luma, i * cosine - q * sine, i * sine + q * cosine], dim=1)
    return torch.cat([_mixed(turned, row) for row in _RGB], dim=1).clamp(0, 1)


def _mixed(pixels: torch.Tensor, weights: Iterable[float]) -> torch.Tensor:
    """The weighted sum of three channels, (n, 1, s, s); plain numbers need no copy to the device."""
    red, green, blue = (float(weight) for weight in weights)
    return red * pixels[:, 0:1] + green * pixels[:, 1:2] + blue * pixels[:, 2:3]
