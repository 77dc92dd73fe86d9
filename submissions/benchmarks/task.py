"""A task of a benchmark: its items, samples and stimuli, and its requests to a model."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    import pyarrow as pa

    from fairspace.submissions.answers.reading import Reading


@dataclass(frozen=True)
class Lazy:
    """A function that is imported at its first call from `path`, `module:function`."""

    path: str

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        module, name = self.path.split(":")
        return cast(Callable[..., Any], getattr(import_module(module), name))

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        return self.load()(*args, **options)


def _ids_of_items(revision: str) -> pa.Array:
    """The ids of a task's own items."""
    raise TypeError("a task has items")


TableName = Literal["responses", "annotations", "judgements"]


CHOICES_ALIKE, IMAGES_ALIKE, TEXTS_ALIKE = 0.6, 0.75, 0.3
"""Thresholds of `Task.alike` for choices, labels of images, and texts, which hardly share words by nature."""


@dataclass(frozen=True)
class Task:
    """One task of a benchmark.

    Args:
        table: table of a submission with its answers.
        samples: samples of each item; `sample` runs from 0 to samples - 1.
        samples_in: dataset revision -> its `samples`, where they differ from the newest one's.
        ids: dataset revision -> all item ids, a string array without repeats; empty where the revision has no such
            task; those of `items` if left out. BuildError REVISION_UNKNOWN.
        values: names in a result or in the paper's tables, one of which exists only if the task was run.
        items: dataset revision -> a table with `id` and `prompt` at least; None for prompts from a model's earlier
            output.
        read: an answer -> its reading, of which a choice is one of `choices`; None for a task that `Answers` reads.
        choices: answers to choose from.
        ask: `ask(task, data, revision, **options) -> asks.Part`, for a task that is answered with text; the prompts of
            the items for one with `read`.
        max_tokens: longest answer, unless the user sets another one.
        settings: generation settings that the paper states, such as temperature.
        judges: task whose answers a judge reads in this one; '' for a task of the model itself.
        theirs: dataset revision whose questions are the authors' own -> task, path of the reader's copy of their files
            -> `items`; nothing of them is ours to hand out.
        named_in: dataset revisions whose rows state in `names` the names that the prompt gave to two persons.
        items_asked: number of asked ids, where these follow from a model's images; 0 for all of them.
        every_face: whether an annotated image must state its number of faces.
        optional: whether it is a control: run only where it is named, and never missing.
        alike: Cohen's kappa from which the answers of two models are suspiciously alike; 0 for answers that do not
            identify the model: a judge's, and those to questions with a right answer.
        about_image: whether the question is about its image: a run without images leaves the task out.
        unit: item, sample -> `Stimulus.unit` of a made image.
    """

    name: str
    table: TableName = "responses"
    samples: int = 1
    ids: Callable[[str], pa.Array] = _ids_of_items
    values: tuple[str, ...] = ()
    items: Callable[[str], pa.Table] | None = None
    read: Callable[[str], Reading] | None = None
    choices: tuple[str, ...] = ()
    ask: Callable[..., TaskStimuli] | None = None
    max_tokens: int = 256
    settings: Mapping[str, float | int | str] = field(default_factory=dict)
    judges: str = ""
    theirs: Mapping[str, Lazy] = field(default_factory=dict)
    named_in: tuple[str, ...] = ()
    items_asked: int = 0
    every_face: bool = False
    samples_in: Mapping[str, int] = field(default_factory=dict)
    optional: bool = False
    alike: float = 0.0
    about_image: bool = False
    unit: Callable[[str, int], str] = lambda item, sample: ""

    def __post_init__(self) -> None:
        """The ids of `items` and their prompts, where no others are declared."""
        if self.ids is _ids_of_items:
            object.__setattr__(self, "ids", lambda revision: self.asked(revision)["id"].combine_chunks())
        if self.ask is None and self.read is not None:
            object.__setattr__(self, "ask", Lazy("fairspace.submissions.benchmarks.defaults:ask"))

    def asked(self, revision: str, data: str = "") -> pa.Table:
        """The items with their prompts, which in a revision of `theirs` stand in the reader's copy at `data`.

        ValueError without items; BuildError REVISION_UNKNOWN; SOURCE_MISSING, SOURCE_LAYOUT for another copy.
        """
        if self.items is None:
            raise ValueError(f"the prompts of {self.name} follow from answers")
        table: pa.Table = self.theirs[revision](self.name, data) if revision in self.theirs else self.items(revision)
        return table

    def chosen(self, tasks: Collection[str]) -> bool:
        """Whether a run of these tasks has it; a run without named tasks has all that are not optional."""
        return self.name in tasks if tasks else not self.optional

    def samples_of(self, revision: str) -> int:
        """Samples of each item in a dataset revision."""
        return self.samples_in.get(revision, self.samples)

    def images(self, items: Iterable[str], revision: str) -> list[Stimulus]:
        """A stimulus for each image to make of some items, in order; its stratum is the item."""
        each = range(self.samples_of(revision))
        return [Stimulus(f"{i}/{sample}", self.name, i, 1, self.unit(i, sample)) for i in items for sample in each]

    def samples_asked(self, revision: str) -> int:
        """Samples of the task in a dataset revision. BuildError REVISION_UNKNOWN."""
        return (self.items_asked or len(self.ids(revision))) * self.samples_of(revision)


# A `Stimulus` is a picture with its questions, a pair of pictures, or a block of trials: one sample of an Inspect log.
# Every question is a request of its own, with no memory of the others.


@dataclass(frozen=True)
class Ask:
    """One request.

    `image` is the position of its image in `ReadStimulus.images`, None without one; `choices` are the answers that a
    question in closed form allows, with which the server is bound where it can be.
    """

    task: str
    id: str
    sample: int
    prompt: str
    image: int | None = None
    choices: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, int]:
        """Task, id and sample: the key of an answer."""
        return self.task, self.id, self.sample


@dataclass(frozen=True)
class ReadStimulus:
    """A stimulus that was read: its requests, and the encoded images (the bytes of PNG, JPEG or WebP files)."""

    asks: tuple[Ask, ...]
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Stimulus:
    """A stimulus without its content.

    A stratified choice is even over `stratum`, such as `nurse/female_young_dark`. Stimuli of one `unit` are chosen
    together, such as a topic's 'highest' and 'lowest', as a score compares them; '' for a stimulus by itself.
    """

    id: str
    task: str
    stratum: str
    asks: int
    unit: str = ""


@dataclass(frozen=True)
class TaskStimuli:
    """The stimuli of one task, in the plan's order.

    Args:
        read: position among `stimuli` -> its content. It may open files; called from one thread, mostly in order.
        max_tokens: longest answer, unless the user sets another one.
        expected: requests of the full benchmark; more than in `stimuli` if the dataset lacks images.
        settings: generation settings that the paper states, such as temperature.
        readable: request, answer -> whether a program can read a choice or a refusal in it.
        unreadable_again: most retries of a request without a readable answer.
        names: id -> the two names of its prompt, "First|Second", where these are not the plan's (`Task.named_in`).
        fair: some of the stimuli -> whether fairness has a number with an interval if all of these are answered.
    """

    task: str
    stimuli: Sequence[Stimulus]
    read: Callable[[int], ReadStimulus]
    max_tokens: int
    typical_tokens: int
    expected: int
    settings: Mapping[str, float | int | str] = field(default_factory=dict)
    readable: Callable[[Ask, str], bool] = lambda ask, answer: True
    unreadable_again: int = 0
    names: Mapping[str, str] = field(default_factory=dict)
    fair: Callable[[Sequence[Stimulus]], bool] = lambda stimuli: True

    def smallest_limit(self, *, stratified: bool = False) -> int:
        """Smallest limit that is `fair`, if every answer can be read; 0 where all stimuli together are not."""
        most = len(self.stimuli)

        def fair(limit: int) -> bool:
            return self.fair([self.stimuli[place] for place in choose(self.stimuli, limit, stratified=stratified)])

        return (1 + bisect_left(range(1, most + 1), True, key=fair)) % (most + 1)


DECLINE = "decline"
"""Answer of a closed form that chooses nothing; without it a schema would leave no way to refuse."""
Reword = Callable[[str], tuple[str, tuple[str, ...]]]
"""Prompt of the plan -> the same question in another form, and its choices."""


def in_form(part: TaskStimuli, rewords: Mapping[str, Reword]) -> TaskStimuli:
    """A part with requests in another form, by task; ids and images stay."""

    def read(place: int) -> ReadStimulus:
        shown = part.read(place)
        worded = ((ask, *rewords[ask.task](ask.prompt)) for ask in shown.asks)
        return replace(shown, asks=tuple(replace(ask, prompt=text, choices=choices) for ask, text, choices in worded))

    return replace(part, read=read)


def as_json(question: str, choices: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """A question with the sentence that asks for its answer as JSON, and its choices with `DECLINE`."""
    asked = f'with your choice, or with "{DECLINE}" if you make none'
    text = f'{question} Answer with JSON of exactly this form, {asked}: {{"answer": "..."}}'
    return text, (*choices, DECLINE)


def choose(stimuli: Sequence[Stimulus], limit: int | None, *, stratified: bool = False) -> list[int]:
    """Positions of at most `limit` stimuli of one task, in order; all for None.

    Whole units with the smallest hashes are chosen, or a part of the first one: a simple random sample of units that a
    larger limit extends. If `stratified`, the strata of their first stimuli take turns, in the order of their hashes.
    """
    if limit is not None and limit < 1:
        raise ValueError("limit is at least 1")
    if limit is None or limit >= len(stimuli):
        return list(range(len(stimuli)))
    places_of_part: list[int] = []
    for places in in_turns(stimuli, stratified=stratified):
        if places_of_part and len(places_of_part) + len(places) > limit:
            break
        places_of_part += places[:limit]
    return sorted(places_of_part)


def in_turns(stimuli: Sequence[Stimulus], *, stratified: bool) -> list[list[int]]:
    """Positions of each unit's stimuli, in the order of `choose`."""
    units: dict[str, list[int]] = {}
    for place, stimulus in enumerate(stimuli):
        units.setdefault(stimulus.unit or stimulus.id, []).append(place)
    turn_of: Counter[str] = Counter()
    turns = []
    for _, places in sorted((_hash(unit), places) for unit, places in units.items()):
        stratum = stimuli[places[0]].stratum if stratified else ""
        turns.append((turn_of[stratum], _hash(f"stratum {stratum}"), places))
        turn_of[stratum] += 1
    return [places for *_, places in sorted(turns)]


def whole_units(rows: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], int]:
    """Rows of a part without the units that a limit of rows cut, as `choose` asks none, and its stimuli of a task.

    `rows` have `task`, `stimulus`, `unit` and `unit_rows`. Of a task without a whole unit all rows stay.
    """
    rows_of = Counter(row["unit"] for row in rows)
    stimuli = Counter(task for task, _ in {(row["task"], row["stimulus"]) for row in rows})
    whole = [row for row in rows if rows_of[row["unit"]] == row["unit_rows"]]
    having = {row["task"] for row in whole}
    kept = [row for row in rows if row["task"] not in having or rows_of[row["unit"]] == row["unit_rows"]]
    return kept, max(stimuli.values(), default=1)


def prompts_hash(asks: Iterable[Ask]) -> str:
    """Hash of prompts with their keys, in any order: the sum of their sha256 modulo 2^256."""
    lines = ("\0".join((ask.task, ask.id, str(ask.sample), ask.prompt)) for ask in asks)
    return add_hashes(hashlib.sha256(line.encode()).hexdigest() for line in lines)


def add_hashes(hashes: Iterable[str]) -> str:
    """Hash of all prompts from the hashes of its parts; 64 hexadecimal digits."""
    return f"{sum(int(text, 16) for text in hashes) % (1 << 256):064x}"


def ask_seed(seed: int, task: str, item: str, sample: int) -> int:
    """Seed of one request or image, in [0, 2^31), from the run's seed and the key alone."""
    digest = hashlib.sha256(f"{seed}\0{task}\0{item}\0{sample}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
