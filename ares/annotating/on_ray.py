"""Label images on Ray Data: a row is a file of the output, and an actor keeps its labeller from file to file.

The bytes are those of one process, which writes each file in the same way; the file of a killed actor is made again.
Images, labeller and output are on a disk that all machines see. Nothing but the command imports this module.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from fairspace.builders.errors import BuildError, CodedError
from fairspace.builders.models.weights import need

if TYPE_CHECKING:
    from fairspace.ares.annotating.annotate import AnnotationWork, Progress

_LOCAL_STORE = 100_000_000
"""Bytes of Ray's shared memory on one machine: rows are numbers of files."""


class _Labels:
    """An actor, which opens the work at its first file."""

    def __init__(self, opening: Callable[[], AnnotationWork], folder: str) -> None:
        self.opening, self.folder = opening, folder
        self.work: AnnotationWork | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Batches of `file`, the number of a file; adds `fault`, '' or our error as JSON, which Ray would lose."""
        try:
            if self.work is None:
                if Path(self.folder).is_dir():  # names that the command was given may be relative
                    os.chdir(self.folder)
                self.work = self.opening()
            self.work.label([int(place) for place in batch["file"]])
        except CodedError as error:
            return {**batch, "fault": [json.dumps(error.__reduce__()[1])]}
        return {**batch, "fault": [""]}


def label_on_ray(address: str, opening: Callable[[], AnnotationWork], count: int, progress: Progress) -> None:
    """Write all files of some work; `files.join` ends it.

    `address` is HOST:PORT of a cluster that this machine is part of; '' for that of RAY_ADDRESS, or a new one here.
    `opening` opens the work, in each actor; `count` is the number of files. An actor has a GPU where the cluster has
    any, else a core. Errors: BuildError TOOL_MISSING without Ray, or a cluster there; as `annotate`.
    """
    need("ray", "ray", "--on ray")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    address = address or os.environ.get("RAY_ADDRESS", "")
    if not address and "RAY_AUTH_MODE" not in os.environ:  # else Ray leaves a token in the home folder
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token_hex(32)}
    import ray
    import ray.data

    options: dict[str, Any] = {"include_dashboard": False, "object_store_memory": _LOCAL_STORE}
    if address:
        options = {"address": address}
    try:
        ray.init(**options, log_to_driver=False, logging_level="warning")
    except Exception as error:
        what, mend = str(error).split("\n", 1)[0], "start it with `ray start`, on this machine too, or name another"
        raise BuildError("TOOL_MISSING", address or "Ray", what, "a cluster of Ray at HOST:PORT", mend) from error
    try:
        has = ray.cluster_resources()
        kind = "GPU" if has.get("GPU") else "CPU"
        actors = max(1, min(count, int(has[kind])))
        progress(f"Annotating on Ray, {actors} actors", 0, count)
        ray.data.DataContext.get_current().enable_progress_bars = False
        # A block for each file from the start: a repartition would wait for ever for the cores that actors hold.
        rows = ray.data.from_items([{"file": place} for place in range(count)], override_num_blocks=count)
        labelled = rows.map_batches(
            _Labels,
            fn_constructor_args=(opening, str(Path.cwd())),
            compute=ray.data.ActorPoolStrategy(size=actors),
            batch_size=1,
            num_cpus=1,
            num_gpus=1 if kind == "GPU" else 0,
        )
        for done, row in enumerate(labelled.iter_rows(), start=1):
            if row["fault"]:
                code, *texts = json.loads(row["fault"])
                raise next(kind for kind in CodedError.__subclasses__() if code in kind.codes)(code, *texts)
            progress(f"Annotating on Ray, {actors} actors", done, count)
    finally:
        ray.shutdown()
