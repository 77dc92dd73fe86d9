"""Checks of a table's rows: tasks, items, samples, repeats, vocabularies, ranges, names.

All checks work on whole columns; only the first row of each fault is looked at by itself.
"""

from bisect import bisect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.format.faults import Collector, show
from fairspace.submissions.format.schema import LABELS, RANGES, VOCABULARY
from fairspace.submissions.reading.canonical import matched
from fairspace.submissions.reading.containers import Limits
from fairspace.submissions.reading.tables import Rows

TASKS_OF = {"human_labels": "annotations"}
"""Table -> table whose tasks it shares."""
WHOLE_IMAGE = ("no_face", "unreadable", "refused")
"""Statuses of a whole image, whose row stands alone; `abstained` may concern one face."""


class RowCheck:
    """Checks one table and finds the order of its rows."""

    def __init__(self, name: str, rows: Rows, limits: Limits, faults: Collector):
        self.name, self.rows, self.table, self.limits, self.faults = name, rows, rows.table, limits, faults
        self._order: dict[str, list[str]] = {}
        self._judges: list[str] = []

    def flag(self, mask: Any, code: str, what: Callable[[int], str], expected: str, kind: str = "") -> None:
        """Note a fault per file for the rows of a mask; `what` describes the first one."""
        hits = np.flatnonzero(mask)
        numbers = self.rows.file_numbers()[hits]
        for number in np.unique(numbers):
            here = hits[numbers == number]
            first = int(here[np.argmin(self.rows.places[here])])
            file, place = self.rows.where(first)
            self.faults.add(
                code, file, partial(what, first), expected=expected, place=place, kind=kind, count=len(here)
            )

    def column(self, name: str) -> Any:
        """A column of the table."""
        return self.table[name]

    def text(self, name: str, row: int) -> str:
        """One value, safe to print."""
        return show(self.table[name][row].as_py())

    def values(self) -> None:
        """Check vocabularies and ranges, and that labels and status fit together."""
        for name in [column for column in self.table.column_names if column in VOCABULARY]:
            column, words = self.column(name), VOCABULARY[name]
            odd = pc.and_(pc.is_valid(column), pc.invert(pc.is_in(column, pa.array(words))))

            def unknown(row: int, name: str = name) -> str:
                value = self.table[name][row].as_py()
                return f"{name} {show(value)}{did_you_mean(value[:64], VOCABULARY[name])}"

            self.flag(odd, "VOCABULARY", unknown, ", ".join(words), name)
        for name in [column for column in self.table.column_names if column in RANGES]:
            low, high = RANGES[name]
            inside = pc.and_(pc.greater_equal(self.column(name), low), pc.less_equal(self.column(name), high))
            odd = pc.invert(pc.fill_null(inside, True))

            def beyond(row: int, name: str = name) -> str:
                return f"{name} {self.text(name, row)}"

            self.flag(odd, "VALUE_RANGE", beyond, f"a number in [{low:g}, {high:g}]", name)
        if self.name == "annotations":
            self._status()

    def _status(self) -> None:
        ok = np.asarray(pc.equal(self.column("status"), "ok"))
        labelled = np.any([np.asarray(pc.is_valid(self.column(name))) for name in LABELS], axis=0)
        expected = f"{', '.join(LABELS)} null unless status is ok"
        self.flag(~ok & labelled, "LABELS_WITHOUT_OK", lambda r: f"status {self.text('status', r)}", expected)
        expected = f"one of {', '.join(LABELS)}"
        self.flag(ok & ~labelled, "OK_WITHOUT_LABELS", lambda r: "a row without any label", expected)

    def annotated(self, annotated_rows: pa.Table, expected: str) -> None:
        """Check that people labelled faces of a table of annotations, or images of a table without faces."""
        key = [name for name in ("task", "id", "sample", "face") if name in annotated_rows.column_names]
        strange = matched(self.table, annotated_rows, key) < 0

        def what(row: int) -> str:
            return ", ".join([self.text("id", row), *(f"{name} {self.text(name, row)}" for name in key[2:])])

        self.flag(strange, "NOT_ANNOTATED", what, expected)

    def names(self, allowed: bool) -> None:
        """Check the `names` column: required for GENRES' revision `upstream`, else forbidden."""
        column = self.column("names")
        with_names = np.asarray(pc.is_valid(column))
        if not allowed:
            expected = "null, except in revision upstream of genres"
            self.flag(with_names, "NAMES_NOT_ALLOWED", lambda r: self.text("names", r), expected)
            return
        from fairspace.builders.genres.plan import NAMES

        pairs = [(woman, man) for woman in NAMES["female"] for man in NAMES["male"]]
        pairs_of_names = [f"{a}|{b}" for pair in pairs for a, b in (pair, pair[::-1])]
        fits = np.asarray(pc.is_in(column, pa.array(pairs_of_names)))
        expected = "First|Second, one woman's and one man's name of the list"
        self.flag(~with_names, "NAMES_MISSING", lambda r: "no names", expected)
        self.flag(with_names & ~fits, "INVALID_NAMES", lambda r: self.text("names", r), expected)

    def judges(self, others: list[str]) -> None:
        """Check the `judge` column: null, or one of these names."""
        self._judges = sorted(set(others))
        unknown = np.asarray(pc.is_valid(self.column("judge"))) & (self._judge() < 0)

        def what(row: int) -> str:
            judge = self.table["judge"][row].as_py()
            return f"judge {show(judge)}{did_you_mean(judge[:64], self._judges)}"

        expected = ", ".join(map(show, self._judges[:8])) or "null, as submission.json has no other_judges"
        self.flag(unknown, "UNKNOWN_JUDGE", what, expected)

    def _judge(self) -> Any:
        """Per row 0 for the scored judge, 1, 2, ... for the others in the order of their names, -1 for none."""
        column = self.column("judge")
        code = np.asarray(pc.fill_null(pc.index_in(column, pa.array(self._judges, pa.string())), -1), np.int64)
        return np.where(np.asarray(pc.is_null(column)), 0, np.where(code < 0, -1, code + 1))

    def keys(self, bench: Benchmark, revision: str) -> Any:
        """Check tasks, items, samples, faces and repeats; returns the row numbers in the order of the key."""
        task_names = TASKS_OF.get(self.name, self.name)
        tasks = sorted((task for task in bench.tasks if task.table == task_names), key=lambda task: task.name)
        code = np.asarray(pc.fill_null(pc.index_in(self.column("task"), pa.array([t.name for t in tasks])), -1))
        self._unknown_tasks(bench, code)
        item = np.full(len(code), -1, np.int64)
        samples = np.zeros(len(code), np.int64)
        start = 0
        for number, task in enumerate(tasks):
            mine = np.flatnonzero(code == number)
            ids = _one_array(task.ids(revision))
            if len(mine):
                places = pc.index_in(self.column("id").take(pa.array(mine)), ids)
                position = np.asarray(pc.fill_null(places, -1))
                item[mine] = np.where(position >= 0, start + _rank(ids)[position], -1)
                samples[mine] = task.samples_of(revision)
                unknown = np.zeros(len(code), bool)
                unknown[mine[position < 0]] = True

                def what(row: int, ids: pa.Array = ids, name: str = task.name) -> str:
                    unknown_id = self.table["id"][row].as_py()
                    return f"{show(unknown_id)} in task {name}{self._near(unknown_id, ids, name)}"

                self.flag(unknown, "UNKNOWN_ID", what, f"one of the task's {len(ids):,} ids", task.name)
            start += len(ids)
        return self._repeats(item, samples, any(task.every_face for task in tasks))

    def _near(self, unknown_id: str, ids: pa.Array, task: str) -> str:
        """' (did you mean ...?)' for the closest id among the neighbours in the order and a few others."""
        if len(unknown_id) > 200:
            return ""
        if task not in self._order:
            self._order[task] = sorted(ids.to_pylist())
        order = self._order[task]
        here = bisect(order, unknown_id)
        step = max(1, len(order) // 200)
        return did_you_mean(unknown_id, dict.fromkeys(order[max(0, here - 100) : here + 100] + order[::step]))

    def _unknown_tasks(self, bench: Benchmark, code: Any) -> None:
        unknown = code < 0
        task_names = TASKS_OF.get(self.name, self.name)
        elsewhere = {task.name: task.table for task in bench.tasks if task.table != task_names}
        moved = unknown & np.asarray(pc.is_in(self.column("task"), pa.array(list(elsewhere), pa.string())))

        def what(row: int) -> str:
            task_name = self.table["task"][row].as_py()
            return f"task {show(task_name)}{did_you_mean(task_name[:64], bench.task_names())}"

        self.flag(unknown & ~moved, "UNKNOWN_TASK", what, ", ".join(bench.task_names()))

        def table(row: int) -> str:
            task_name = self.table["task"][row].as_py()
            return f"task {show(task_name)}, which belongs into {elsewhere[task_name]}"

        self.flag(moved, "WRONG_TABLE", table, f"tasks of {self.name}")

    def _repeats(self, item: Any, samples: Any, every_face: bool) -> Any:
        sample = np.asarray(self.column("sample"), np.int64)
        of_items = item >= 0
        outside = of_items & ((sample < 0) | (sample >= samples))

        def what(row: int) -> str:
            return f"sample {sample[row]} of {self.text('id', row)}, which has {samples[row]}"

        self.flag(outside, "SAMPLE_RANGE", what, "0 to samples - 1")
        good = of_items & ~outside
        image = item * max(1, int(samples.max(initial=1))) + sample
        key = image
        if "face" in self.table.column_names:
            face = np.asarray(self.column("face"), np.int64)
            beyond = (face < 0) | (face >= self.limits.faces)
            expected = f"0 to {self.limits.faces - 1}"
            self.flag(beyond, "FACE_RANGE", lambda r: f"face {face[r]} of {self.text('id', r)}", expected)
            good &= ~beyond
            key = image * self.limits.faces + face
        if self.name == "judgements":
            judge = self._judge()
            good &= judge >= 0
            key = image * (len(self._judges) + 1) + judge
        rows = np.flatnonzero(good)
        rows = rows[np.argsort(key[rows], kind="stable")]
        again = np.zeros(len(key), bool)
        again[rows[1:]] = key[rows[1:]] == key[rows[:-1]]
        expected = "every key once"
        self.flag(again, "DUPLICATE_ID", lambda r: f"{self.text('id', r)}, sample {sample[r]}, again", expected)
        if self.name == "annotations":
            self._faces(rows[~again[rows]], image, face, every_face)
        return rows

    def _faces(self, rows: Any, image: Any, face: Any, every_face: bool) -> None:
        """Check that each image's faces are numbered without gaps, all there, and that a row without one is alone.

        `every_face` requires the number of faces, without which a missing last face would be unseen.
        """
        first = np.ones(len(rows), bool)
        first[1:] = image[rows[1:]] != image[rows[:-1]]
        before = np.roll(face[rows], 1)
        gap = np.zeros(len(image), bool)
        gap[rows] = face[rows] != np.where(first, 0, before + 1)
        self.flag(gap, "FACE_GAP", lambda r: f"face {face[r]} of {self.text('id', r)}", "0, 1, 2, ...")
        whole = np.asarray(pc.is_in(self.column("status"), pa.array(WHOLE_IMAGE)))
        starts = np.flatnonzero(first)
        sizes = np.diff(np.append(starts, len(rows)))
        conflict = np.zeros(len(image), bool)
        conflict[rows] = whole[rows] & (np.repeat(sizes, sizes) > 1)
        expected = "the only row of its image"
        self.flag(conflict, "STATUS_CONFLICT", lambda r: f"status {self.text('status', r)}", expected)
        stated = np.asarray(pc.fill_null(self.column("faces"), -1), np.int64)
        groups = np.full(len(image), -1, np.int64)
        groups[rows] = np.where(whole[rows], 0, np.repeat(sizes, sizes))
        wrong = (groups >= 0) & (stated != -1) & (stated != groups)
        self.flag(wrong, "FACE_COUNT", lambda r: f"faces {stated[r]} of {self.text('id', r)}", "the image's rows")
        if every_face:
            silent = (groups > 0) & (stated == -1)
            self.flag(silent, "FACES_MISSING", lambda r: f"no faces of {self.text('id', r)}", "how many were found")


def _one_array(ids: pa.Array | pa.ChunkedArray) -> pa.Array:
    return ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids


def _rank(ids: pa.Array) -> Any:
    if len(ids) < 2 or pc.all(pc.less(ids[:-1], ids[1:])).as_py():
        return np.arange(len(ids))
    rank = np.empty(len(ids), np.int64)
    rank[np.asarray(pc.sort_indices(ids))] = np.arange(len(ids))
    return rank
