"""IRIS-Classifier-25: balanced faces to train, validate and test a classifier of perceived groups (IRIS, C.4, B.2).

| config | classes | images | from |
|---|---|---|---|
| `age_gender` | 6: gender x age | 170 000 | FairFace, UTKFace, synthetic |
| `skin_tone` | 3 | 80 000 | MST-E (only if asked for), synthetic |
| `race` | 4 | as many as FairFace gives | FairFace |

Each class has the same number of images in each split. Real faces come first, drawn by the plan's hash; what a class
then lacks is generated from C.1's prompt, with the attributes that are not the class's own balanced over it: skin tones
in `age_gender` (the paper's wish), genders and ages in `skin_tone`. Every tenth generated image is adversarial.

Decisions where the paper is silent: classes are of equal size; splits take 80, 10 and 10 percent; faces of FairFace and
UTKFace have no skin tone, since neither source states one and race does not tell it. `race` is no part of the paper: it
is the training data for a new attribute of the classifier (A.4.2), with FACT-OR-FAIR's four groups.

A limit to know: real and generated images are not spread evenly over the classes (few old faces are real), so a
classifier can learn to tell one from the other instead; `origin` is there to see whether it did.
"""

from __future__ import annotations

from collections.abc import Mapping

from fairspace.builders.iris.groups import SKIN_TONES, combination_names

TARGETS: Mapping[str, int] = {"age_gender": 170_000, "skin_tone": 80_000}
"""Images per config (C.4)."""
CLASSES: Mapping[str, tuple[str, ...]] = {
    "age_gender": combination_names("gender_age"),
    "skin_tone": SKIN_TONES,
    "race": ("Asian", "Black", "Hispanic", "White"),
}
SHARES: Mapping[str, int] = {"train": 80, "validation": 10, "test": 10}
"""Percent of the images, and of the files and persons."""
SAMPLE_PER_CLASS = 20
ADVERSARIAL = 10
"""One synthetic image in this many asks for an incomplete face (C.4: approximately 10 %)."""
COMPLETE = 0.9
"""With a generator and a labeller, the least share of its images that a class must reach."""


def quotas(config: str, *, sample: bool) -> dict[str, dict[str, int]]:
    """Split -> class -> how many images it shall have, for a config of `TARGETS`."""
    names = CLASSES[config]
    each, rest = (SAMPLE_PER_CLASS, 0) if sample else divmod(TARGETS[config], len(names))
    counts: dict[str, dict[str, int]] = {split: {} for split in SHARES}
    for number, name in enumerate(names):
        total = each + (number < rest)
        held_out = {split: total * share // 100 for split, share in SHARES.items() if split != "train"}
        for split in SHARES:
            counts[split][name] = held_out.get(split, total - sum(held_out.values()))
    return counts
