"""What the tiny model's gate lets pass of kinds of non-faces that it never saw, nor anything like them.

No benchmark: it takes the trained tiny model, and trains its gate once for each set of like kinds, without that set.

    python -m tests.ares.training.gate_kinds     ten minutes of one processor
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.config import CONFIGS, read_config
from fairspace.ares.training.data import DrawnData
from fairspace.ares.training.drawn_nonfaces import KINDS
from fairspace.ares.training.folder import opened_run
from fairspace.ares.training.gate import train_gate
from fairspace.ares.training.tiny import DATA
from tests.tiny_ares import trained_ares

ALIKE = (
    ("noise", "gradient", "pattern", "texture"),
    ("shapes", "ovals", "text", "house"),
    ("empty_room", "object", "tree", "hand", "fruit"),
    ("animal", "cat", "flower", "cartoon", "mask"),
    ("grid", "overlaid", "collage", "several_persons", "chimera", "blend"),
    ("crop", "coarse", "squeezed", "erased", "faceless"),
    ("shuffled", "strips", "upside_down", "sideways"),
    ("recoloured", "negative"),
)
"""Kinds that are left out together."""
TESTED = 100
"""Non-faces of each kind."""


def left_out(model: AresModel, data: DrawnData, kinds: tuple[str, ...], work: Path) -> tuple[float, dict[str, int]]:
    """Share of faces that pass a gate which saw none of the kinds; how many of `TESTED` pass of each of them."""
    config = read_config(CONFIGS / "tiny.toml")
    assert config.gate is not None
    settings = config.gate.model_copy(update={"without": list(kinds), "tested": TESTED})
    changed = config.model_copy(update={"gate": settings})
    with opened_run(changed, work, lambda event: None) as run:
        train_gate(model, changed, data, run)
    passed, faces = model.config.gate["kept"]
    return passed / faces, {kind: model.config.gate["answered"][kind][0] for kind in kinds}


def main() -> None:
    """Print the shares."""
    if sorted(kind for alike in ALIKE for kind in alike) != sorted(KINDS):
        raise ValueError("every kind is left out once")
    model = AresModel.from_pretrained(trained_ares())
    data = DrawnData(int(DATA.partition(":")[2]), model.config.tasks, model.config.image_size, 0)
    shares = []
    for kinds in ALIKE:
        with tempfile.TemporaryDirectory() as work:
            kept, answered = left_out(model, data, kinds, Path(work) / "gate")
        print(f"faces kept {kept:.1%}; of {TESTED} each:", answered, flush=True)
        shares += [count / TESTED for count in answered.values()]
    print(f"{sum(shares) / len(shares):.1%} of {len(shares)} kinds of non-faces, each unseen with its like")


if __name__ == "__main__":
    main()
