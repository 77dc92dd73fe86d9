"""ARES with matrix products in 8 bits, for processors without a GPU: `--precision int8`.

The linear layers of stems and experts take whole numbers: weights are rounded once, symmetrically, each output channel
with a scale of its own; activations in each pass, to 7 bits, with one scale for the image (so that the kernels' 16-bit
sums cannot overflow, and every x86 processor gives the same numbers). Heads, attention, norms, the router and the
fusion regressor stay in float32.

Every image passes alone. Its scale therefore never depends on what stands beside it, and neither do its answers. They
are those of another instrument than in float32: `fairspace ares evaluate --precision int8` measures it, and says how
many labels differ.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import torch
from torch import nn

from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    from fairspace.ares.modeling_ares import AresModel

PRECISIONS = ("float32", "bfloat16", "int8")
"""Of an opened model; what was measured of one says nothing of another."""
ENGINE = "fbgemm"
"""PyTorch's kernels for x86 processors."""
_LARGEST = 127
_SMALLEST_SCALE = 1e-12
"""Of a channel whose weights are all 0."""


class EightBitLinear(nn.Module):
    """A linear layer with weights in 8 bits and activations in 7.

    Args:
        layer: in float32.
    """

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach()
        scale = (weight.abs().amax(dim=1).double() / _LARGEST).clamp_min(_SMALLEST_SCALE)
        zero = torch.zeros(len(scale), dtype=torch.long)
        bias = layer.bias.detach() if layer.bias is not None else None
        with warnings.catch_warnings():  # tensors of this type are to go; `in_eight_bits` says so where they are gone
            warnings.filterwarnings("ignore", message="torch.quantize_per_tensor", category=UserWarning)
            rounded = torch.quantize_per_channel(weight, scale, zero, 0, torch.qint8)
        self._packed = torch.ops.quantized.linear_prepack(rounded, bias)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """(..., k) -> (..., width); one scale for all rows."""
        result: torch.Tensor = torch.ops.quantized.linear_dynamic(rows, self._packed, True)
        return result


def in_precision(model: AresModel, precision: str, device: str) -> AresModel:
    """An opened model on a device, in a precision. It is changed in place.

    Args:
        model: in float32.
        precision: one of `PRECISIONS`.
        device: of torch.

    Errors: BuildError CONFIG_INVALID for another precision, or for `int8` on a GPU; TOOL_MISSING as `in_eight_bits`.
    """
    known = PRECISIONS if torch.device(device).type == "cpu" else PRECISIONS[:2]
    if precision not in known:
        expected = f"{' or '.join(known)} on {device}"
        raise BuildError("CONFIG_INVALID", "precision", precision, expected, "choose one, or --device cpu")
    if precision == "int8":
        return in_eight_bits(model)
    return model.to(device=device, dtype=getattr(torch, precision))


def in_eight_bits(model: AresModel) -> AresModel:
    """The model with its linear layers replaced, for inference on a CPU. It is changed in place.

    Errors: BuildError TOOL_MISSING where PyTorch has no kernels for it (other processors than x86).
    """
    if ENGINE not in torch.backends.quantized.supported_engines or not hasattr(torch, "quantize_per_channel"):
        what, mend = f"PyTorch {torch.__version__} has no 8-bit kernels here", "use --precision float32"
        raise BuildError("TOOL_MISSING", "--precision int8", what, "an x86 processor, and PyTorch 2.13", mend)
    torch.backends.quantized.engine = ENGINE
    experts = [model.expert(task["name"], kind) for task in model.config.tasks for kind in model.config.kinds]
    for part in (*model.stems.values(), *(expert.blocks for expert in experts)):
        _replace(part)
    model.config.tile = 1
    return model


def _replace(module: nn.Module) -> None:
    for name, child in list(module.named_children()):
        if isinstance(child, nn.Linear):
            setattr(module, name, EightBitLinear(child))
        else:
            _replace(child)
