"""Makes the image pairs of IRIS-Steer-60: generate a, edit it into b, check both, try again with other seeds (C.2).

A pair enters if a labeller reads the planned gender, age and skin tone in both images, a matcher contradicts none of
the other labels that are planned for them (`statements.py`), the two are alike, and the attire of an intentionally
inconsistent pair looks more like its new colour than its old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from fairspace.builders.engine.dataset import Job
from fairspace.builders.engine.making import Accept, Verdict, Wanted, jpeg, make
from fairspace.builders.engine.tools import Labeller, Labels, Matcher
from fairspace.builders.iris.groups import GROUPS
from fairspace.builders.iris_steer_60.plan import COLOURS, pairs
from fairspace.builders.iris_steer_60.statements import match_labels
from fairspace.builders.iris_steer_60.wording import attire, base_prompt, instruction, planned_labels

if TYPE_CHECKING:
    from PIL.Image import Image

SIMILARITY = 0.75
"""Least cosine similarity of the two images; what the makers of InstructPix2Pix asked of their training pairs."""
SAMPLE_SIMILARITY = 0.55
"""The same for drawings, whose matcher counts the places with equal colours."""
BASES = 3
"""How many images a are tried for a pair."""
ATTEMPTS = 10
"""Seeds for each image."""
LABELLED = ("a", "b", "c")
"""Questions whose labels the labeller reads."""
_SHEET = "understanding"


@dataclass(frozen=True)
class MadeImage:
    """One image that passed: JPEG, its seed, for image b its similarity to a, and the questions that were checked."""

    data: bytes
    seed: int
    similarity: float | None
    checked: tuple[str, ...] = ()


def make_pairs(numbers: Sequence[int], job: Job, *, batch: int = 8) -> dict[int, tuple[MadeImage, MadeImage]]:
    """Make pairs of the plan; pairs that passed no attempt are left out, and every rejection is in the job's log.

    Args:
        numbers: of the pairs.
        job: the build; its tools are a generator, an editor, a labeller and a matcher.
        batch: images that are made together; it changes none.

    Returns:
        Number -> images a and b, of the pairs that passed.
    """
    labeller, matcher = job.tools.labeller, job.tools.matcher
    if labeller is None or matcher is None:
        raise ValueError("pairs cannot be checked without a labeller and a matcher")
    passed: dict[int, tuple[MadeImage, MadeImage]] = {}
    left, least = list(numbers), least_similarity(job)
    for base in range(BASES):
        first = [Wanted(_key(number, "a", base), base_prompt(number)) for number in left]
        results = make(job, first, _check_base(labeller, matcher), attempts=ATTEMPTS, batch=batch, config=_SHEET)
        bases = dict(_passed(results))
        second = [Wanted(_key(n, "b", base), instruction(n), image.data) for n, image in bases.items()]
        results = make(
            job, second, _check_edit(labeller, matcher, least), attempts=ATTEMPTS, batch=batch, config=_SHEET
        )
        edited = dict(_passed(results))
        passed |= {number: (bases[number], image) for number, image in edited.items()}
        left = [number for number in bases if number not in edited]
    for number in numbers:
        if number not in passed:
            job.reject(f"pair/{number:04d}", "no pair passed", bases=BASES, attempts=ATTEMPTS)
    return {number: passed[number] for number in numbers if number in passed}


def least_similarity(job: Job) -> float:
    """The similarity that the two images of a pair must reach in this build."""
    return SAMPLE_SIMILARITY if job.sample else SIMILARITY


def _key(number: int, side: str, base: int) -> str:
    """Names an image in the log; the further tries of a pair have seeds of their own."""
    return f"pair/{number:04d}/{side}" + (f"/again-{base}" if base else "")


def _number(wanted: Wanted) -> int:
    return int(wanted.key.split("/")[1])


def _passed(results: Iterable[tuple[Wanted, Image | None]]) -> Iterator[tuple[int, MadeImage]]:
    for wanted, image in results:
        if image is not None:
            about = image.info
            made_image = MadeImage(jpeg(image), about["seed"], about.get("similarity"), (*LABELLED, *about["matched"]))
            yield _number(wanted), made_image


def _check_base(labeller: Labeller, matcher: Matcher) -> Accept:
    def accept(images: Sequence[Image], wanted: Sequence[Wanted]) -> list[Verdict]:
        labels = labeller.label(images)
        verdicts = [_labels(seen, _number(item), 0) for seen, item in zip(labels, wanted, strict=True)]
        return _match(matcher, images, wanted, 0, verdicts)

    return accept


def _check_edit(labeller: Labeller, matcher: Matcher, least: float) -> Accept:
    from PIL import Image as Images

    def accept(images: Sequence[Image], wanted: Sequence[Wanted]) -> list[Verdict]:
        bases = [Images.open(BytesIO(item.base)).convert("RGB") for item in wanted]
        alike = matcher.image_similarity(bases, images)
        old, new = (
            matcher.text_similarity(images, [_attire(_number(item), side) for item in wanted]) for side in (0, 1)
        )
        checks = zip(labeller.label(images), wanted, alike, old, new, strict=True)
        verdicts = [_edit(labels, _number(item), least, *numbers) for labels, item, *numbers in checks]
        return _match(matcher, images, wanted, 1, verdicts)

    return accept


def _match(
    matcher: Matcher, images: Sequence[Image], wanted: Sequence[Wanted], side: int, verdicts: Sequence[Verdict]
) -> list[Verdict]:
    """The verdicts, with what a matcher says of the planned labels of the images that passed so far."""
    places = [place for place, verdict in enumerate(verdicts) if not verdict.reason]
    planned = [planned_labels(_number(wanted[place]), side) for place in places]
    after = list(verdicts)
    for place, matched in zip(places, match_labels(matcher, [images[place] for place in places], planned), strict=True):
        evidence = dict(verdicts[place].evidence)
        if matched.contradicted:
            after[place] = Verdict("a label is not as planned", evidence | {"questions": "".join(matched.contradicted)})
        else:
            after[place] = Verdict("", evidence | {"matched": "".join(matched.confirmed)})
    return after


def _edit(labels: Labels, number: int, least: float, similarity: float, old: float, new: float) -> Verdict:
    verdict = _labels(labels, number, 1)
    if verdict.reason:
        return verdict
    evidence = {"similarity": similarity}
    if similarity < least:
        return Verdict("images are not alike", evidence)
    if _attire(number, 0) != _attire(number, 1) and new <= old:
        return Verdict("attire has not its new colour", evidence | {"old_colour": old, "new_colour": new})
    return Verdict("", evidence)


def _labels(labels: Labels, number: int, side: int) -> Verdict:
    """Whether an image shows the group that is planned."""
    planned = GROUPS[pairs().groups[number, side]]
    shown = "_".join((labels.gender, labels.age, labels.skin_tone))
    if shown == planned:
        return Verdict()
    evidence: Mapping[str, str] = {"planned": planned, "found": shown if labels.gender else labels.reason}
    return Verdict("labels are not as planned", evidence)


def _attire(number: int, side: int) -> str:
    return f"a person {attire(COLOURS[pairs().labels[number, side, 3]])}"
