"""One model under many configurations: its experts run once over all images, its routing as often as needed.

`AresModel.route` decides from what `AresModel.observe` saw, so that a configuration here answers exactly as `decide`
would. Answers of the vision-language model are kept, so that it sees an image once per task.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fairspace.ares.deciding_ares import Decided, Observed, joined
from fairspace.ares.evaluating.data import HeldOut, Pictures
from fairspace.ares.modeling_ares import AresModel

Progress = Callable[[str, int, int], None]


class Remembering:
    """An arbiter whose answers are kept.

    Args:
        arbiter: the one that is asked.
    """

    def __init__(self, arbiter: Any) -> None:
        self.arbiter = arbiter
        self._answers: dict[tuple[str, bytes], str | None] = {}

    @property
    def name(self) -> str:
        """Of the arbiter."""
        return str(self.arbiter.name)

    def answer(self, images: Sequence[Any], task: Mapping[str, Any]) -> list[str | None]:
        """As the arbiter answers; an image that it saw before is not shown again."""
        keys = [(str(task["name"]), _hash(image)) for image in images]
        new = {key: image for key, image in zip(keys, images, strict=True) if key not in self._answers}
        if new:
            said = self.arbiter.answer(list(new.values()), task)
            self._answers.update(zip(new, said, strict=True))
        return [self._answers[key] for key in keys]


def observe_all(
    model: AresModel, images: HeldOut, batch: int, progress: Progress = lambda what, done, total: None
) -> dict[str, Observed]:
    """What every part of the model says of every image of a set."""
    observations: list[dict[str, Observed]] = []
    for start in range(0, len(images), batch):
        rows = np.arange(start, min(start + batch, len(images)))
        observations.append(model.observe(images.pixels(rows, model.device), everything=True))
        progress("images", int(rows[-1]) + 1, len(images))
    return {name: joined([each[name] for each in observations]) for name in observations[0]}


@contextmanager
def configured(model: AresModel, **settings: Any) -> Iterator[AresModel]:
    """The model with other settings in its configuration, for a while."""
    before = {name: getattr(model.config, name) for name in settings}
    for name, value in settings.items():
        setattr(model.config, name, value)
    try:
        yield model
    finally:
        for name, value in before.items():
            setattr(model.config, name, value)


def routed(model: AresModel, images: HeldOut, seen: Mapping[str, Observed]) -> dict[str, Decided]:
    """The decisions of the model as it is configured."""
    return model.route(seen, Pictures(images.faces) if model.arbiter is not None else None)


def _hash(image: Any) -> bytes:
    return hashlib.sha256(repr((image.mode, image.size)).encode() + image.tobytes()).digest()
