"""The work of one process: which calls of a model are left to make, what they bring, when a slice is complete.

A call has a fixed part of a slice, so that a model sees the same prompts together whatever was killed before. Failures
are recorded when the model has answered something after them: a model that is silent has failed at no image. After many
failures in a row, and after the last ones, it is asked once more for something that it has answered: all images of one
prompt lie together, so that a model may well fail at a hundred in a row and yet be there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from queue import SimpleQueue
from typing import NamedTuple

from fairspace.builders.engine.tools import Prompt
from fairspace.submissions.benchmarks.asks import Ask, ask_seed
from fairspace.submissions.reading.tables import Progress
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.images.made import ImageModel, Made
from fairspace.submissions.running.images.store import ImageStore


class Call(NamedTuple):
    """The prompts of one call: a slice, the first position in the plan, the one after the last, and those to keep."""

    number: int
    start: int
    stop: int
    wanted: frozenset[int]


class _Outcome(NamedTuple):
    """What a call brought: images and refusals kept, and failures, which were not; when it began and ended."""

    call: Call
    kept: int
    failures: list[tuple[int, Made]]
    began: float
    ended: float


class Work:
    """The slices of one process."""

    def __init__(self, store: ImageStore, model: ImageModel, seed: int, progress: Progress, silent_after: int) -> None:
        self.store, self.model, self.seed, self.progress = store, model, seed, progress
        self.silent_after = silent_after
        self.missing: dict[int, int] = {}
        self.unsure: list[_Outcome] = []
        self.answered: Call | None = None
        self.done = self.before = 0
        self.began = time.monotonic()

    def do(self, numbers: Iterable[int]) -> None:
        """Make what is missing of these slices, and pack them."""
        with closing(_in_turn(self._calls(numbers), self._answer, self.model.concurrency)) as outcomes:
            self._take(outcomes)
        if self.unsure:
            self._settle()

    def _take(self, outcomes: Iterable[_Outcome]) -> None:
        for outcome in outcomes:
            if not outcome.kept:
                self.unsure.append(outcome)
                if len(self.unsure) >= self.silent_after:
                    self._settle()
                continue
            self.answered = outcome.call
            self._fated(outcome.call.number, outcome.kept)
            self._record(outcome)
            # Only an answer to a call that began later says that the model was there and failed at these.
            settled = [each for each in self.unsure if each.ended <= outcome.began]
            self.unsure = [each for each in self.unsure if each.ended > outcome.began]
            for each in settled:
                self._record(each)

    def _settle(self) -> None:
        """Record the failures in doubt if the model is there now; RunError MODEL_SILENT if it is not."""
        if not self._is_there():
            raise self._is_silent()
        unsure, self.unsure = self.unsure, []
        for each in unsure:
            self._record(each)

    def _is_there(self) -> bool:
        """Whether the model answers what it once answered, or, if it never has, another prompt. Nothing is kept."""
        plan, call = self.store.plan, self.answered
        if call is None:
            failed = {plan[place].prompt for each in self.unsure for place, _ in each.failures}
            other = next((place for place in reversed(range(len(plan))) if plan[place].prompt not in failed), None)
            if other is None:
                return False
            call = call_of(self.store, other, self.model.batch)
        return any(image.fate != "failed" for image in ask(self.model, plan, call, self.seed))

    def _calls(self, numbers: Iterable[int]) -> Iterator[Call]:
        """The calls that are left to make, slice by slice; complete slices are packed on the way."""
        store = self.store
        for number in numbers:
            places = store.places(number)
            if (packed := store.packed(number)) is not None:
                store.tidy(number)
                self._has_answered(place for place in places if str(place) not in packed.failed)
                self.before += len(places)
                continue
            store.open(number)
            known = store.loose(number, check=True)
            self._has_answered(place for place, image in known.items() if image.fate != "failed")
            self.before += len(known)
            self.missing[number] = len(places) - len(known)
            if not self.missing[number]:
                self._pack(number)
                continue
            for start in range(places.start, places.stop, self.model.batch):
                part = range(start, min(start + self.model.batch, places.stop))
                if wanted := frozenset(part) - known.keys():
                    yield Call(number, part.start, part.stop, wanted)

    def _has_answered(self, places: Iterable[int]) -> None:
        """Note a call that an earlier start got an answer to, if this one has not yet got any."""
        place = next(iter(places), None)
        if self.answered is None and place is not None:
            self.answered = call_of(self.store, place, self.model.batch)

    def _answer(self, call: Call) -> _Outcome:
        """Make one call, and keep what it brought but for failures: those may be the model's silence."""
        began = time.monotonic()
        failures, kept = [], 0
        for place, image in enumerate(ask(self.model, self.store.plan, call, self.seed), call.start):
            if place not in call.wanted:
                continue
            if image.fate == "failed":
                failures.append((place, image))
            else:
                self.store.keep(place, image)
                kept += 1
        return _Outcome(call, kept, failures, began, time.monotonic())

    def _record(self, outcome: _Outcome) -> None:
        """Record the failures of a call: the model does answer, but not these."""
        for place, image in outcome.failures:
            self.store.keep(place, image)
            self._fated(outcome.call.number, 1)

    def _fated(self, number: int, images: int) -> None:
        self.missing[number] -= images
        self.done += images
        speed = self.done / max(time.monotonic() - self.began, 1e-9)
        self.progress(f"Making images, {speed:.2f} images/s", self.before + self.done, len(self.store.plan))
        if not self.missing[number]:
            self._pack(number)

    def _pack(self, number: int) -> None:
        self.store.pack(number)
        del self.missing[number]

    def _is_silent(self) -> RunError:
        _, last = self.unsure[-1].failures[-1]
        what = f"{len(self.unsure)} calls in a row without a usable answer; the last: {last.reason}"
        mend = "mend what it says, then run again: it goes on where it stopped"
        return RunError("MODEL_SILENT", self.model.name, what, "an image now and then", mend)


def ask(model: ImageModel, plan: Sequence[Ask], call: Call, seed: int) -> list[Made]:
    """What the model makes of a call's prompts. RunError MODEL_OUTPUT if that is another number of things."""
    asks = [plan[place] for place in range(call.start, call.stop)]
    images = model.make([Prompt(ask.prompt, ask_seed(seed, *ask.key)) for ask in asks])
    if len(images) != len(asks):
        problem, mend = f"{len(images)} answers to {len(asks)} prompts", "correct the model's code"
        raise RunError("MODEL_OUTPUT", model.name, problem, "one for each prompt", mend)
    return images


def _in_turn(calls: Iterator[Call], answer: Callable[[Call], _Outcome], concurrency: int) -> Generator[_Outcome]:
    """The outcomes as they come; `concurrency` calls at a time, and as many waiting for their turn."""
    if concurrency == 1:
        yield from map(answer, calls)
        return
    ended: SimpleQueue[Future[_Outcome]] = SimpleQueue()
    under_way: set[Future[_Outcome]] = set()
    with ThreadPoolExecutor(concurrency) as pool:
        try:
            for call in calls:
                future = pool.submit(answer, call)
                under_way.add(future)
                future.add_done_callback(ended.put)
                if len(under_way) >= 2 * concurrency:
                    yield _next(ended, under_way)
            while under_way:
                yield _next(ended, under_way)
        finally:
            for future in under_way:
                future.cancel()


def _next(ended: SimpleQueue[Future[_Outcome]], under_way: set[Future[_Outcome]]) -> _Outcome:
    future = ended.get()
    under_way.remove(future)
    try:
        return future.result()
    finally:
        del future  # else an exception and this frame would hold each other, and with them a client's connections


def call_of(store: ImageStore, place: int, batch: int) -> Call:
    """The call that a place of the plan belongs to."""
    number = place // store.size
    places = store.places(number)
    start = places.start + (place - places.start) // batch * batch
    return Call(number, start, min(start + batch, places.stop), frozenset({place}))
