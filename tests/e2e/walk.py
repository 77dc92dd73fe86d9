"""A real model's way through the product: asked, checked, scored, reported, submitted, shown."""

import json
import os
import random
import signal
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ViewportSize

from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.web.identity import Tokens
from fairspace.submissions.format.manifest import read_manifest
from tests.e2e.environment import PACKAGE, CommandError, Environment
from tests.leaderboard_space.attacks.running import SIGNING, Running, running
from tests.leaderboard_space.chromium import chromium
from tests.leaderboard_space.walking import DESKTOP, Walk, walking
from tests.submissions.running.run_factory import assert_same

MODEL = f"local/{PACKAGE}"
NAME = "SmolLM2-135M-Instruct"
STORIES = "random"
"""Baseline whose stories are judged where the model wrote none."""
PAGE: ViewportSize = {"width": 1240, "height": 1754}
SIGNS_IN_AS = "walker"
KILLS = 5
_FURTHER = 0.5
"""Longest delay in seconds between the answer that triggers a kill and the kill."""


@dataclass
class Step:
    """One step; `cpu` includes ended child processes, `readable` maps a task to its share of readable answers."""

    name: str
    seconds: float = 0.0
    cpu: float = 0.0
    tokens: int = 0
    readable: dict[str, float] = field(default_factory=dict)


@dataclass
class Budget:
    steps: list[Step] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[Step]:
        """Time a block, and print its line even if it fails."""
        step, began, used = Step(name), time.monotonic(), _cpu()
        try:
            yield step
        finally:
            step.seconds, step.cpu = time.monotonic() - began, _cpu() - used
            self.steps.append(step)
            print(_line(step), flush=True)

    def total(self) -> Step:
        seconds, cpu = sum(step.seconds for step in self.steps), sum(step.cpu for step in self.steps)
        return Step("in all", seconds, cpu, sum(step.tokens for step in self.steps))


def heading() -> str:
    return f"{'step':34}{'seconds':>9}{'CPU s':>8}{'tokens':>8}  readable"


def _line(step: Step) -> str:
    readable = ", ".join(f"{task} {share:.0%}" for task, share in step.readable.items())
    return f"{step.name:34}{step.seconds:9.1f}{step.cpu:8.1f}{step.tokens or '':>8}  {readable}".rstrip()


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@dataclass(frozen=True)
class Slice:
    """A part of a benchmark for the model; `answers` is a minimum, `judge` None without a judge."""

    benchmark: str
    options: tuple[str, ...]
    answers: int
    judge: tuple[str, ...] | None = None


@dataclass
class Journey:
    at: Environment
    folder: Path
    budget: Budget

    def command(self, *words: str, expect: int = 0, variables: Mapping[str, str] | None = None) -> str:
        return self.at.fairspace(self.folder, *words, expect=expect, variables=variables)

    def ask(self, part: Slice) -> str:
        """Ask, judge, check, score and report a slice; return NAME of the submission, `NAME.json` and `NAME.html`."""
        name = part.benchmark
        with self.budget.step(f"{name}: run") as step:
            printed = self.command("run", *self._options(part), "--out", name)
            assert "That took " in printed, "the run says how it went beside its plan"
            assert self._read_course(name, step) >= part.answers
        if part.judge is not None:
            with self.budget.step(f"{name}: judge") as step:
                self._judge(name, part.judge, step)
        with self.budget.step(f"{name}: check"):
            assert "no faults" in self.command("check", name)
        with self.budget.step(f"{name}: score"):
            self.command("score", name, "--out", f"{name}.json")
        result = self.result(name)
        assert result["ranked"] is None, "a part of a benchmark has no rank"
        with self.budget.step(f"{name}: report"):
            self.command("report", f"{name}.json", "--out", f"{name}.html")
        assert NAME in (self.folder / f"{name}.html").read_text(encoding="utf-8")
        return name

    def kill(self, part: Slice, drawn: random.Random) -> None:
        """Ask a slice again with kills: the submission has the same bytes."""
        name, killed = part.benchmark, f"{part.benchmark}-killed"
        with self.budget.step(f"{name}: killed {KILLS} times") as step:
            words = ("run", *self._options(part), "--out", killed)
            total = read_manifest(self.folder / name).stages[-1].requests
            journal = f"{killed}.run/journal.sqlite"
            kept = kill_on_the_way(self.at, self.folder, words, journal, total, KILLS, drawn)
            self.command(*words)
            self._read_course(killed, step)
            assert_same(self.folder / name, self.folder / killed)
            step.name += f" at {kept} of {total}"

    def _options(self, part: Slice) -> tuple[str, ...]:
        return ("--benchmark", part.benchmark, *part.options, "--model", MODEL, "--about", f"model={NAME}")

    def _judge(self, name: str, options: tuple[str, ...], step: Step) -> None:
        """Let the model judge its narratives, or a few of a baseline if none can be judged."""
        try:
            printed = self.command("judge", name, "--model", MODEL, *options)
        except CommandError as error:
            if "JUDGE_NOTHING" not in str(error):
                raise
            step.name += " of a baseline's"
            name = "stories"
            self.command("baseline", STORIES, "--benchmark", "genres", "--out", name)
            printed = self.command("judge", name, "--model", MODEL, "--limit", "4", *options)
        assert "That took " in printed
        self._read_course(name, step)

    def result(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        return found

    def _read_course(self, name: str, step: Step) -> int:
        """Put tokens and readable shares of the newest stage into the step; return its answers."""
        manifest = json.loads((self.folder / name / "manifest.json").read_text(encoding="utf-8"))
        stage = manifest["stages"][-1]
        course = stage["course"]
        step.tokens = course["output_tokens"]
        step.readable = {
            task.removeprefix("readable_"): share for task, share in course.items() if task.startswith("readable_")
        }
        return int(stage["requests"])


def kill_on_the_way(
    at: Environment, folder: Path, words: Sequence[str], journals: str, total: int, kills: int, drawn: random.Random
) -> list[int]:
    """Start a command again and again and kill it; return the number of answers at each kill.

    A kill comes a random time after a random one of the remaining requests, at least half of which stay. Early kills
    meet a process that opens its model. The command is not finished at the end.

    Args:
        journals: Pattern of its journal in the folder.
        total: Answers that it takes.
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
    for file in folder.glob(journals):
        try:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as journal:
                return int(journal.execute("SELECT count(*) FROM answer").fetchone()[0])
        except sqlite3.OperationalError:  # it is just being made
            return 0
    return 0


def show_on_board(journey: Journey, names: list[str]) -> None:
    """Submit to a new Space, and look at the rows in Chromium."""
    with (
        journey.budget.step("Space: submit, score, rows in Chromium"),
        running(journey.folder / "space", workers="1", resamples="100") as space,
        chromium() as browser,
        walking(browser, space, DESKTOP, "light") as walk,
    ):
        for name in names:
            state = _submit(journey, space, name)
            _see_row(walk, state, journey.result(name))
            _picture(browser, journey.folder / f"{name}.html")


def hand_in(journey: Journey, name: str) -> None:
    """Submit to a new Space, and read the row's page as a program does."""
    with (
        journey.budget.step("Space: submit, score, the row's page"),
        running(journey.folder / "space", workers="1", resamples="0") as space,
    ):
        state = _submit(journey, space, name)
        assert _states(state["scores"].values()) == _states(journey.result(name)["scores"])
        with space.client() as client:
            assert NAME in client.get(state["row"]).raise_for_status().text


def _picture(browser: Browser, report: Path) -> None:
    page = browser.new_page(viewport=PAGE)
    page.goto(report.as_uri())
    page.screenshot(path=report.with_suffix(".png"))
    page.close()


def _submit(journey: Journey, space: Running, name: str) -> dict[str, Any]:
    token = Tokens(SIGNING).make(User(SIGNS_IN_AS, ()))
    words = ("submit", name, "--space", space.address, "--wait", "--json")
    state: dict[str, Any] = json.loads(journey.command(*words, variables={"FAIRSPACE_TOKEN": token}))
    assert state["outcome"] == "scored"
    return state


def _see_row(walk: Walk, state: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    """The row on its board and page, with the scores computed before submission."""
    assert _states(state["scores"].values()) == _states(result["scores"])
    walk.to(f"/board/{result['benchmark']}?q={NAME}")
    assert NAME in walk.column("Model")
    walk.to(state["row"])
    shown = walk.page.locator("main").inner_text()
    assert NAME in shown
    for reason in result["unranked"]:
        assert reason.split(":")[0].lower() in shown.lower(), reason


def _states(scores: Iterable[Mapping[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """Name -> state, value and counts of a score."""
    return {score["name"]: tuple(score.get(key) for key in ("state", "value", "expected", "valid")) for score in scores}
