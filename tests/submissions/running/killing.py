"""Kill runs of a function at random moments: `python -m tests.submissions.running.killing WAY KILLS FOLDER`.

WAY is `journal` (`fairspace run`) or `inspect` (`eval` and `eval_retry` of the registered task, without a journal). The
process has imported all that a run needs, forks a child for each start, and prints what it counted as JSON.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import inspect_ai
import inspect_ai._eval.task.run

from fairspace.submissions.benchmarks.task import ask_seed
from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark
from fairspace.submissions.running.asking.journal import Key
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.logs.importing import import_inspect
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings
from fairspace.submissions.tasks import fact_or_fair
from tests.submissions.running.run_factory import assert_same, journaled

SEED, STIMULI, CONNECTIONS = 5, 20, 4
TASK = "llm_objective"
CHOSEN = ChosenPart("fact_or_fair", tasks=(TASK,), limit=STIMULI, seed=SEED)
FUNCTION = """
import hashlib, time

def answer(prompt, seed=None):
    key = hashlib.sha256(f"{seed} {prompt}".encode()).hexdigest()
    with open(__file__[:-3] + ".txt", "a") as notes:
        print("asked", key, file=notes, flush=True)
        time.sleep(0.01)
        print("answered", key, file=notes, flush=True)
    return '{"answer": "%s"}' % "AB"[int(key[0], 16) % 2]
"""


@dataclass
class Started:
    """One run or evaluation with a folder of its own, started again and again."""

    folder: Path
    way: str
    kept: set[str] = field(default_factory=set)
    """Requests, as the function notes them, that the journal held at the last kill."""

    def __post_init__(self) -> None:
        self.folder.mkdir()
        (self.folder / "mine.py").write_text(FUNCTION)
        self.out, self.logs = self.folder / "out", self.folder / "logs"
        self.model = f"python/{self.folder}/mine.py:answer"

    def noted(self, word: str) -> Counter[str]:
        """The calls of the function, which a kill does not undo."""
        notes = self.folder / "mine.txt"
        lines = notes.read_text().splitlines() if notes.is_file() else []
        return Counter(line.partition(" ")[2] for line in lines if line.startswith(word))

    def start(self) -> None:
        """Begin, or go on."""
        if self.way == "journal":
            run(RunSettings(CHOSEN, self.out, ModelSettings(self.model, connections=CONNECTIONS)))
        elif logs := [file for file in sorted(self.logs.glob("*.eval")) if "recovered" not in file.name]:
            inspect_ai.eval_retry(str(logs[-1]), log_dir=str(self.logs), display="none")
        else:
            task = fact_or_fair(tasks=TASK, limit=STIMULI, stratified=False, seed=SEED)
            options: dict[str, Any] = {"display": "none", "max_connections": CONNECTIONS, "max_samples": CONNECTIONS}
            inspect_ai.eval(task, model=self.model, log_dir=str(self.logs), score=False, **options)

    def end(self) -> None:
        """Go on to the end; the submission stands in `out`."""
        assert os.waitstatus_to_exitcode(os.waitpid(forked(self.start), 0)[1]) == 0
        if self.way == "inspect":
            import_inspect([max(file for file in self.logs.glob("*.eval"))], self.out)


def forked(what: Callable[[], object]) -> int:
    """A child that does something; its number."""
    if pid := os.fork():
        return pid
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    status = 1
    try:
        what()
        status = 0
    finally:
        os._exit(status)


def killed(pid: int, started: Started, answers: int, after: float) -> bool:
    """Whether a child ran still when it was killed, some seconds after the function's so many answers."""
    end = time.monotonic() + 300
    while not os.waitpid(pid, os.WNOHANG)[0]:
        if end > time.monotonic() + after and len(started.noted("answered")) >= answers:
            end = time.monotonic() + after
        if time.monotonic() >= end:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -9
        time.sleep(0.005)
    return False


def keys() -> dict[Key, str]:
    """Key of a request -> what the function notes of it."""
    opened = open_benchmark(CHOSEN)
    asks = [ask for place in opened.positions[TASK] for ask in opened.parts[TASK].read(place).asks]
    return {ask.key: hashlib.sha256(f"{ask_seed(SEED, *ask.key)} {ask.prompt}".encode()).hexdigest() for ask in asks}


def killings(way: str, kills: int, folder: Path) -> dict[str, Any]:
    """Kills by moment, and the calls of the function that were made twice."""
    chance, moments, names = random.Random(kills), Counter[str](), keys()
    unbroken = Started(folder / "unbroken", way)
    began = time.monotonic()
    unbroken.end()
    seconds, again, of_kept, runs = time.monotonic() - began, 0, 0, 0
    while moments.total() < kills:
        runs += 1
        started = Started(folder / f"run{runs}", way)
        for _ in range(chance.randint(1, 8)):
            before = started.noted("asked")
            pid = forked(started.start)
            at_the_end = chance.random() < 0.3  # all is answered; the log and the submission are written
            wanted, after = len(names) if at_the_end else 0, chance.random() * seconds / (4 if at_the_end else 1)
            gone = killed(pid, started, wanted, after)
            asked = started.noted("asked") - before
            of_kept += sum(asked[key] for key in started.kept)
            if not gone:
                break
            journal = started.out.with_name("out.run") / "journal.sqlite"
            started.kept = {names[entry.key] for entry in journaled(journal)} if journal.is_file() else set()
            done = len(started.noted("answered"))
            moments["at the end" if done == len(names) else "asking" if asked else "at the start"] += 1
        before = started.noted("asked")
        if not started.out.exists():
            started.end()
        of_kept += sum((started.noted("asked") - before)[key] for key in started.kept)
        if way == "journal":
            assert_same(started.out, unbroken.out)
        else:
            first, second = ((each.out / "responses.parquet").read_bytes() for each in (started, unbroken))
            assert first == second
        again += sum(number - 1 for number in started.noted("answered").values())
    return {"kills": moments.total(), "runs": runs, "moments": dict(moments), "again": again, "of_journal": of_kept}


def main(way: str, kills: str, folder: str) -> None:
    """Count kills."""
    gc.collect()
    gc.freeze()  # or each child copies the pages of what was imported
    print(json.dumps(killings(way, int(kills), Path(folder))))


if __name__ == "__main__":
    main(*sys.argv[1:])
