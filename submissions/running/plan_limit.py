"""What marks a limited run: how much of the benchmark it asks, and what that means for ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from submissions.registry import benchmark as registered
from submissions.running.inspect_task import Opened
from submissions.running.plan_images import MadePart


@dataclass(frozen=True)
class Share:
    """How much of a task is run.

    Args:
        task: of the submission.
        stimuli: chosen.
        of_stimuli: in the data.
        requests: chosen; of images, how many are made.
        of_requests: of the full benchmark.
    """

    task: str
    stimuli: int
    of_stimuli: int
    requests: int
    of_requests: int

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
        return asdict(self) | {"shares": [asdict(one) | {"share": one.share} for one in self.shares]}


def limited(opened: Opened, made: Sequence[MadePart] = ()) -> LimitNote:
    """What a run of these stimuli and images leaves out, under the benchmark's first standard."""
    bench = registered(opened.chosen.benchmark)
    standard = next(iter(bench.standards.values()))
    shares = [
        Share(
            task,
            len(opened.positions[task]),
            len(part.stimuli),
            sum(part.stimuli[place].asks for place in opened.positions[task]),
            part.expected,
        )
        for task, part in opened.parts.items()
    ]
    for one in made:
        images = [stimulus.asks for stimulus in one.stimuli]
        chosen = sum(images[place] for place in one.positions)
        shares.append(Share(one.task, len(one.positions), len(images), chosen, sum(images)))
    whole = all(one.requests == one.of_requests for one in shares)
    cut = any(one.stimuli < one.of_stimuli for one in shares)
    text = "" if whole else _text(shares, cut, standard.minimum_coverage, standard.name)
    return LimitNote(tuple(shares), cut, whole, standard.minimum_coverage, standard.name, text)


def _text(shares: Sequence[Share], cut: bool, minimum: float, standard: str) -> str:
    lines = ["A limited run: it is shown, not ranked." if cut else "The data lack a part of the benchmark."]
    for one in shares:
        if one.requests < one.of_requests:
            lines.append(
                f"{one.task}: {one.stimuli:,} of {one.of_stimuli:,} stimuli, {one.requests:,} of {one.of_requests:,} "
                f"requests ({one.share:.1%})."
            )
    least = min(one.share for one in shares)
    if least < minimum:
        lines.append(f"The standard {standard} ranks from {minimum:.0%} of the samples of each value.")
    else:
        lines.append(
            f"That is above the {minimum:.0%} from which the standard {standard} ranks, with all that was not asked at "
            "its worst."
        )
    return " ".join(lines)
