"""How transformers' `generate` chooses tokens for us: drawn by each request's own seed, followed until the answer ends.

What is drawn at a temperature above 0 follows from the request's seed alone (the Gumbel-max trick: the token with the
greatest log-probability plus noise is a sample of the distribution).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import (
    LogitsProcessor,
    MinPLogitsWarper,
    StoppingCriteria,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from fairspace.submissions.running.local.ending import Choice, Ending


def choosers(config: Any, choice: Choice, seeds: Sequence[int]) -> list[LogitsProcessor]:
    """What turns logits into those whose greatest is the chosen token; nothing where the likeliest is chosen.

    Args:
        config: the model's own generation settings.
        choice: temperature and the like.
        seeds: of each row.
    """
    temperature, top_p, top_k, min_p = choice.temperature, choice.top_p, choice.top_k, None
    if temperature is None:
        temperature = 0.0
        if config.do_sample:
            temperature = 1.0 if config.temperature is None else config.temperature
            top_p, top_k, min_p = top_p or config.top_p, top_k or config.top_k, config.min_p
    if temperature == 0:
        return []
    warpers: list[LogitsProcessor] = [TemperatureLogitsWarper(float(temperature))]
    if top_k:
        warpers.append(TopKLogitsWarper(top_k))
    if top_p is not None and top_p < 1:
        warpers.append(TopPLogitsWarper(top_p))
    if min_p is not None:
        warpers.append(MinPLogitsWarper(min_p))
    return [*warpers, Drawing(seeds)]


class Drawing(LogitsProcessor):
    """Adds Gumbel noise of each row's own seed, so that its greatest logit is a sample."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """`scores` (rows, tokens) with noise. The noise is made on the CPU, so that it is the same on every device."""
        noise = torch.stack([torch.empty(scores.shape[1]).exponential_(generator=each) for each in self._generators])
        return scores.float() - noise.to(scores.device).log()


class Forcing(LogitsProcessor):
    """Leaves one token to a row whose next token is given (the end of a thinking whose budget is spent)."""

    def __init__(self, endings: Sequence[Ending]) -> None:
        self._endings = endings

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """`scores` (rows, tokens), of rows with a given token -inf for all others."""
        forced = [(row, each.forced) for row, each in enumerate(self._endings) if each.forced is not None]
        if not forced:
            return scores
        scores = scores.clone()
        for row, token in forced:
            scores[row] = -torch.inf
            scores[row, token] = 0.0
        return scores


class Following(StoppingCriteria):
    """Hands each row's new token to its ending, and says which rows are done."""

    def __init__(self, endings: Sequence[Ending]) -> None:
        self._endings = endings

    def __call__(self, input_ids: Tensor, scores: Any, **others: Any) -> Tensor:
        """True for the rows (rows,) whose answer has ended."""
        for ending, token in zip(self._endings, input_ids[:, -1].tolist(), strict=True):
            if ending.reason is None:
                ending.add(token)
        return torch.tensor([each.reason is not None for each in self._endings], device=input_ids.device)
