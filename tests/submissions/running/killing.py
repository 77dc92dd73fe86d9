"""Kill runs at random moments: `python -m tests.submissions.running.killing WAY KILLS FOLDER [--model FILE.gguf]`.

WAY is `journal` (`fairspace run`) or `inspect` (`eval` and `eval_retry` of the registered task, without a journal). The
model is a function, which with `--pictures DATA` reads those of a build, or a GGUF file. The process has imported all
that a run needs, forks a child for each start, and prints what it counted as JSON.
"""

import argparse
import gc
import hashlib
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import inspect_ai
import inspect_ai._eval.task.run

from fairspace.submissions import tasks
from fairspace.submissions.benchmarks.task import ask_seed
from fairspace.submissions.running.asking.inspect_task import ChosenPart, open_benchmark
from fairspace.submissions.running.asking.journal import Key
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.local.llama_cpp import LlamaCpp
from fairspace.submissions.running.logs.importing import import_inspect
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings
from tests.submissions.running.run_factory import assert_same, journaled

SEED, CONNECTIONS = 5, 4
STIMULI = {"function": 20, "pictures": 8, "gguf": 3}
FUNCTION = """
import hashlib, time

def answer(prompt, images=(), seed=None):
    pixels = b"".join(image.tobytes() for image in images)
    key = hashlib.sha256(f"{seed} {prompt}".encode()).hexdigest()
    choice = hashlib.sha256(key.encode() + pixels).digest()[0] % 2
    with open(__file__[:-3] + ".txt", "a") as notes:
        print("asked", key, file=notes, flush=True)
        time.sleep(0.01)
        print("answered", key, file=notes, flush=True)
    return '{"answer": "%s"}' % "AB"[choice]
"""


@dataclass(frozen=True)
class Work:
    """A benchmark's part, the way of starting it, and the GGUF file that answers ('' for the function)."""

    way: str
    chosen: ChosenPart
    model: str = ""

    def options(self) -> dict[str, Any]:
        """The registered task's parameters, in which '' stands for all tasks."""
        data = {"data": self.chosen.data} if self.chosen.data else {}
        return {**data, "tasks": ",".join(self.chosen.tasks), "limit": self.chosen.limit, "stratified": False}


@dataclass
class Started:
    """One run or evaluation with a folder of its own, started again and again."""

    folder: Path
    work: Work
    kept: set[str] = field(default_factory=set)
    """Requests, as the function notes them, that the journal held at the last kill."""

    def __post_init__(self) -> None:
        self.folder.mkdir()
        (self.folder / "mine.py").write_text(FUNCTION)
        self.out, self.logs = self.folder / "out", self.folder / "logs"
        self.model = f"local/{self.work.model}" if self.work.model else f"python/{self.folder}/mine.py:answer"
        self.arguments = {"threads": 1} if self.work.model else {}

    def noted(self, word: str) -> Counter[str]:
        """The calls of the function, which a kill does not undo."""
        notes = self.folder / "mine.txt"
        lines = notes.read_text().splitlines() if notes.is_file() else []
        return Counter(line.partition(" ")[2] for line in lines if line.startswith(word))

    def start(self) -> None:
        """Begin, or go on."""
        if self.work.model:
            self._note_answers()
        if self.work.way == "journal":
            model = ModelSettings(self.model, connections=CONNECTIONS, arguments=self.arguments)
            run(RunSettings(self.work.chosen, self.out, model))
        elif logs := [file for file in sorted(self.logs.glob("*.eval")) if "recovered" not in file.name]:
            inspect_ai.eval_retry(str(logs[-1]), log_dir=str(self.logs), display="none")
        else:
            task = getattr(tasks, self.work.chosen.benchmark)(**self.work.options(), seed=SEED)
            options: dict[str, Any] = {"display": "none", "max_connections": CONNECTIONS, "max_samples": CONNECTIONS}
            options |= {"model_args": self.arguments, "log_dir": str(self.logs), "score": False}
            inspect_ai.eval(task, model=self.model, **options)

    def _note_answers(self) -> None:
        """Note the file's answers as the function does its own."""
        whole = LlamaCpp.answer

        def answer(model: LlamaCpp, prompts: Any, seeds: Any, choice: Any) -> Any:
            with (self.folder / "mine.txt").open("a") as notes:
                print(*(f"asked {seed}" for seed in seeds), sep="\n", file=notes, flush=True)
                said = whole(model, prompts, seeds, choice)
                print(*(f"answered {seed}" for seed in seeds), sep="\n", file=notes, flush=True)
            return said

        LlamaCpp.answer = answer  # type: ignore[method-assign, assignment]

    def end(self) -> None:
        """Go on to the end; the submission stands in `out`."""
        assert os.waitstatus_to_exitcode(os.waitpid(forked(self.start), 0)[1]) == 0
        if self.work.way == "inspect":
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
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            with suppress(ProcessLookupError):  # a program that it was starting has its lock until it is dead too
                while time.monotonic() < end + 1:
                    os.killpg(pid, 0)
                    time.sleep(0.005)
            return status == -9
        time.sleep(0.005)
    return False


def keys(work: Work) -> dict[Key, str]:
    """Key of a request -> what is noted of it: a file's seed, the hash of seed and prompt of a function."""
    opened = open_benchmark(work.chosen)
    places = [(opened.parts[task], place) for task, positions in opened.positions.items() for place in positions]
    asks = [ask for part, place in places for ask in part.read(place).asks]
    seeds = {ask.key: str(ask_seed(SEED, *ask.key)) for ask in asks}
    if work.model:
        return seeds
    return {ask.key: hashlib.sha256(f"{seeds[ask.key]} {ask.prompt}".encode()).hexdigest() for ask in asks}


def killings(work: Work, kills: int, folder: Path) -> dict[str, Any]:
    """Kills by moment, and the model's calls that were made twice."""
    chance, moments, names = random.Random(kills), Counter[str](), keys(work)
    unbroken = Started(folder / "unbroken", work)
    began = time.monotonic()
    unbroken.end()
    seconds, again, of_kept, runs = time.monotonic() - began, 0, 0, 0
    assert {*unbroken.noted("answered")} <= {*names.values()}
    calls = len(unbroken.noted("answered"))  # a file's answers to equal prompts are one
    while moments.total() < kills:
        runs += 1
        started = Started(folder / f"run{runs}", work)
        for _ in range(chance.randint(1, 8)):
            before = started.noted("asked")
            pid = forked(started.start)
            at_the_end = chance.random() < 0.3  # all is answered; the log and the submission are written
            wanted, after = calls if at_the_end else 0, chance.random() * seconds / (4 if at_the_end else 1)
            gone = killed(pid, started, wanted, after)
            asked = started.noted("asked") - before
            of_kept += sum(asked[key] for key in started.kept)
            if not gone:
                break
            journal = started.out.with_name("out.run") / "journal.sqlite"
            started.kept = {names[entry.key] for entry in journaled(journal)} if journal.is_file() else set()
            done = len(started.noted("answered"))
            moments["at the end" if done == calls else "asking" if asked else "at the start"] += 1
        before = started.noted("asked")
        if not started.out.exists():
            started.end()
        of_kept += sum((started.noted("asked") - before)[key] for key in started.kept)
        if work.way == "journal":
            assert_same(started.out, unbroken.out)
        else:
            first, second = ((each.out / "responses.parquet").read_bytes() for each in (started, unbroken))
            assert first == second
        again += sum(number - 1 for number in started.noted("answered").values())
    return {"kills": moments.total(), "runs": runs, "moments": dict(moments), "again": again, "of_journal": of_kept}


def main() -> None:
    """Count kills."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=("journal", "inspect"))
    parser.add_argument("kills", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="")
    parser.add_argument("--pictures", default="")
    arguments = parser.parse_args()
    if arguments.pictures:
        limit = STIMULI["pictures"]
        chosen = ChosenPart("stereotypical_bias", arguments.pictures, ("vision_gender",), limit, seed=SEED)
    else:
        limit = STIMULI["gguf" if arguments.model else "function"]
        chosen = ChosenPart("fact_or_fair", tasks=("llm_objective",), limit=limit, seed=SEED)
    gc.collect()
    gc.freeze()  # or each child copies the pages of what was imported
    print(json.dumps(killings(Work(arguments.way, chosen, arguments.model), arguments.kills, arguments.folder)))


if __name__ == "__main__":
    main()
