"""How labels in a lower precision differ from those in float32, over a whole test set: `fairspace ares precision`.

A faster precision may label for a submission's author where it changes no label, or so few that the error hardly
moves. Both are counted here, on the images that a model is measured on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.ares.annotating.eight_bits import in_precision
from fairspace.ares.evaluating.data import HeldOutData, attribute_codes, open_test
from fairspace.ares.evaluating.evaluate import Progress, open_model
from fairspace.ares.evaluating.routes import observe_all, routed
from fairspace.ares.modeling_ares import AresModel

EXACT = "float32"
"""What others are compared with."""


@dataclass(frozen=True)
class Difference:
    """What a precision changes in one attribute.

    Args:
        attribute: its name.
        images: that have a true label.
        changed: of these, images whose label is another than in float32.
        gained: of these, images that are right now and were wrong.
        lost: of these, images that are wrong now and were right.
    """

    attribute: str
    images: int
    changed: int
    gained: int
    lost: int


def compare_precision(
    model: Path,
    data: str,
    precision: str,
    *,
    batch: int = 64,
    seed: int = 0,
    device: str = "cpu",
    progress: Progress = lambda what, done, total: None,
) -> list[Difference]:
    """Label a test set in float32 and in another precision; vision-language models are not asked.

    Args:
        model: folder of ARES.
        data: the folder of a built IRIS-Classifier-25 (its test splits), or `drawn:N`.
        precision: one of `eight_bits.PRECISIONS`.
        batch: images at a time; changes nothing but speed.
        seed: of drawn faces.
        device: of torch.
        progress: called with what is being done, how much is done, and of how much.

    Errors: BuildError as `open_model`, `open_test` and `in_precision`.
    """
    exact = open_model(model).to(device)
    other = in_precision(open_model(model), precision, device)
    with tempfile.TemporaryDirectory() as work:
        tested = open_test(data, exact.config.tasks, exact.config.image_size, seed, Path(work))
        first, second = (dict(_codes(each, tested, batch, progress)) for each in (exact, other))
        return [difference(name, *codes, second[name][1]) for name, codes in first.items()]


def _codes(
    model: AresModel, tested: HeldOutData, batch: int, progress: Callable[[str, int, int], None]
) -> Iterator[tuple[str, tuple[NDArray[np.intp], NDArray[np.intp]]]]:
    """Attribute, and the true labels and the answers of its images."""
    for images in tested.sets:
        decided = routed(model, images, observe_all(model, images, batch, progress))
        tasks: list[Mapping[str, Any]] = model.config.tasks
        for task in tasks:
            if task["name"] in images.tasks:
                for attribute in task["attributes"]:
                    said = attribute_codes(task, attribute, decided[str(task["name"])].label)
                    yield attribute, (images.groups[attribute][1], said)


def difference(attribute: str, true: NDArray[np.intp], exact: NDArray[np.intp], other: NDArray[np.intp]) -> Difference:
    """What a precision changes.

    Args:
        attribute: its name.
        true: (n,) labels, -1 where they are not known.
        exact: (n,) labels in float32, -1 where there is none.
        other: (n,) labels in the other precision.
    """
    known = true >= 0
    before, after = (exact == true) & known, (other == true) & known
    changed = int(((exact != other) & known).sum())
    return Difference(attribute, int(known.sum()), changed, int((after & ~before).sum()), int((before & ~after).sum()))
