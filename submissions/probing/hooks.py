"""Vectors from the modules of a running model: forward hooks that are always removed, and keep pooled vectors alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fairspace.metrics.embedding_complexity.formula import participation_ratio
from fairspace.submissions.probing.recipe import Stage
from fairspace.submissions.running.errors import RunError

Floats = NDArray[np.float64]


class Enough(BaseException):
    """Every stage has what it needs: the call need not go on. Not an Exception, so that no model's code swallows it."""


@dataclass
class Taken:
    """What one stage gave.

    Args:
        vectors: of each call of its module, shape (batch, dimensions), on the CPU in double precision.
        ratios: of each call, the participation ratio over the positions, shape (batch,); nan where there is one.
    """

    vectors: list[Floats] = field(default_factory=list)
    ratios: list[Floats] = field(default_factory=list)


def find_module(modules: Mapping[str, nn.Module], name: str, where: str) -> nn.Module:
    """The module of a name. RunError RECIPE_INVALID names those that are called nearly so."""
    if name in modules:
        return modules[name]
    tail = name.rpartition(".")[2]
    near = get_close_matches(name, modules, n=3, cutoff=0.5)
    near += [known for known in modules if known.rpartition(".")[2] == tail and known not in near][: 3 - len(near)]
    expected = f"a module of the model, such as {', '.join(near) or ', '.join(list(modules)[1:4])}"
    mend = "write the name as `model.named_modules()` has it"
    raise RunError("RECIPE_INVALID", where, f"no module {name!r}", expected, mend)


@contextmanager
def taking(
    modules: Mapping[str, nn.Module], stages: Mapping[str, Stage], batch: int, *, steps: int = 1
) -> Iterator[dict[str, Taken]]:
    """Hooks on the modules of some stages for the length of a `with` block.

    Args:
        modules: of the model by name.
        stages: what to take.
        batch: how many stimuli each call has, to tell rows from positions.
        steps: calls of a module of which its vector is kept; when all stages have so many, the block ends.

    Errors:
        RunError RECIPE_INVALID if a module does not exist; MODEL_OUTPUT if what it gives cannot be pooled as it says.
    """
    results = {name: Taken() for name in stages}
    handles: list[Any] = []

    def keep(name: str, given: Any) -> None:
        taken = results[name]
        if len(taken.vectors) < steps:
            vectors, ratios = pooled(given, stages[name], batch, f"stage {name}, module {stages[name].module}")
            taken.vectors.append(vectors)
            taken.ratios.append(ratios)
        if all(len(each.vectors) >= steps for each in results.values()):
            raise Enough

    def hooked(name: str, side: str) -> Any:
        if side == "input":
            return lambda _module, args, kwargs: keep(name, [*args, *kwargs.values()])
        return lambda _module, _args, output: keep(name, output)

    try:
        for name, stage in stages.items():
            module = find_module(modules, stage.module, f"stages.{name}.module")
            hook = hooked(name, stage.side)
            handles.append(
                module.register_forward_pre_hook(hook, with_kwargs=True)
                if stage.side == "input"
                else module.register_forward_hook(hook)
            )
        try:
            yield results
        except Enough:
            return
    finally:
        for handle in handles:
            handle.remove()


def pooled(given: Any, stage: Stage, batch: int, where: str) -> tuple[Floats, Floats]:
    """One vector per stimulus, and the participation ratio over its positions; (batch, dimensions) and (batch,).

    RunError MODEL_OUTPUT if there is no tensor, its shape is not what the pooling is for, or it is not finite.
    """
    tensor = _tensor(given, stage.take)
    if tensor is None:
        what, expected = f"a {type(given).__name__} without it", f"a tensor{f' {stage.take!r}' if stage.take else ''}"
        raise RunError("MODEL_OUTPUT", where, what, expected, "correct `take` in the recipe")
    tensor = tensor.detach()
    if stage.rows != "all":
        half = len(tensor) // 2
        tensor = tensor[:half] if stage.rows == "first_half" else tensor[half:]
    needed = {"map": 4, "flat": 2, "vector": 2}.get(stage.pool, 3)
    rows = 1 if stage.pool == "flat" else len(tensor)
    if tensor.ndim != needed or rows != batch:
        what = f"shape {tuple(tensor.shape)} for {batch} stimuli"
        expected = f"{needed} dimensions for pool = {stage.pool!r}, with {batch} rows"
        raise RunError("MODEL_OUTPUT", where, what, expected, "correct `pool`, `rows` or `batch` in the recipe")
    positions = _positions(tensor, stage.pool).to(device="cpu", dtype=torch.float64).numpy()
    if not np.isfinite(positions).all():
        mend = "open the model in a wider number format"
        raise RunError("MODEL_OUTPUT", where, "numbers that are not finite", "finite ones", mend)
    place = {"last": -1, "first": 0}.get(stage.pool)
    vectors = positions.mean(axis=1) if place is None else positions[:, place]
    return np.array(vectors), np.array([participation_ratio(each) for each in positions])


def _positions(tensor: Tensor, pool: str) -> Tensor:
    """(batch, positions, dimensions)."""
    if pool == "map":
        return tensor.flatten(2).transpose(1, 2)
    if pool == "flat":
        return tensor[None]
    return tensor[:, None] if pool == "vector" else tensor


def _tensor(given: Any, take: str) -> Tensor | None:
    """The tensor that is meant, of a tensor, a tuple, a mapping or a dataclass."""
    if isinstance(given, Tensor):
        return given if not take else None
    if take:
        if isinstance(given, list | tuple):
            output = given[int(take)] if take.lstrip("-").isdigit() and -len(given) <= int(take) < len(given) else None
        else:
            output = given.get(take) if isinstance(given, Mapping) else getattr(given, take, None)
        return _tensor(output, "")
    hidden = getattr(given, "last_hidden_state", None)
    if isinstance(hidden, Tensor):
        return hidden
    parts = given.values() if isinstance(given, Mapping) else given if isinstance(given, list | tuple) else ()
    floats = [part for part in parts if isinstance(part, Tensor) and part.is_floating_point()]
    return floats[0] if floats else None
