"""A task of a benchmark: its items, how often each is asked, and what a model is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Lazy:
    """A function that is imported when it is called for the first time.

    Args:
        path: `module:function`.
    """

    path: str

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        module, name = self.path.split(":")
        return cast(Callable[..., Any], getattr(import_module(module), name))

    def __call__(self, *args: Any, **options: Any) -> Any:
        """What the function returns."""
        return self.load()(*args, **options)


TableName = Literal["responses", "annotations", "judgements"]


CHOICES_ALIKE, IMAGES_ALIKE, TEXTS_ALIKE = 0.6, 0.75, 0.3
"""See `Task.alike`: of choices, of labels of images, and of texts, which hardly share a run of words by nature."""


@dataclass(frozen=True)
class Task:
    """One task of a benchmark.

    Args:
        name: as it stands in the `task` column.
        table: the table of the submission that holds its rows.
        samples: how often each item is asked; `sample` runs from 0 to samples - 1.
        samples_in: dataset revision -> the same, where it differs from the newest one's.
        ids: dataset revision -> all item ids of the task, a string array without repeats; empty where the revision has
            no such task. BuildError REVISION_UNKNOWN.
        values: names in a result or in the paper's tables, of which one is there if the task was run, and else none.
        items: dataset revision -> a table with `id` and `prompt` at least; None where prompts follow from what a model
            made or answered before.
        ask: the stimuli of a task that is answered with text: `ask(task, data, revision, **options) -> asks.Part`,
            with the options that the benchmark declares.
        max_tokens: an answer's longest length, unless the user sets another one.
        settings: of generation that the paper states, such as temperature.
        judges: the task whose answers a judge reads in this one; '' for a task of the model itself.
        named_in: dataset revisions whose rows state in `names` the names that the prompt gave to two persons.
        items_asked: how many of the ids are asked, where these follow from what a model made; 0 for all of them.
        every_face: whether an annotated image must say how many faces were found in it.
        optional: a control of its own: it is run where it is named, and a submission without it lacks nothing.
        alike: Cohen's kappa from which the answers of two models to this task are more alike than models are by
            nature; 0 where the answers do not say who answered, as a judge's, and those to questions with a right
            answer, which good models share.
        about_image: the question is about what its image shows: a run without images leaves the task out.
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
        """Whether a run of these tasks has it; a run of none in particular has all that are not optional."""
        return self.name in tasks if tasks else not self.optional

    def samples_of(self, revision: str) -> int:
        """How often each item is asked in a dataset revision."""
        return self.samples_in.get(revision, self.samples)

    def samples_asked(self, revision: str) -> int:
        """How many samples the task asks for in a dataset revision. BuildError REVISION_UNKNOWN."""
        return (self.items_asked or len(self.ids(revision))) * self.samples_of(revision)
