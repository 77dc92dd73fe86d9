"""The fate of every request of a run against the served models, computed from answers and faults."""

import base64
from collections.abc import Iterator, Sequence

from fairspace.submissions.benchmarks.task import ask_seed
from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark
from fairspace.submissions.running.asking.journal import Fate, JournalEntry, Key
from tests.served import Fault
from tests.served.answers import answer, recognise, refusing, unreadable
from tests.served.faults import Faults
from tests.served.keys import Request, chat_request

LOST = ("status", "slow", "truncated", "cut", "reset", "html", "not_completion", "empty")
"""Faults after which a request is sent again, since no answer arrives."""
REFUSED = ("filtered", "refusal", "blocked")
Expected = dict[Key, tuple[Fate, str | None]]


def requests(chosen: ChosenPart) -> Iterator[tuple[Key, Request]]:
    """Every request of a run as the server must see it: prompt, image to the byte, seed."""
    opened = open_benchmark(chosen)
    for task, places in opened.positions.items():
        for place in places:
            shown = opened.parts[task].read(place)
            for ask in shown.asks:
                images = [] if ask.image is None else [shown.images[ask.image]]
                seed = None if chosen.seed is None else ask_seed(chosen.seed, *ask.key)
                yield ask.key, _request(ask.prompt, images, seed)


def expected(chosen: ChosenPart, faults: Sequence[Fault] = ()) -> Expected:
    """Key -> fate and text. Faults spoil the first attempt or all."""
    return {key: _fate(request, Faults(tuple(faults))) for key, request in requests(chosen)}


def found(answers: Sequence[JournalEntry]) -> Expected:
    """The same, from a journal. AssertionError if a key has two fates."""
    fates: Expected = {answer.key: (answer.fate, answer.response) for answer in answers}
    assert len(fates) == len(answers)
    return fates


def _fate(request: Request, faults: Faults) -> tuple[Fate, str | None]:
    kind = recognise(request.text)[0].name
    for attempt in (1, 2):
        fault = faults.find(request, kind, attempt)
        if fault is None:
            break
        if fault.way in REFUSED:
            return "refused", None
        if fault.way not in LOST:
            return "answered", _spoiled(fault, request)
        if fault.times is None:
            return "failed", None
    return "answered", answer(request)


def _spoiled(fault: Fault, request: Request) -> str:
    whole = answer(request)
    return {
        "silent": "",
        "half": whole[: len(whole) // 2],
        "refusing": refusing(request),
        "unreadable": unreadable(request),
    }[fault.way]


def _request(prompt: str, images: Sequence[bytes], seed: int | None) -> Request:
    uris = [f"data:image/png;base64,{base64.b64encode(image).decode()}" for image in images]
    shown = [{"type": "image_url", "image_url": {"url": uri}} for uri in uris]
    content = [*shown, {"type": "text", "text": prompt}]
    return chat_request({"messages": [{"role": "user", "content": content}], "seed": seed})
