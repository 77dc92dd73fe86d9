"""Answers of a killed evaluation that Inspect recovered, so that `inspect eval-retry` asks no answered request again.

Inspect takes whole samples over by itself. A sample under way has no answers yet, but each call of the model that ended
stands in the recovered log as an event; equal messages with an equal seed are one request.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ModelOutput

Request = tuple[str, int | None]
"""Hash of the messages, and seed."""


class Harvest:
    """The recovered answers of a log's earlier starts: `read` a sample's before it is asked, `take` each once."""

    def __init__(self) -> None:
        self._outputs: defaultdict[Request, list[ModelOutput]] = defaultdict(list)
        self._logs: dict[str, list[str]] | None = None
        """Sample -> recovered logs in which it is under way."""
        self._looking: anyio.Lock | None = None

    async def read(self, sample: str) -> None:
        """Take in the answers to a sample's requests; those of samples that were not under way are Inspect's."""
        from inspect_ai.event import ModelEvent
        from inspect_ai.log import read_eval_log_sample_async

        self._looking = self._looking or anyio.Lock()
        async with self._looking:  # samples begin together
            self._logs = await _under_way() if self._logs is None else self._logs
        for log in self._logs.pop(sample, ()):
            recovered = await read_eval_log_sample_async(log, sample, resolve_attachments=True)
            for event in recovered.events:
                if isinstance(event, ModelEvent) and event.output.choices and not (event.pending or event.error):
                    self._outputs[request_of(event.input, event.config.seed)].append(event.output)

    def take(self, messages: Sequence[ChatMessage], seed: int | None) -> ModelOutput | None:
        """An answer to this request that nobody took yet; None if there is none."""
        outputs = self._outputs and self._outputs.get(request_of(messages, seed))
        return outputs.pop(0) if outputs else None


def request_of(messages: Sequence[ChatMessage], seed: int | None) -> Request:
    """The key of a request."""
    texts = hashlib.sha256()
    for message in messages:
        content = message.content
        pieces = [content] if isinstance(content, str) else [piece.model_dump_json() for piece in content]
        texts.update("\0".join([message.role, *pieces, ""]).encode("utf-8", "surrogatepass"))
    return texts.hexdigest(), seed


async def _under_way() -> dict[str, list[str]]:
    """The samples under way in recovered logs of this task, beside its log."""
    from inspect_ai.log import read_eval_log_async, read_eval_log_sample_summaries_async
    from inspect_ai.log._samples import sample_active

    active = sample_active()
    here = Path(active.log_location.removeprefix("file://")) if active else Path()
    logs: dict[str, list[str]] = {}
    recovered = sorted(here.parent.glob("*-recovered.eval")) if here.is_file() else []
    task = (await read_eval_log_async(str(here), header_only=True)).eval.task_id if recovered else ""
    for file in recovered:
        if (await read_eval_log_async(str(file), header_only=True)).eval.task_id == task:
            for summary in await read_eval_log_sample_summaries_async(str(file)):
                if summary.error:
                    logs.setdefault(str(summary.id), []).append(str(file))
    return logs
