"""Annotating on a Ray cluster: the same sessions in its workers, a shard at a time, by `ray.data`.

Images, model and this package must lie where every worker finds them. A worker uses as many threads of torch as this
process does. Where workers have other processors than this one, a few stored probabilities can differ by one step of
rounding (`rounding_ares`).
"""

from __future__ import annotations

import json
import logging
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fairspace.ares.annotating.labellers.session import open_session
from fairspace.ares.annotating.session import Settings
from fairspace.ares.annotating.source import Entry
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    from fairspace.ares.annotating.rows import Tally

_STATISTICS, _TOKEN = "RAY_USAGE_STATS_ENABLED", "RAY_AUTH_TOKEN"
"""Nothing is reported to Ray's makers, and a cluster of this process alone leaves no token in the user's folder."""
_AHEAD = 2
"""Threads of a worker that read ahead."""


def spread(
    settings: Settings, parts: Sequence[tuple[int, list[Entry]]]
) -> Iterator[tuple[int, tuple[pa.Table, pa.Table, Tally]]]:
    """The rows of shards, as they are done.

    Args:
        settings: as for one process; `workers` is how many of them there are.
        parts: number and inputs of each shard.

    Errors: BuildError TOOL_MISSING without Ray.
    """
    import torch

    if not parts:
        return
    mine = replace(settings, workers=_AHEAD, threads=torch.get_num_threads(), model=settings.model.absolute())
    on_gpu = mine.device.startswith("cuda") or (not mine.device and torch.cuda.is_available())
    items = [{"number": number, "entries": json.dumps(entries)} for number, entries in parts]
    with _cluster(max(1, settings.workers)) as ray:
        pool = ray.data.ActorPoolStrategy(size=min(max(1, settings.workers), len(items)))
        shards = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
            Worker, fn_constructor_args=(mine,), batch_size=1, compute=pool, num_cpus=1, num_gpus=int(on_gpu)
        )
        for row in shards.iter_rows():
            yield int(row["number"]), _unpacked(row)


class Worker:
    """A session in a process of Ray; called with one shard, it gives its rows."""

    def __init__(self, settings: Settings) -> None:
        self.session = open_session(settings)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """The shard's number, its tables in Arrow's stream format, and its counts in JSON."""
        (number,), (text,) = batch["number"], batch["entries"]
        annotations, routes, tally = self.session.annotate([Entry(*entry) for entry in json.loads(str(text))])
        packed = {"annotations": [_packed(annotations)], "routes": [_packed(routes)]}
        return {"number": [int(number)], **packed, "tally": [json.dumps(asdict(tally))]}


@cache
def _token() -> str:
    """Of every cluster that this process starts: Ray reads it once, and would keep the first one for the second."""
    return secrets.token_hex(32)


@contextmanager
def _cluster(workers: int) -> Iterator[Any]:
    """Ray, connected to the cluster of RAY_ADDRESS, or started on this machine until the block ends."""
    before = dict(os.environ)
    os.environ.setdefault(_STATISTICS, "0")
    try:
        import ray
        import ray.data
    except ImportError as error:
        what, mend = f"it cannot be imported: {error}", "pip install 'fairspace[scale]', or use --engine local"
        raise BuildError("TOOL_MISSING", "--engine ray", what, "ray[data]", mend) from error
    started = not ray.is_initialized()
    if started:
        address = os.environ.get("RAY_ADDRESS")
        local = {} if address else {"num_cpus": workers, "include_dashboard": False}
        if not address:
            os.environ.setdefault(_TOKEN, _token())
        ray.init(address, log_to_driver=False, configure_logging=False, **local)
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    context = ray.data.DataContext.get_current()
    shown, context.enable_progress_bars = context.enable_progress_bars, False
    try:
        yield ray
    finally:
        context.enable_progress_bars = shown
        if started:
            ray.shutdown()
            for name in set(os.environ) - set(before):
                del os.environ[name]


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _unpacked(row: dict[str, Any]) -> tuple[pa.Table, pa.Table, Tally]:
    from fairspace.ares.annotating.rows import Tally

    annotations, routes = (pa.ipc.open_stream(row[name]).read_all() for name in ("annotations", "routes"))
    return annotations, routes, Tally(**json.loads(row["tally"]))
