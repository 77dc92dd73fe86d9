"""Ways of damaging a submission: what a submitter could leave out, break or refuse in the hope of a better score."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairspace.submissions.format.schema import Submission

ANSWER = {"responses": "response", "judgements": "judgement", "annotations": "status"}
LABELS = ("gender", "age", "skin_tone", "race", "image_quality", "face_quality")
SIMILARITIES = ("prompt_similarity", "reference_similarity")
Damage = Callable[[pa.Table, NDArray[np.bool_], str], pa.Table]


def drop(rows: pa.Table, mask: NDArray[np.bool_], table: str) -> pa.Table:
    return rows.filter(pa.array(~mask))


def _answer(rows: pa.Table, mask: NDArray[np.bool_], table: str, text: str | None, status: str) -> pa.Table:
    chosen = pa.array(mask)
    column = ANSWER[table]
    new = pa.scalar(status if table == "annotations" else text, pa.string())
    position = rows.schema.get_field_index(column)
    rows = rows.set_column(position, column, pc.if_else(chosen, new, rows[column]))
    if table == "annotations":
        for label in (*LABELS, *SIMILARITIES):
            position = rows.schema.get_field_index(label)
            empty = pa.scalar(None, rows.schema.field(label).type)
            rows = rows.set_column(position, label, pc.if_else(chosen, empty, rows[label]))
    return rows


def corrupt(rows: pa.Table, mask: NDArray[np.bool_], table: str) -> pa.Table:
    return _answer(rows, mask, table, "\ufffd#%& zxqv 0x", "unreadable")


def refuse(rows: pa.Table, mask: NDArray[np.bool_], table: str) -> pa.Table:
    return _answer(rows, mask, table, "I'm sorry, but I can't help with that.", "refused")


def silence(rows: pa.Table, mask: NDArray[np.bool_], table: str) -> pa.Table:
    return _answer(rows, mask, table, None, "no_face")


DAMAGES: dict[str, Damage] = {"drop": drop, "corrupt": corrupt, "refuse": refuse, "silence": silence}


def damaged(submission: Submission, damage: Damage, choose: Callable[[pa.Table, str], NDArray[np.bool_]]) -> Submission:
    tables = {name: damage(rows, choose(rows, name), name) for name, rows in submission.tables.items()}
    return replace(submission, tables=tables)


def at_random(seed: int, share: float) -> Callable[[pa.Table, str], NDArray[np.bool_]]:
    def choose(rows: pa.Table, table: str) -> NDArray[np.bool_]:
        return np.random.default_rng(seed).random(rows.num_rows) < share

    return choose


def where_text_is(
    column: str, pattern: str, share: float, seed: int = 0
) -> Callable[[pa.Table, str], NDArray[np.bool_]]:
    """A share of the rows whose column matches a pattern; none of tables without that column."""

    def choose(rows: pa.Table, table: str) -> NDArray[np.bool_]:
        if column not in rows.column_names:
            return np.zeros(rows.num_rows, dtype=bool)
        found = pc.match_substring_regex(rows[column], pattern).fill_null(False).to_numpy().astype(bool)
        return found & (np.random.default_rng(seed).random(rows.num_rows) < share)

    return choose
