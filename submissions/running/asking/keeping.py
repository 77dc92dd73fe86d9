"""The end of a run and of a start, growth of a limited run, and the table of answers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from fairspace.submissions.format.manifest import Stage
from fairspace.submissions.format.schema import KEYS, SCHEMAS
from fairspace.submissions.running.asking.asking import of_disk, unwritten
from fairspace.submissions.running.asking.journal import Answer, Journal
from fairspace.submissions.running.errors import RunError


@dataclass(frozen=True)
class Answered:
    """What came of a run: the rows for the submission, and the stage for its manifest.

    Args:
        table: `responses` or `judgements`, as `Opened.table` says.
        stage: who answered, how, when, and how often with which fate.
        log: Inspect's log of the last start.
    """

    table: pa.Table
    stage: Stage
    log: str


def table_of(answers: Iterable[Answer], table: str) -> pa.Table:
    """Answers as rows of `responses` or `judgements`, sorted by key.

    What failed is left out, so that it counts as missing; what was refused is a row without text.
    """
    column = "response" if table == "responses" else "judgement"
    rows = [
        {"task": answer.task, "id": answer.id, "sample": answer.sample, column: answer.response}
        for answer in answers
        if answer.fate != "failed"
    ]
    order = [(key, "ascending") for key in KEYS[table] if key in ("task", "id", "sample")]
    return pa.Table.from_pylist(rows, schema=SCHEMAS[table]).sort_by(order)


def stopped(where: str, what: str) -> RunError:
    """The error of a run that was stopped by Ctrl-C."""
    mend = "run the same command again: it goes on from here"
    return RunError("RUN_STOPPED", where, f"stopped; {what}", "a run to its end", mend)


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """RunError RUN_INCOMPLETE if the journal cannot be written."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if not of_disk(error):
            raise
        raise unwritten(file, error) from error


def grow(journal: Journal, limit: int | None, stratified: bool) -> None:
    """A run may be made longer, never shorter: its answers would be more than was asked for.

    The whole benchmark holds every choice of it, but a stratified choice does not hold a plain one.
    """
    before = json.loads(journal.note("limit", json.dumps(limit)))
    evenly = json.loads(journal.note("stratified", json.dumps(stratified)))
    if limit is not None and before is not None and evenly != stratified:
        kinds = {True: "stratified", False: "not stratified"}
        raise RunError(
            "RUN_OTHER",
            str(journal.file),
            f"a limited run that is {kinds[evenly]}, and now one that is {kinds[stratified]}",
            "the same kind of choice, or the whole benchmark",
            "go on as it began, leave out --limit, or name another --out",
        )
    if limit is not None and (before is None or limit < before):
        raise RunError(
            "RUN_OTHER",
            str(journal.file),
            f"a run of {before or 'all'} stimuli a task, and now {limit}",
            "the same limit or a larger one",
            "name another --out for the shorter run",
        )
    journal.renote("limit", json.dumps(limit))
    journal.renote("stratified", json.dumps(stratified))
