"""Which planned stimuli a dataset holds images of."""

from __future__ import annotations

from collections.abc import Sequence

from fairspace.submissions.running.data.data import Data
from fairspace.submissions.running.data.images import Images
from fairspace.submissions.running.errors import RunError


def planned_images(
    task: str,
    data: Data | None,
    place: tuple[str, str, str],
    planned: Sequence[str],
    column_and_prompts: tuple[str, Sequence[str]] | None = None,
) -> tuple[Images, list[int]]:
    """The images of a task, and the positions in the plan of those that are there, in order.

    Args:
        task: of the benchmark.
        data: where the dataset is.
        place: dataset, config and split.
        planned: the ids of all images of the plan.
        column_and_prompts: the dataset's column of prompts, and the plan's prompt for each image: they belong together.

    Errors: RunError DATA_MISSING without data, split or any image; DATA_INVALID if an id or a prompt is not the plan's.
    """
    if data is None:
        mend = "name the datasets with --data: a folder of builds, or NAMESPACE[@TAG] on the Hub"
        raise RunError("DATA_MISSING", f"task {task}", "no data", f"the images of {place[0]}, config {place[1]}", mend)
    images = data.images(*place)
    where = f"{data.where}: {place[0]}, {place[1]}/{place[2]}"
    mend = "build or fetch the dataset that belongs to this version of fairspace"
    if strange := (set(images) | images.without).difference(planned):
        raise RunError("DATA_INVALID", where, f"the id {min(strange)!r}", "ids of the benchmark's plan", mend)
    if column_and_prompts is not None:
        column, prompts = column_and_prompts[0], dict(zip(planned, column_and_prompts[1], strict=True))
        table = data.table(*place, ("id", column))
        for item, prompt in zip(table["id"].to_pylist(), table[column].to_pylist(), strict=True):
            if prompts[item] != prompt:
                what = f"{column} {str(prompt)[:120]!r}"
                raise RunError("DATA_INVALID", f"{where}, row {item}", what, f"{prompts[item][:120]!r}", mend)
    return images, [number for number, item in enumerate(planned) if item in images]
