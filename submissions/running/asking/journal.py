"""The fate of every request in an SQLite file: each answer is a transaction; a kill loses only requests in flight.

Inspect's own buffer does not replace it: two of the stops that this survives lose answers there, four days (the next
evaluation that ends removes a buffer older than three; 9 of 27 answers were asked again) and a full disk (2 of 11).
The buffer also lies in the user's data folder, and is written without waiting for the disk (`synchronous=OFF`).
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import pyarrow as pa

from fairspace.submissions.errors import RunError
from fairspace.submissions.format.schema import KEYS, SCHEMAS
from fairspace.submissions.reading.containers import LIMITS

Fate = Literal["answered", "refused", "failed"]
FATES: tuple[Fate, ...] = ("answered", "refused", "failed")
"""answered: a text of any content; refused: withheld by the provider's filter; failed: no answer after all attempts."""
Key = tuple[str, str, int]
TOO_LONG = "too_long"
"""Why an answer stopped that is longer than a row of a submission may be."""
JOURNAL = "journal.sqlite"
"""File name in the folder of a run's workings, or of a judge's."""


@dataclass(frozen=True)
class JournalEntry:
    """The fate of one request.

    Args:
        response: whole text; None unless answered, '' for one longer than a submission holds, which is unusable.
        reason: reason of a refusal or failure, or of an unusable answer; '' for others.
        stop: reason why the model stopped (`stop`, `max_tokens`, ..., `TOO_LONG`); '' if unknown.
        input_tokens: the provider's count, like `output_tokens`; 0 if it does not count.
        prompt_hash: `asking.prompt_hash` of the sent prompt; '' in a log, which has one for a whole sample.
    """

    task: str
    id: str
    sample: int
    fate: Fate
    response: str | None
    reason: str = ""
    stop: str = ""
    attempts: int = 1
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    prompt_hash: str = ""

    def __post_init__(self) -> None:
        most = LIMITS.row_bytes
        if self.response and len(self.response) * 4 > most and (size := len(self.response.encode())) > most:
            for name, value in (
                ("response", ""),
                ("stop", TOO_LONG),
                ("reason", f"{size:,} bytes; a submission holds {most:,}"),
            ):
                object.__setattr__(self, name, value)

    @property
    def key(self) -> Key:
        """Task, id and sample."""
        return self.task, self.id, self.sample


_COLUMNS = ", ".join(field.name for field in fields(JournalEntry))
_MARKS = ", ".join("?" for _ in fields(JournalEntry))
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answer (task TEXT, id TEXT, sample INT, fate TEXT NOT NULL, response TEXT,
  reason TEXT NOT NULL, stop TEXT NOT NULL, attempts INT NOT NULL, input_tokens INT NOT NULL,
  output_tokens INT NOT NULL, seconds REAL NOT NULL, prompt_hash TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (task, id, sample)) WITHOUT ROWID;
"""


class Journal:
    """The answers of one run in an SQLite file, for one thread.

    `about` must be equal for the run to go on (benchmark, model and its revision, settings); None takes the file's.
    Prompts are compared one by one (`JournalEntry.prompt_hash`). RunError RUN_OTHER for the file of another run.
    """

    def __init__(self, file: Path, about: Mapping[str, Any] | None = None) -> None:
        self.file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_TABLES)
            self._db.execute(f"SELECT {_COLUMNS} FROM answer LIMIT 0")  # noqa: S608
        except sqlite3.OperationalError as error:
            self._db.close()
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
                raise _other(file, f"a journal of another version ({error})") from error
            raise  # the disk, not the file
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise _other(file, f"no journal ({error})") from error
        self._check(about)

    def get(self, key: Key) -> JournalEntry | None:
        """The fate of a request; None if it has none yet."""
        row = self._db.execute(
            f"SELECT {_COLUMNS} FROM answer WHERE task = ? AND id = ? AND sample = ?",  # noqa: S608
            key,
        ).fetchone()
        return JournalEntry(*row) if row else None

    def put(self, answer: JournalEntry) -> None:
        """Keep a fate, on disk on return; it replaces an earlier one."""
        self._db.execute(f"INSERT OR REPLACE INTO answer ({_COLUMNS}) VALUES ({_MARKS})", astuple(answer))  # noqa: S608

    def answers(self) -> Iterator[JournalEntry]:
        """Every fate, sorted by key."""
        for row in self._db.execute(f"SELECT {_COLUMNS} FROM answer ORDER BY task, id, sample"):  # noqa: S608
            yield JournalEntry(*row)

    def count(self) -> dict[str, int]:
        """Fate -> requests, zeros included."""
        counts = dict(self._db.execute("SELECT fate, count(*) FROM answer GROUP BY fate"))
        return {fate: counts.get(fate, 0) for fate in FATES}

    def forget(self, fate: Fate) -> int:
        """Forget the requests of one fate, so that they are asked again; return their number."""
        return self._db.execute("DELETE FROM answer WHERE fate = ?", (fate,)).rowcount

    def keep_only(self, wanted: Collection[tuple[Key, str]]) -> int:
        """Forget everything but these keys with these hashes of prompts; return the number forgotten."""
        other = [entry.key for entry in self.answers() if (entry.key, entry.prompt_hash) not in wanted]
        self._db.execute("BEGIN")
        self._db.executemany("DELETE FROM answer WHERE task = ? AND id = ? AND sample = ?", other)
        self._db.execute("COMMIT")
        return len(other)

    def note(self, name: str, value: str) -> str:
        """Keep a value under a name unless there is one already; return the kept value."""
        self._db.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (f"note {name}", value))
        (stored,) = self._db.execute("SELECT value FROM about WHERE name = ?", (f"note {name}",)).fetchone()
        return str(stored)

    def renote(self, name: str, value: str) -> None:
        """Replace the value under a name."""
        self._db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (f"note {name}", value))

    def close(self) -> None:
        """Close the file; its write-ahead log is gone then."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check(self, about: Mapping[str, Any] | None) -> None:
        if about is None:
            return
        for name, value in about.items():
            text = json.dumps(value, sort_keys=True, ensure_ascii=False)
            self._db.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (name, text))
            (stored,) = self._db.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
            if stored != text:
                self.close()
                what = f"{name} {stored}, and now {text}"
                if name == "arguments":  # whose values are hashes
                    changed = {argument for argument, _ in json.loads(stored).items() ^ value.items()}
                    what = f"another -M {', '.join(sorted(changed))}"
                raise _other(self.file, what)


def _other(file: Path, what: str) -> RunError:
    mend = "go on with the same model and settings, or name another --out"
    return RunError("RUN_OTHER", str(file), what, "the workings of this very run", mend)


def totals(answers: Collection[JournalEntry]) -> dict[str, Any]:
    """Fields of a stage in a manifest: numbers of requests, of these by fate, and of tokens."""
    fates = Counter(answer.fate for answer in answers)
    return {
        "requests": len(answers),
        "fates": {fate: fates[fate] for fate in FATES},
        "input_tokens": sum(answer.input_tokens for answer in answers),
        "output_tokens": sum(answer.output_tokens for answer in answers),
    }


def table_of(answers: Iterable[JournalEntry], table: str, names: Mapping[str, str] | None = None) -> pa.Table:
    """Answers as rows of `responses` or `judgements`, sorted by key; failed ones have no row, refused ones no text.

    `names`: id -> the two names of its prompt, for rows that state them.
    """
    column = "response" if table == "responses" else "judgement"
    rows = [
        {"task": answer.task, "id": answer.id, "sample": answer.sample, column: answer.response}
        | ({"names": names[answer.id]} if names and table == "responses" else {})
        for answer in answers
        if answer.fate != "failed"
    ]
    order = [(key, "ascending") for key in KEYS[table] if key in ("task", "id", "sample")]
    return pa.Table.from_pylist(rows, schema=SCHEMAS[table]).sort_by(order)
