"""What marks a limited run: how much of the benchmark it asks, and what that means for ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fairspace.submissions.benchmarks.detectable import Detectable, detectable, families
from fairspace.submissions.benchmarks.registry import benchmark as registered
from fairspace.submissions.running.asking.inspect_task import Opened
from fairspace.submissions.running.planning.images import MadePart

_NAMED = 3
"""Values without a difference that are told by name."""


@dataclass(frozen=True)
class Share:
    """How much of a task is run.

    Args:
        task: of the submission.
        stimuli: chosen; an image that is made is one.
        of_stimuli: in the data.
        requests: chosen; of images, how many are made.
        of_requests: of the full benchmark.
        made: whether images are made.
    """

    task: str
    stimuli: int
    of_stimuli: int
    requests: int
    of_requests: int
    made: bool = False

    @property
    def share(self) -> float:
        """Of the full benchmark, from 0 to 1."""
        return self.requests / self.of_requests


@dataclass(frozen=True)
class LimitNote:
    """What a reader of the run must know.

    Args:
        shares: of each task that is run.
        limited: whether the user limited the run, so that less is asked than the data hold.
        whole: whether each task asks all of the benchmark.
        minimum: the share that the standard needs.
        standard: its name.
        text: all of it in sentences, '' for a whole run.
    """

    shares: tuple[Share, ...]
    limited: bool
    whole: bool
    minimum: float
    standard: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self) | {"shares": [asdict(share) | {"share": share.share} for share in self.shares]}


def limited(
    opened: Opened, image_parts: Sequence[MadePart] = (), values: Sequence[Detectable] | None = None
) -> LimitNote:
    """What a run of these stimuli and images leaves out, under the benchmark's default standard.

    Args:
        opened: what is asked.
        image_parts: the images that are made.
        values: what the run can show; None to have it computed here.
    """
    bench = registered(opened.chosen.benchmark)
    standard = bench.standards[bench.default]
    shares = [_asked(opened, task) for task in opened.parts] + [_made(part) for part in image_parts]
    whole = all(share.requests == share.of_requests for share in shares)
    cut = any(share.stimuli < share.of_stimuli for share in shares)
    text = ""
    if not whole:
        chosen = {task: [opened.parts[task].stimuli[p] for p in places] for task, places in opened.positions.items()}
        chosen |= {part.task: part.chosen for part in image_parts}
        differences = detectable(bench.name, chosen, chosen) if values is None else values
        text = " ".join([*_sentences(shares, cut, standard.minimum_coverage, standard.name), _shows(differences)])
    if opened.sample:
        text = f"The data are a small sample: the run is shown, not ranked. {text}".rstrip()
    return LimitNote(tuple(shares), cut, whole, standard.minimum_coverage, standard.name, text)


def _asked(opened: Opened, task: str) -> Share:
    part, positions = opened.parts[task], opened.positions[task]
    requests = sum(part.stimuli[place].asks for place in positions)
    return Share(task, len(positions), len(part.stimuli), requests, part.expected)


def _made(part: MadePart) -> Share:
    chosen, whole = len(part.positions), len(part.stimuli)
    return Share(part.task, chosen, whole, chosen, whole, made=True)


def _sentences(shares: Sequence[Share], cut: bool, minimum: float, standard: str) -> list[str]:
    notes = ["A limited run: it is shown, not ranked." if cut else "The data lack a part of the benchmark."]
    for share in shares:
        if share.requests < share.of_requests:
            stimuli = "" if share.made else f"{share.stimuli:,} of {share.of_stimuli:,} stimuli, "
            what = "images" if share.made else "requests of the benchmark"
            notes.append(
                f"{share.task}: {stimuli}{share.requests:,} of {share.of_requests:,} {what} ({share.share:.1%})."
            )
    least = min(share.share for share in shares)
    if least < minimum:
        notes.append(f"The standard {standard} ranks from {minimum:.0%} of the samples of every value.")
    elif not cut:
        notes.append(
            f"The standard {standard} ranks from {minimum:.0%}, which this reaches; but all that is missing counts at "
            "its worst, so that a rank would be one of what was left out."
        )
    return notes


def _shows(values: Sequence[Detectable]) -> str:
    """The differences that can be shown, by family, and what stays undefined."""
    if not values:
        return ""
    shown, undefined = [], []
    for label, family in families(values).items():
        differences = [value.smallest for value in family if value.smallest is not None]
        if differences:
            shown.append(f"{label} {max(differences):.2g} ({family[0].unit})")
        else:
            few = len(family) <= _NAMED
            undefined += [value.value for value in family] if few else [label.removesuffix(", undefined")]
    text = "Two models can be told apart (80 % power, 5 %), by the hardest value of each kind, from a difference of: "
    text += "; ".join(shown) + "."
    if not shown:
        text = "No difference between two models can be shown."
    return text + (f" No difference, or no value at all, for: {', '.join(undefined)}." if undefined else "")
