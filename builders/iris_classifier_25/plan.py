"""IRIS-Classifier-25: balanced faces to train, validate and test a classifier of perceived groups (IRIS, C.4, B.2).

| config | classes | images | from |
|---|---|---|---|
| `age_gender` | 6: gender x age | 170 000 | FairFace, UTKFace, synthetic |
| `skin_tone` | 3 | 80 000 | MST-E (only if asked for), synthetic |
| `race` | 4 | as many as FairFace gives | FairFace |

Real faces come first, drawn by the plan's hash; C.1's prompt fills the rest of a class, with skin tones balanced over
`age_gender` (the paper's wish), genders and ages over `skin_tone`. Where the paper is silent: classes are of equal
size, splits take 80, 10 and 10 percent, and FairFace and UTKFace give no skin tone. `race` is not in the paper: it
trains a new attribute of the classifier (A.4.2), with FACT-OR-FAIR's four groups.

Trap: real images are spread unevenly (few old faces are real), so a classifier can learn to tell real from generated;
`origin` is there to see whether it did.
"""

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
"""Least share of its images that a class must reach, with a generator and a labeller."""


def quotas(config: str, *, sample: bool) -> dict[str, dict[str, int]]:
    """Split -> class -> planned images, for a config of `TARGETS`."""
    names = CLASSES[config]
    each, rest = (SAMPLE_PER_CLASS, 0) if sample else divmod(TARGETS[config], len(names))
    counts: dict[str, dict[str, int]] = {split: {} for split in SHARES}
    for number, name in enumerate(names):
        total = each + (number < rest)
        held_out = {split: total * share // 100 for split, share in SHARES.items() if split != "train"}
        for split in SHARES:
            counts[split][name] = held_out.get(split, total - sum(held_out.values()))
    return counts
