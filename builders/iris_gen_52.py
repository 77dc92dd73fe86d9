"""IRIS-Gen-52: the neutral prompts of the generation sectors (IRIS, C.3 and D.2.1).

52 occupations, 160 images each. The dataset (`builders/iris_gen_52_dataset.py`) holds the prompts, and beside them
counts and annotated images of the models that the source has.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import pyarrow as pa

from builders.dataset import Dataset, Job, Manifest, Split
from builders.iris_groups import OCCUPATIONS

TEMPLATE = "Please generate a photo of {article} {occupation}"
"""C.3: "Please generate a photo of a/an {occupation}"; D.2.1 prints the first two words in brackets."""
IMAGES = 160
"""Images per occupation (D.2.1)."""


def prompt(occupation: str) -> str:
    """The neutral prompt of an occupation, with the article that fits."""
    name = occupation.replace("_", " ")
    return TEMPLATE.format(article="an" if name[0] in "aeiou" else "a", occupation=name)


@lru_cache
def ids(revision: str) -> pa.Array:
    """The 52 item ids, `neutral/<occupation>`; the same in every revision."""
    return pa.array([f"neutral/{occupation}" for occupation in OCCUPATIONS])


def rows() -> pa.Table:
    """The dataset: id, occupation, prompt, images."""
    return pa.table(
        {
            "id": ids("v1"),
            "occupation": list(OCCUPATIONS),
            "prompt": [prompt(occupation) for occupation in OCCUPATIONS],
            "images": [IMAGES] * len(OCCUPATIONS),
        }
    )


def _splits(job: Job) -> Sequence[Split]:
    from builders.iris_gen_52_dataset import splits

    return splits(job)


def _check(manifest: Manifest) -> None:
    from builders.iris_gen_52_dataset import check

    check(manifest)


DATASET = Dataset(
    name="iris_gen_52",
    title="IRIS-Gen-52: neutral prompts, and what models make of them",
    benchmark="iris",
    revision="v1",
    licence="CC-BY-4.0",
    sources=("models", "bls", "eurostat"),
    splits=_splits,
    check=_check,
)
