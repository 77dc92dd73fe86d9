"""The four benchmarks as Inspect tasks: `inspect eval fairspace/genres --model ...`.

A sample of the log is a stimulus (a picture, a pair of pictures, a block of trials) with all its requests. Parameters
(`-T name=value`) are those of `fairspace run`, which runs the same tasks with a journal, and writes the submission;
here `inspect eval-retry LOG` goes on, `fairspace score LOG` scores it, and `fairspace import inspect LOG` writes the
submission. What must outlive more than a kill, such as three days or a full disk, is run by `fairspace run`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspect_ai import task

from fairspace.submissions.running.asking.asking import RunAsking
from fairspace.submissions.running.asking.inspect_task import ChosenPart, build_task, open_benchmark
from fairspace.submissions.running.settings import ModelFacts, meta_of

if TYPE_CHECKING:
    from inspect_ai import Task


def _task(benchmark: str, tasks: str | list[str] = "", data: str = "", **options: Any) -> Task:
    """The task of a benchmark; `options` are fields of `ChosenPart`."""
    part = ChosenPart(benchmark, "" if options.get("text_only") else data, _named(tasks), **options)
    opened = open_benchmark(part)
    meta = meta_of(opened.chosen, opened.marks, ModelFacts())
    return build_task(opened, RunAsking(opened.parts, seed=part.seed), meta=meta)


def _named(tasks: str | list[str]) -> tuple[str, ...]:
    names = tasks.split(",") if isinstance(tasks, str) else tasks
    return tuple(name for name in map(str.strip, names) if name)


@task
def genres(
    data: str = "built",
    limit: int | None = None,
    stratified: bool = True,
    seed: int | None = None,
    text_only: bool = False,
    dataset_revision: str = "",
) -> Task:
    """GENRES: narratives of two persons, from a picture of them and a plot."""
    return _task("genres", **locals())


@task
def fact_or_fair(
    tasks: str | list[str] = "",
    limit: int | None = None,
    stratified: bool = True,
    seed: int | None = None,
    dataset_revision: str = "",
) -> Task:
    """FACT-OR-FAIR for language models: who is highest in a statistic, and who of four persons it is."""
    return _task("fact_or_fair", **locals())


@task
def stereotypical_bias(
    data: str = "built",
    tasks: str | list[str] = "",
    limit: int | None = None,
    stratified: bool = True,
    seed: int | None = None,
    prefix: str = "plain",
    text_only: bool = False,
    dataset_revision: str = "",
) -> Task:
    """Stereotypical bias of multimodal models: whom a model points at, and whom it thinks of."""
    return _task("stereotypical_bias", **locals())


@task
def iris(
    data: str = "built",
    tasks: str | list[str] = "",
    limit: int | None = None,
    stratified: bool = True,
    seed: int | None = None,
    dataset_revision: str = "",
) -> Task:
    """IRIS, understanding: a person's occupation, a tournament of occupations, and pairs of counterfactual pictures."""
    return _task("iris", **locals())
