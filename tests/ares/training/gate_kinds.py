"""What the tiny model's gate lets pass of fresh faces and non-faces, and of kinds unlike all that it saw.

No benchmark: it takes the trained tiny model, and shows it many fresh drawings; then it trains the gate once for each
set of like kinds, without that set.

    python -m tests.ares.training.gate_kinds     ten minutes of one processor
"""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from fairspace.ares.classifying_ares import answered
from fairspace.ares.evaluating.measure import Share
from fairspace.ares.evaluating.nonfaces import measure_gate, rows
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.config import CONFIGS, read_config
from fairspace.ares.training.data import DrawnData, DrawnFaces
from fairspace.ares.training.nonfaces import KINDS, nonface
from fairspace.ares.training.routers import KEPT, train_gate
from fairspace.ares.training.stages import WORK, opened_run
from tests.tiny_ares import DATA, trained_ares

ALIKE = (
    ("noise", "gradient", "pattern", "texture"),
    ("shapes", "ovals", "text"),
    ("empty_room", "object"),
    ("grid", "overlaid", "collage", "several_persons", "chimera", "blend", "pasted"),
    ("crop", "coarse", "squeezed", "erased", "faceless", "smoothed", "covered"),
    ("shuffled", "strips", "upside_down", "sideways", "displaced", "swirled"),
    ("recoloured", "negative", "tinted"),
)
"""Kinds that are left out together."""
GENERIC = {"smoothed", "covered", "pasted", "displaced", "tinted", "swirled"}
"""Corruptions of a part of the face."""
FACES, TESTED = 10_000, 400
"""Fresh faces, and fresh non-faces of each kind, that the whole gate is shown."""
LEFT_OUT = 200
"""Non-faces of each kind that a gate is shown which saw none like them."""


def left_out(model: AresModel, data: DrawnData, kinds: tuple[str, ...], work: Path) -> tuple[float, dict[str, int]]:
    """Share of faces that pass a gate which saw none of the kinds; how many of `LEFT_OUT` pass of each of them."""
    config = read_config(CONFIGS / "tiny.toml")
    assert config.gate is not None
    settings = config.gate.model_copy(update={"without": list(kinds), "tested": LEFT_OUT})
    changed = config.model_copy(update={"gate": settings})
    (work / WORK).mkdir(parents=True)
    with opened_run(changed, work, lambda event: None) as run:
        train_gate(model, changed, data, run)
    passed, faces = model.config.gate["kept"]
    return passed / faces, {kind: model.config.gate["answered"][kind][0] for kind in kinds}


def fresh(model: AresModel) -> Iterator[str]:
    """Lines on what is answered `ok` of fresh drawings, with 95 % intervals."""
    drawn = DrawnFaces("fresh", FACES, model.config.tasks, model.config.image_size, 0)
    label = partial(answered, model.eval(), AresImageProcessor(image_size=model.config.image_size))
    faces = drawn.pixels.permute(0, 2, 3, 1).numpy()
    for shown, held_out, share, _ in rows(measure_gate(label, faces, model.config.gate["trained_on"], TESTED)):
        assert share.ends is not None
        part, low, high = share.ends
        yield f"{shown}{' (held out)' if held_out else ''}: {part:.2%} of {share.images} ok ({low:.2%} to {high:.2%})"


def at_promise(model: AresModel) -> str:
    """A line on the share of fresh non-faces that pass where exactly 99 % of as many fresh faces do."""
    faces = DrawnFaces("fresh", FACES, model.config.tasks, model.config.image_size, 0).pixels
    shown = faces.permute(0, 2, 3, 1).numpy()
    drawn = [nonface(kind, "measured", number, shown) for kind in KINDS for number in range(TESTED)]
    cut = float(np.quantile(_chances(model, faces), 1 - KEPT))
    passed = _chances(model, torch.from_numpy(np.stack(drawn)).permute(0, 3, 1, 2)) >= cut
    ends = Share(int(passed.sum()), len(passed)).ends
    assert ends is not None
    part, low, high = ends
    return f"where {KEPT:.0%} of the faces pass: {part:.2%} of {len(passed)} non-faces ({low:.2%} to {high:.2%})"


def _chances(model: AresModel, images: torch.Tensor) -> NDArray[np.float64]:
    """Probabilities that images (n, 3, s, s), uint8, show a face."""
    seen = [next(iter(model.observe(part.float() / 255).values())).gate[:, 0] for part in torch.split(images, 500)]
    return np.concatenate(seen)


def main() -> None:
    """Print the shares."""
    if sorted(kind for alike in ALIKE for kind in alike) != sorted(KINDS):
        raise ValueError("every kind is left out once")
    model = AresModel.from_pretrained(trained_ares())
    print(*fresh(model), at_promise(model), sep="\n", flush=True)
    data = DrawnData(int(DATA.partition(":")[2]), model.config.tasks, model.config.image_size, 0)
    shares: dict[str, float] = {}
    for kinds in ALIKE:
        with tempfile.TemporaryDirectory() as work:
            kept, passed = left_out(model, data, kinds, Path(work) / "gate")
        print(f"faces kept {kept:.1%}; of {LEFT_OUT} each:", passed, flush=True)
        shares |= {kind: count / LEFT_OUT for kind, count in passed.items()}
    drawn = {kind: share for kind, share in shares.items() if kind not in GENERIC}
    for what, among in (("kinds", shares), ("kinds without the generic corruptions", drawn)):
        print(f"{np.mean(list(among.values())):.1%} of {len(among)} {what}, each unseen with its like")


if __name__ == "__main__":
    main()
