"""A labeller's answers to drawn images without a single whole face, kind by kind; ideal: none is `ok`.

Images are from `fairspace.ares.training.nonfaces`; kinds that show faces are made of the measured faces.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fairspace.ares.classifying_ares import ClassifiedInput
from fairspace.ares.evaluating.measure import Share
from fairspace.ares.evaluating.measurement import MeasuredGate
from fairspace.ares.gate_ares import OUTCOMES
from fairspace.ares.training.nonfaces import KINDS, nonface

OK = "ok"
WORDS = (OK, *OUTCOMES[1:], "other")
"""Counted outcomes: `ok`, a reason of the gate, any other reason."""
Label = Callable[[Iterable[NDArray[np.uint8]]], Iterable[ClassifiedInput]]


def measure_gate(
    label: Label, faces: NDArray[np.uint8], trained_on: Iterable[str], images: int, *, seed: int = 0
) -> MeasuredGate:
    """Show a labeller (n, s, s, 3) faces, n > 0, and as many drawn `images` of every kind of non-faces.

    `trained_on`: kinds that its gate was trained on.
    """
    kinds = {
        kind: _count(label(nonface(kind, "measured", number, faces, seed=seed) for number in range(images)))
        for kind in KINDS
    }
    kinds_trained = set(trained_on)
    held_out = [kind for kind in KINDS if kind not in kinds_trained]
    return MeasuredGate(faces=_count(label(iter(faces))), kinds=kinds, held_out=held_out)


def rows(gate: MeasuredGate) -> Iterator[tuple[str, bool, Share, Mapping[str, int]]]:
    """Images shown, whether held out, share answered `ok`, and outcomes; faces first.

    The last two rows take the kinds together: those that the gate was trained on, and those held out.
    """
    yield "faces", False, _share([gate.faces]), gate.faces
    for kind, words in gate.kinds.items():
        yield kind, kind in gate.held_out, _share([words]), words
    for held_out in (False, True):
        parts = [words for kind, words in gate.kinds.items() if (kind in gate.held_out) == held_out]
        together = {word: sum(part.get(word, 0) for part in parts) for word in WORDS}
        name = "all kinds held out" if held_out else "all kinds trained on"
        yield name, held_out, _share(parts), {word: count for word, count in together.items() if count}


def _share(parts: Sequence[Mapping[str, int]]) -> Share:
    return Share(sum(part.get(OK, 0) for part in parts), sum(sum(part.values()) for part in parts))


def _count(answered: Iterable[ClassifiedInput]) -> dict[str, int]:
    """`ok`, or the reason why an image has no label -> images; an image with a labelled face is `ok`."""
    words = Counter(_word(each) for each in answered)
    return {word: words[word] for word in WORDS if words[word]}


def _word(answered: ClassifiedInput) -> str:
    first = answered.answers[0]
    if any(answer.status == OK for answer in answered.answers):
        return OK
    return first.reason if first.reason in OUTCOMES else "other"
