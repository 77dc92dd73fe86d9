"""Makes the image pairs of IRIS-Steer-60: generate a, edit it into b, check both, try again with other seeds (C.2).

A pair enters if a labeller reads the planned gender, age and skin tone in both images, a matcher confirms the other
labels that are planned for them (`statements.py`), and the two are alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from fairspace.builders.engine.dataset import Job
from fairspace.builders.engine.making import Accept, Verdict, Wanted, jpeg, make
from fairspace.builders.engine.tools import Labeller, Labels, Matcher
from fairspace.builders.iris.groups import GROUPS
from fairspace.builders.iris.revisions import REVISIONS
from fairspace.builders.iris_steer_60.plan import pairs
from fairspace.builders.iris_steer_60.statements import label_margins
from fairspace.builders.iris_steer_60.wording import base_prompt, instruction, planned_labels

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
_SHEET = "understanding"


@dataclass(frozen=True)
class MadeImage:
    """One image that passed.

    Args:
        data: JPEG.
        seed: that it was made with.
        similarity: of image b to image a; None of image a.
        margins: by which the matcher confirmed its labels, by question.
    """

    data: bytes
    seed: int
    similarity: float | None
    margins: Mapping[str, float]


def make_pairs(
    numbers: Sequence[int], job: Job, revision: str = REVISIONS[0], *, batch: int = 0
) -> dict[int, tuple[MadeImage, MadeImage]]:
    """Make pairs of the plan; pairs that passed no attempt are left out, and every rejection is in the job's log.

    Args:
        numbers: of the pairs.
        job: the build; its tools are a generator, an editor, a labeller and a matcher.
        revision: of the plan.
        batch: images that are made together, 0 for as many as the tools take; it changes none.

    Returns:
        Number -> images a and b, of the pairs that passed.
    """
    labeller, matcher = job.tools.labeller, job.tools.matcher
    if labeller is None or matcher is None:
        raise ValueError("pairs cannot be checked without a labeller and a matcher")
    passed: dict[int, tuple[MadeImage, MadeImage]] = {}
    left, least = list(numbers), least_similarity(job)
    for base in range(BASES):
        first = [Wanted(_key(number, "a", base), base_prompt(number, revision)) for number in left]
        results = make(
            job, first, _check_base(labeller, matcher, revision), attempts=ATTEMPTS, batch=batch, config=_SHEET
        )
        bases = dict(_passed(results))
        second = [Wanted(_key(n, "b", base), instruction(n, revision), image.data) for n, image in bases.items()]
        accept = _check_edit(labeller, matcher, least, revision)
        results = make(job, second, accept, attempts=ATTEMPTS, batch=batch, config=_SHEET)
        edited = dict(_passed(results))
        passed |= {number: (bases[number], image) for number, image in edited.items()}
        left = [number for number in left if number not in edited]
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
            margins = json.loads(about["margins"])
            yield _number(wanted), MadeImage(jpeg(image), about["seed"], about.get("similarity"), margins)


def _check_base(labeller: Labeller, matcher: Matcher, revision: str) -> Accept:
    def accept(images: Sequence[Image], wanted: Sequence[Wanted]) -> list[Verdict]:
        labels = labeller.label(images)
        verdicts = [_labels(seen, _number(item), 0, revision) for seen, item in zip(labels, wanted, strict=True)]
        return _match(matcher, images, wanted, 0, verdicts, revision)

    return accept


def _check_edit(labeller: Labeller, matcher: Matcher, least: float, revision: str) -> Accept:
    from PIL import Image as Images

    def accept(images: Sequence[Image], wanted: Sequence[Wanted]) -> list[Verdict]:
        bases = [Images.open(BytesIO(item.base)).convert("RGB") for item in wanted]
        alike = matcher.image_similarity(bases, images)
        verdicts = [
            _edit(labels, _number(item), least, similarity, revision)
            for labels, item, similarity in zip(labeller.label(images), wanted, alike, strict=True)
        ]
        return _match(matcher, images, wanted, 1, verdicts, revision)

    return accept


def _match(
    matcher: Matcher,
    images: Sequence[Image],
    wanted: Sequence[Wanted],
    side: int,
    verdicts: Sequence[Verdict],
    revision: str = REVISIONS[0],
) -> list[Verdict]:
    """The verdicts, with what a matcher says of the planned labels of the images that passed so far."""
    places = [place for place, verdict in enumerate(verdicts) if not verdict.reason]
    planned = [planned_labels(_number(wanted[place]), side, revision) for place in places]
    after = list(verdicts)
    margins = label_margins(matcher, [images[place] for place in places], planned)
    for place, by_question in zip(places, margins, strict=True):
        rounded = {question: round(margin, 4) for question, margin in by_question.items()}
        failed = "".join(question for question, margin in rounded.items() if margin <= 0)
        evidence = dict(verdicts[place].evidence) | {"margins": json.dumps(rounded)}
        after[place] = Verdict("a label is not as planned" if failed else "", evidence | {"questions": failed})
    return after


def _edit(labels: Labels, number: int, least: float, similarity: float, revision: str = REVISIONS[0]) -> Verdict:
    """Whether image b shows its group, and is like image a."""
    verdict = _labels(labels, number, 1, revision)
    if verdict.reason:
        return verdict
    return Verdict("images are not alike" if similarity < least else "", {"similarity": similarity})


def _labels(labels: Labels, number: int, side: int, revision: str) -> Verdict:
    """Whether an image shows the group that is planned."""
    planned = GROUPS[pairs(revision).groups[number, side]]
    shown = "_".join((labels.gender, labels.age, labels.skin_tone))
    if shown == planned:
        return Verdict()
    evidence: Mapping[str, str] = {"planned": planned, "found": shown if labels.gender else labels.reason}
    return Verdict("labels are not as planned", evidence)
