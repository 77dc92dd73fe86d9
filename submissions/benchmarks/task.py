"""A task of a benchmark: its items, samples and stimuli."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    import pyarrow as pa


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


TableName = Literal["responses", "annotations", "judgements"]


CHOICES_ALIKE, IMAGES_ALIKE, TEXTS_ALIKE = 0.6, 0.75, 0.3
"""Thresholds of `Task.alike` for choices, labels of images, and texts, which hardly share words by nature."""


@dataclass(frozen=True)
class Task:
    """One task of a benchmark.

    Args:
        name: value in the `task` column.
        table: table of the submission with its rows.
        samples: samples of each item; `sample` runs from 0 to samples - 1.
        samples_in: dataset revision -> its `samples`, where they differ from the newest one's.
        ids: dataset revision -> all item ids, a string array without repeats; empty where the revision has no such
            task. BuildError REVISION_UNKNOWN.
        values: names in a result or in the paper's tables, one of which exists only if the task was run.
        items: dataset revision -> a table with `id` and `prompt` at least; None for prompts from a model's earlier
            output.
        ask: `ask(task, data, revision, **options) -> asks.Part`, for a task that is answered with text.
        max_tokens: longest answer, unless the user sets another one.
        settings: generation settings that the paper states, such as temperature.
        judges: task whose answers a judge reads in this one; '' for a task of the model itself.
        named_in: dataset revisions whose rows state in `names` the names that the prompt gave to two persons.
        items_asked: number of asked ids, where these follow from a model's images; 0 for all of them.
        every_face: whether an annotated image must state its number of faces.
        optional: whether it is a control: run only where it is named, and never missing.
        alike: Cohen's kappa from which the answers of two models are suspiciously alike; 0 for answers that do not
            identify the model: a judge's, and those to questions with a right answer.
        about_image: whether the question is about its image: a run without images leaves the task out.
    """

    name: str
    table: TableName
    samples: int
    ids: Callable[[str], pa.Array]
    values: tuple[str, ...] = ()
    items: Callable[[str], pa.Table] | None = None
    ask: Lazy | None = None
    max_tokens: int = 0
    settings: Mapping[str, float | int | str] = field(default_factory=dict)
    judges: str = ""
    named_in: tuple[str, ...] = ()
    items_asked: int = 0
    every_face: bool = False
    samples_in: Mapping[str, int] = field(default_factory=dict)
    optional: bool = False
    alike: float = 0.0
    about_image: bool = False

    def chosen(self, tasks: Collection[str]) -> bool:
        """Whether a run of these tasks has it; a run without named tasks has all that are not optional."""
        return self.name in tasks if tasks else not self.optional

    def samples_of(self, revision: str) -> int:
        """Samples of each item in a dataset revision."""
        return self.samples_in.get(revision, self.samples)

    def samples_asked(self, revision: str) -> int:
        """Samples of the task in a dataset revision. BuildError REVISION_UNKNOWN."""
        return (self.items_asked or len(self.ids(revision))) * self.samples_of(revision)
