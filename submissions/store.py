"""Where results are kept: a local folder, one JSON file per result.

Paths are made from content hashes alone, never from what a submission says. Adding the same result twice changes
nothing. A file that cannot be read is reported as a fault beside the results that can.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from submissions.faults import Fault, UsageError
from submissions.registry import NAMES
from submissions.result import Result


@dataclass(frozen=True)
class Stored:
    """What lies in a store for one benchmark.

    Args:
        results: the readable results, in the order of their file names.
        faults: one fault (`BROKEN_RESULT`) for each file that is none of our results.
    """

    results: tuple[Result, ...]
    faults: tuple[Fault, ...]


def key(result: Result) -> str:
    """The file name of a result: sha256 of submission digest, standard, model and model revision, 64 hex digits."""
    parts = (
        result.signature.get("submission", ""),
        result.standard,
        str(result.meta.get("model", "")),
        str(result.meta.get("revision", "")),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class Store:
    """A folder of results.

    Args:
        root: the folder; made when the first result is added.
    """

    def __init__(self, root: Path | str):
        self.root = Path(root)

    def path(self, result: Result) -> Path:
        """Where a result lies. UsageError if it belongs to no benchmark of ours."""
        if result.benchmark not in NAMES:
            raise UsageError(f"There is no benchmark {result.benchmark!r}. Known: {', '.join(NAMES)}.")
        return self.root / "results" / result.benchmark / f"{key(result)}.json"

    def add(self, result: Result) -> Path:
        """Write a result; the file is whole or not there at all. Adding it again changes nothing."""
        path = self.path(result)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(result.dumps())
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
        return path

    def read(self, benchmark: str) -> Stored:
        """Every result of a benchmark, and a fault for every file that is none."""
        results: list[Result] = []
        faults: list[Fault] = []
        for path in sorted((self.root / "results" / benchmark).glob("*.json")):
            try:
                result = Result.load(path)
                if result.benchmark != benchmark or key(result) != path.stem:
                    raise UsageError(f"{path} does not hold the result that its name stands for.")
                results.append(result)
            except UsageError as error:
                expected = "a result that `fairspace score` wrote, under the name that the store gave it"
                mend = "score the submission again, or take the file away"
                faults.append(Fault("BROKEN_RESULT", path.name, str(error), expected, mend))
        return Stored(tuple(results), tuple(faults))

    def results(self, benchmark: str) -> list[Result]:
        """The readable results of a benchmark; `read` also tells which files are broken."""
        return list(self.read(benchmark).results)
