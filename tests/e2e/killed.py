"""A real model's run that is killed (SIGKILL) at random moments, and goes on, ends with the unbroken run's bytes.

    python -m tests.e2e.killed [--benchmark genres] [--limit 4] [--max-tokens 96] [--kills 5] [--seed NUMBER]

SmolLM2 answers a stratified part of a benchmark, and judges a baseline's stories, since its own cannot be judged; no
token is drawn. The seed draws the moments alone; without one they are others each time, and the seed is printed.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from fairspace.submissions.format.manifest import read_manifest
from tests.built_wheel import ROOT
from tests.e2e.environment import PACKAGE, WEIGHTS, CommandError, Environment, weights
from tests.submissions.running.run_factory import assert_same

KILLS = 5
MODEL = ("--model", f"local/{PACKAGE}", "-M", "stop_loops=true")
STORIES = "random"
"""The baseline whose stories are judged."""
_FURTHER = 0.5
"""Seconds at most between the answer after which a run is to be killed and the kill."""


def kill_on_the_way(
    at: Environment, folder: Path, words: Sequence[str], journals: str, total: int, kills: int, drawn: random.Random
) -> list[int]:
    """Start a command again and again, and kill it; how many answers each kill found. It is not finished then.

    A kill comes a random time after a random one of the requests that are left, of which half stay at least. Those of
    the first seconds meet a process that opens its model.

    Args:
        at: where it runs.
        folder: in which.
        words: of the command.
        journals: pattern of its journal in the folder.
        total: answers that it takes.
        kills: how many.
        drawn: draws the moments.
    """
    kept = []
    for number in range(kills):
        done = _answers(folder, journals)
        wanted = done + drawn.randrange(max(1, (total - done) // 2))
        process = at.start(folder, *words, log=folder / f"killed-{words[0]}-{number}.txt")
        try:
            while process.poll() is None and _answers(folder, journals) < wanted:
                time.sleep(0.02)
            time.sleep(drawn.uniform(0, _FURTHER))
            if process.poll() is not None:
                raise CommandError(f"{' '.join(words)} ended with {process.returncode} before it was killed")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        kept.append(_answers(folder, journals))
    return kept


def _answers(folder: Path, journals: str) -> int:
    """How many answers the journal of a command holds, whether or not it runs."""
    for file in folder.glob(journals):
        try:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as journal:
                return int(journal.execute("SELECT count(*) FROM answer").fetchone()[0])
        except sqlite3.OperationalError:  # it is just being made
            return 0
    return 0


def requests(folder: Path) -> int:
    """Answers of a submission's newest stage."""
    return read_manifest(folder).stages[-1].requests


def main() -> None:
    """Run and judge, kill, compare; exit code 1 where bytes differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.killed", description=__doc__)
    parser.add_argument("--benchmark", default="fact_or_fair")
    parser.add_argument("--limit", default="4", help="stimuli of a task, and stories that are judged")
    parser.add_argument("--max-tokens", default="96", help="of an answer")
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32), help="of the moments")
    chosen = parser.parse_args()
    sys.stdout.write(f"seed of the moments: {chosen.seed}\n")
    at, drawn = Environment(sys.executable, (ROOT, weights(WEIGHTS))), random.Random(chosen.seed)
    part = (
        "--limit",
        chosen.limit,
        "--stratified",
        "-M",
        "temperature=0",
        "-M",
        f"max_tokens={chosen.max_tokens}",
        *MODEL,
    )
    data = ("--dataset-revision", "v2-core") if chosen.benchmark == "fact_or_fair" else ("--text-only",)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        asking, judging = ("run", "--benchmark", chosen.benchmark, *data, *part, "--out"), ("judge", *part)
        _compare(at, folder, asking, "run", "killed.run/journal.sqlite", chosen.kills, drawn)
        for name in ("unbroken-stories", "killed-stories"):
            at.fairspace(folder, "baseline", STORIES, "--benchmark", "genres", "--out", name)
        journal = "killed-stories.run/judge-*/journal.sqlite"
        _compare(at, folder, judging, "judge", journal, chosen.kills, drawn, "-stories")


def _compare(
    at: Environment,
    folder: Path,
    words: Sequence[str],
    what: str,
    journals: str,
    kills: int,
    drawn: random.Random,
    suffix: str = "",
) -> None:
    """A command for one submission at once, and for another one with kills: both have the same bytes."""
    unbroken, killed = f"unbroken{suffix}", f"killed{suffix}"
    at.fairspace(folder, *words, unbroken)
    total = requests(folder / unbroken)
    kept = kill_on_the_way(at, folder, (*words, killed), journals, total, kills, drawn)
    at.fairspace(folder, *words, killed)
    assert_same(folder / unbroken, folder / killed)
    sys.stdout.write(f"{what}: killed when {kept} of {total} answers were kept: the same bytes\n")


if __name__ == "__main__":
    main()
