"""How a model generates: the words that a submission chooses from. The command's help shows them."""

from __future__ import annotations

from typing import Literal, get_args

Architecture = Literal["autoregressive", "diffusion", "autoregressive + diffusion", "masked", "adversarial", "other"]
"""How a model generates; a flow counts as diffusion, and experts or an encoder before the decoder change nothing."""
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)
