"""What a model is asked: requests, grouped by what they show, and valid smaller choices among them.

A `Stimulus` is what the model sees together with all that is asked about it: a picture and its questions, a pair of
pictures, a block of trials. It is the unit of choosing (`choose`) and one sample of an Inspect log; every question is
a request of its own, with no memory of the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Ask:
    """One request.

    Args:
        task: of the submission.
        id: of the item.
        sample: from 0.
        prompt: the question, to the letter.
        image: position in `Shown.images` of the image that goes with it; None for none.
    """

    task: str
    id: str
    sample: int
    prompt: str
    image: int | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        """Task, id and sample: what an answer is handed in under."""
        return self.task, self.id, self.sample


@dataclass(frozen=True)
class Shown:
    """A stimulus that was read: its requests, and the encoded images (the bytes of PNG, JPEG or WebP files)."""

    asks: tuple[Ask, ...]
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Stimulus:
    """What is shown together, without its content.

    Args:
        id: unique in the run.
        task: of the submission.
        stratum: what a stratified choice is spread over evenly, such as `nurse/female_young_dark`.
        asks: how many requests it is.
    """

    id: str
    task: str
    stratum: str
    asks: int


@dataclass(frozen=True)
class Part:
    """The stimuli of one task, in the plan's order.

    Args:
        task: of the submission.
        stimuli: all of them.
        read: position among `stimuli` -> what is shown. It may open files; called from one thread, mostly in order.
        max_tokens: that an answer takes at most, unless the user says otherwise.
        typical_tokens: of a usual answer, for estimates.
        expected: requests of the full benchmark; more than are in `stimuli` if the dataset lacks images.
        settings: of generation that the paper states, such as temperature.
        readable: request, answer -> whether a program can read a choice or a refusal in it.
        unreadable_again: how often at most a request is sent anew whose answer is not readable.
    """

    task: str
    stimuli: Sequence[Stimulus]
    read: Callable[[int], Shown]
    max_tokens: int
    typical_tokens: int
    expected: int
    settings: Mapping[str, float | int | str] = field(default_factory=dict)
    readable: Callable[[Ask, str], bool] = lambda ask, answer: True
    unreadable_again: int = 0


def choose(stimuli: Sequence[Stimulus], limit: int | None, *, stratified: bool = False) -> list[int]:
    """Positions of a valid smaller choice, in order; all if there is no limit.

    Chosen are the stimuli whose ids have the smallest hashes: a simple random sample that depends on nothing else, so
    that a larger limit holds a smaller one and a run can be made longer. Stratified, the strata take turns.

    Args:
        stimuli: of one task.
        limit: how many at most; at least 1.
        stratified: whether the choice is spread evenly over the strata, in the order of their hashes.
    """
    if limit is not None and limit < 1:
        raise ValueError("limit is at least 1")
    if limit is None or limit >= len(stimuli):
        return list(range(len(stimuli)))
    ranks = [_hash(stimulus.id) for stimulus in stimuli]
    order = sorted(range(len(stimuli)), key=lambda place: ranks[place])
    if stratified:
        seen: dict[str, int] = {}
        turns = []
        for place in order:
            stratum = stimuli[place].stratum
            turns.append((seen.get(stratum, 0), _hash(f"stratum {stratum}"), place))
            seen[stratum] = seen.get(stratum, 0) + 1
        order = [place for _, _, place in sorted(turns)]
    return sorted(order[:limit])


def prompts_hash(asks: Iterable[Ask]) -> str:
    """A hash of prompts with their keys, in whatever order they come: the sum of their sha256 modulo 2^256."""
    lines = ("\0".join((ask.task, ask.id, str(ask.sample), ask.prompt)) for ask in asks)
    return add_hashes(hashlib.sha256(line.encode()).hexdigest() for line in lines)


def add_hashes(hashes: Iterable[str]) -> str:
    """The hash of all prompts from the hashes of its parts; 64 hexadecimal digits."""
    return f"{sum(int(text, 16) for text in hashes) % (1 << 256):064x}"


def ask_seed(seed: int, task: str, item: str, sample: int) -> int:
    """The seed of one request or image, in [0, 2^31): the run's seed and the key decide it, nothing else."""
    digest = hashlib.sha256(f"{seed}\0{task}\0{item}\0{sample}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
