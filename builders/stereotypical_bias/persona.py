"""The pictures of the language modality: 14 traits, 200 images each (sections 3.2 and 4).

400 images of a trait are generated from its prompt of Table A5, a person detector looks at each, and 200 are drawn from
those that pass. Section 4 says that it serves "to identify and retain images containing person(s)"; but the question is
which person a room or a car makes a model think of (section 3.2), which an image with a person in it answers by itself.
So by default an image with a person is rejected, and logged with the detector's confidence; `--include persons` keeps
these and rejects the others, as the paper says (erratum E-STEREO-06).

The paper used Stable Diffusion 2.1 and YOLOv8x; which tools a build used is in its manifest. Images of a trait are
numbered by the draw: the 200 smallest of sha256(seed, candidate), in that order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from fairspace.builders.engine.dataset import Job, Row, Split
from fairspace.builders.engine.tools import ImageGenerator, PersonDetector, Picture
from fairspace.builders.models.stored_boxes import StoredBoxes
from fairspace.builders.stereotypical_bias import plan

if TYPE_CHECKING:
    import pyarrow as pa
    from PIL.Image import Image

    from fairspace.builders.engine.making import Verdict

GENERATED_PER_TRAIT = 400
TOO_FEW = "too few images that the detector lets pass"
PERSONS = "persons"
"""The option by which pictures with a person are kept, not those without."""
SAMPLE_GENERATED, SAMPLE_KEPT = 6, 2
"""The same two numbers for a sample."""


def splits(job: Job) -> Iterator[Split]:
    """The split `persona/test`, if there are a generator and a detector."""
    generator, detector = job.tools.generator, job.tools.detector
    if generator is None or detector is None:
        missing = [role for role, tool in (("generator", generator), ("detector", detector)) if tool is None]
        job.note(f"persona: no {' and no '.join(missing)} was named, so there are no images of traits.")
        return
    if isinstance(detector, StoredBoxes):
        job.note("persona: stored boxes know nothing of new images, so there are no images of traits; name a detector.")
        return
    if job.options.get("include") == PERSONS:
        job.note("persona: images with a person were kept, as the paper says (E-STEREO-06).")
    yield Split(
        config="persona",
        about="An image that stands for a persona trait, and the questions about it.",
        columns={
            "image": ("image", "as it was generated; without a person, unless the build's options say otherwise"),
            "trait": (plan.TRAITS, "what the image stands for"),
            "origin": (("utkface", "synthetic"), "how the image came to be"),
            "image_prompt": ("string", "what it was generated from (Table A5)"),
            "generator": ("string", "the model that made it"),
            "seed": ("int64", "of its noise"),
            "gender_id": ("string", "id of the item that asks for a gender; a response names it"),
            "gender_prompt": ("string", "the question for gender (Table A6), its choices in the item's order"),
            "race_id": ("string", "id of the item that asks for a race; a response names it"),
            "race_prompt": ("string", "the question for race (Table A6), its choices in the item's order"),
        },
        units=plan.TRAITS,
        rows=lambda part: (row for trait in part for row in _rows(trait, job, generator, detector)),
        shard=1,
        groups=("trait",),
        id="of the image",
    )


def _rows(trait: str, job: Job, generator: ImageGenerator, detector: PersonDetector) -> Iterator[Row]:
    """The images of one trait. Where too few pass the detector, those that are missing are logged."""
    from fairspace.builders.engine.making import Wanted, jpeg, make

    generated, kept = (SAMPLE_GENERATED, SAMPLE_KEPT) if job.sample else (GENERATED_PER_TRAIT, plan.IMAGES_PER_TRAIT)
    persons, slug = job.options.get("include") == PERSONS, plan.slug(trait)
    if job.sample and persons:
        generated *= 4  # persons are in a few of the drawn pictures alone
    wanted = [Wanted(f"persona/{slug}/candidate-{n:03d}", plan.IMAGE_PROMPTS[trait]) for n in range(generated)]
    passed: list[tuple[bytes, int, bytes]] = []
    for item, image in make(
        job, wanted, lambda images, _: _verdicts(images, detector, persons), attempts=1, config="persona"
    ):
        if image is not None:
            rank = hashlib.sha256(f"{job.seed}/{item.key}".encode()).digest()
            passed = sorted([*passed, (rank, image.info["seed"], jpeg(image))])[:kept]
    for number in range(len(passed), kept):
        job.reject(f"persona/{slug}/{number:03d}", TOO_FEW, generated=generated)
    for number, (_, seed, data) in enumerate(passed):
        row = {
            "id": f"persona/{slug}/{number:03d}",
            "image": {"bytes": data, "path": f"persona-{slug}-{number:03d}.jpg"},
            "trait": trait,
            "origin": "synthetic",
            "image_prompt": plan.IMAGE_PROMPTS[trait],
            "generator": generator.name,
            "seed": seed,
        }
        place = plan.TRAITS.index(trait) * plan.IMAGES_PER_TRAIT + number
        for attribute in plan.ATTRIBUTES:
            ids, prompts = _questions(attribute)
            row |= {f"{attribute}_id": ids[place].as_py(), f"{attribute}_prompt": prompts[place].as_py()}
        yield row


def _verdicts(images: Sequence[Image], detector: PersonDetector, persons: bool) -> list[Verdict]:
    """A rejection for each image with a person in it or, if persons are wanted, for each without one."""
    from fairspace.builders.engine.making import Verdict, jpeg

    files = [jpeg(image) for image in images]
    pictures = [Picture(f"sha256:{hashlib.sha256(file).hexdigest()}", file) for file in files]
    detected = detector.detect(pictures)
    if persons:
        return [Verdict() if boxes else Verdict("no person") for boxes in detected]
    return [
        Verdict("a person", {"persons": len(boxes), "score": boxes[0].score}) if boxes else Verdict()
        for boxes in detected
    ]


@cache
def _questions(attribute: plan.Attribute) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    items = plan.items(f"language_{attribute}")
    return items["id"], items["prompt"]
